//! What `cluster up` and `cluster show` print: how to reach everything.

use evenkeel_testbed::ClusterState;

pub(super) fn print(state: &ClusterState) {
    println!("bootstrap  {}", state.bootstrap);
    for (name, bootstrap) in &state.listeners {
        println!("{name:<14} {bootstrap}");
    }
    for group in &state.groups {
        println!(
            "group      {}  config {}  offset {}  status {}",
            group.group_id, group.config_topic, group.offset_topic, group.status_topic
        );
    }
    for node in &state.nodes {
        println!(
            "{:<10} {}  {}  log {}",
            node.name,
            node.address,
            node.version,
            node.log.display()
        );
        if let Some(properties) = &node.properties {
            println!("{:<10} properties {}", "", properties.display());
        }
        if let Some(namespace) = &node.namespace {
            println!("{:<10} ip netns exec {namespace} COMMAND", "");
        }
        if let Some(jmx) = &node.jmx {
            println!("{:<10} jmx {jmx}", "");
        }
    }
    println!("folder     {}", state.folder.display());
    if let Some(folder) = &state.security {
        println!("security   {}", folder.display());
        println!("           certificates; evenkeel-ACCESS.yaml for `evenkeel run --config`,");
        println!("           evenkeel-ACCESS.properties for Kafka's programs");
    }
}
