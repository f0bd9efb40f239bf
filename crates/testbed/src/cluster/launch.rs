//! How the brokers of a cluster come up: ports, roles, certificates, users.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::{Context, ensure};

use super::secured::Secured;
use super::{CONTROLLER_ID, Cluster};
use crate::broker::{Broker, Plan, Role};
use crate::folder::Folder;
use crate::format::{Quorum, random_id};
use crate::jars::{Artifact, JarCache};
use crate::network::Network;
use crate::ports::Port;
use crate::proxy::Proxy;
use crate::security::{Certificates, Change, Door, Listener, change};
use crate::spec::BrokerSpec;

impl Cluster {
    pub(super) fn launch_brokers(
        spec: &BrokerSpec,
        jmx: bool,
        training: bool,
    ) -> anyhow::Result<Cluster> {
        let cache = JarCache::open()?;
        cache.jars(Artifact::Broker(spec.version))?;
        let folder = Folder::create()?;
        let locks = cache.root().join("ports");
        let network = spec
            .namespaces
            .then(|| Network::create(&locks))
            .transpose()?;
        let host = network.as_ref().map_or(Ipv4Addr::LOCALHOST, Network::host);
        let secured = match &spec.security {
            Some(security) => {
                // SCRAM without ZooKeeper is KIP-900.
                let can = spec.version.at_least(3, 5);
                ensure!(can, "a secured cluster needs brokers of 3.5 or later");
                let users: Vec<&str> = security.users.iter().map(|u| u.name.as_str()).collect();
                let place = folder.path().join("security");
                let certificates = Certificates::provide(&cache, (&[host], &users), place)?;
                Some(Secured {
                    security: security.clone(),
                    certificates,
                })
            }
            None => None,
        };
        let controller = Port::reserve(&locks)?;
        let single = spec.count == 1;
        let quorum = Quorum {
            cluster_id: random_id()?,
            controller_id: if single { 1 } else { CONTROLLER_ID },
            controller_port: controller.number(),
        };
        let mut plans = Vec::new();
        let mut _controller_of_single = None;
        if single {
            _controller_of_single = Some(controller);
        } else {
            plans.push(Plan {
                role: Role::Controller,
                node_id: CONTROLLER_ID,
                host: Ipv4Addr::LOCALHOST,
                doors: vec![Door::new(Listener::Plaintext, controller)],
                proxy: None,
            });
        }
        for node_id in 1..=spec.count {
            let role = if single { Role::Combined } else { Role::Broker };
            let mut doors = vec![Door::new(Listener::Plaintext, Port::reserve(&locks)?)];
            if secured.is_some() {
                for listener in Listener::SECURED {
                    doors.push(Door::new(listener, Port::reserve(&locks)?));
                }
            }
            let proxy = match spec.proxied {
                true => Some(proxy(host, &mut doors, &locks)?),
                false => None,
            };
            plans.push(Plan {
                role,
                node_id,
                host,
                doors,
                proxy,
            });
        }
        let pair = secured.as_ref().map(|s| (&s.security, &s.certificates));
        let brokers = plans
            .into_iter()
            .map(|plan| Broker::prepare(&cache, spec, &quorum, plan, pair, folder.path()))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let names: Vec<String> = brokers.iter().map(|b| b.name().to_owned()).collect();
        let mut cluster = Cluster {
            workers: Vec::new(),
            brokers,
            groups: Vec::new(),
            script: Vec::new(),
            jmx,
            training,
            replicas: spec.offsets_replicas,
            version: spec.version,
            secured,
            cache,
            network,
            folder,
        };
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        cluster.start_processes(&names)?;
        if let Some(secured) = &cluster.secured {
            let users = Change::Users(&secured.security.users);
            change(
                &cluster.cache,
                cluster.version,
                &cluster.bootstrap(),
                &users,
            )
            .context("make the users")?;
        }
        Ok(cluster)
    }
}

/// One more door, which is advertised at the proxy's port and thus entered through it.
fn proxy(host: Ipv4Addr, doors: &mut Vec<Door>, locks: &std::path::Path) -> anyhow::Result<Proxy> {
    let mut door = Door::new(Listener::Proxied, Port::reserve(locks)?);
    let target = SocketAddr::from((host, door.number));
    let proxy = Proxy::start(host, Port::reserve(locks)?, target)?;
    door.advertised = proxy.port();
    doors.push(door);
    Ok(proxy)
}
