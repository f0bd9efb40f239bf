//! PromQL as the dashboards ask it. Every sidecar of a group tells the same group series, so
//! each question first makes one of the copies: counters are counted per copy, then the
//! largest copy is taken, whatever its `instance` and `pod`.

/// What every target of this job matches. Where series have no label `cluster`, "all"
/// matches them too.
const AGENT: &str = r#"job=~"$job", instance=~"$instance", cluster=~"$cluster""#;
const GROUP: &str = r#"group=~"$group""#;

/// Chosen in the boards that have the variable.
pub(crate) const WORKER: &str = r#"worker=~"$worker""#;
pub(crate) const CONNECTOR: &str = r#"connector=~"$connector""#;

/// Series of the agent that have no group.
pub(crate) fn of_agent(metric: &str) -> String {
    format!("{metric}{{{AGENT}}}")
}

/// Series of the chosen groups; `more` are further matchers.
pub(crate) fn of_group(metric: &str, more: &str) -> String {
    let more = if more.is_empty() {
        String::new()
    } else {
        format!(", {more}")
    };
    format!("{metric}{{{AGENT}, {GROUP}{more}}}")
}

/// One of the copies.
pub(crate) fn one(expr: &str) -> String {
    format!("max without (instance, pod) ({expr})")
}

/// A gauge of a group.
pub(crate) fn gauge(metric: &str, more: &str) -> String {
    one(&of_group(metric, more))
}

/// How much a counter of a group grew in what a point of the picture stands for.
pub(crate) fn growth(metric: &str, more: &str) -> String {
    one(&format!(
        "increase({}[$__rate_interval])",
        of_group(metric, more)
    ))
}

/// How much a counter of a group grew in the time that is shown.
pub(crate) fn growth_shown(metric: &str, more: &str) -> String {
    one(&format!("increase({}[$__range])", of_group(metric, more)))
}

/// The same of a counter whose series only begin with the first event, which `increase`
/// cannot see. What was there an hour before is no beginning: a restart with kept counters
/// adds nothing.
pub(crate) fn growth_from_nothing(metric: &str, more: &str, window: &str) -> String {
    let series = of_group(metric, more);
    one(&format!(
        "({series} unless last_over_time({series}[1h] offset {window})) or increase({series}[{window}])"
    ))
}

/// The sum over some labels, everything else kept.
pub(crate) fn sum(over: &str, expr: &str) -> String {
    format!("sum without ({over}) ({expr})")
}

/// For tables: only these labels, so that a row has no columns that nobody asked for.
pub(crate) fn rows(labels: &str, expr: &str) -> String {
    format!("max by (cluster, group, {labels}) ({expr})")
}

/// Zero where nothing is to be told although the group is known: absent stays "not known".
pub(crate) fn or_zero(expr: &str) -> String {
    format!("{expr} or 0 * {}", gauge("evenkeel_members", ""))
}

/// The same of series that have one label more.
pub(crate) fn or_zero_without(label: &str, expr: &str) -> String {
    let zero = gauge("evenkeel_members", "");
    format!("{expr} or ignoring ({label}) 0 * {zero}")
}

/// Only what is there: a legend of a closed set that is all zero tells nothing.
pub(crate) fn some(expr: &str) -> String {
    format!("{expr} > 0")
}

/// A stateset as a number, the state's place in the list: pictures colour numbers. While
/// copies differ, the later one in the list is shown.
pub(crate) fn coded(metric: &str, label: &str, states: &[&str], copies: Copies) -> String {
    let each: Vec<String> = states
        .iter()
        .enumerate()
        .map(|(code, state)| {
            format!(
                "{code} * {}",
                of_group(metric, &format!("{label}={state:?}"))
            )
        })
        .collect();
    let without = match copies {
        Copies::One => format!("instance, pod, {label}"),
        Copies::Each => label.to_owned(),
    };
    format!("max without ({without}) ({})", each.join(" or "))
}

/// Whether a question is about the group or about each agent.
#[derive(Clone, Copy)]
pub(crate) enum Copies {
    One,
    Each,
}

/// A quantile of a histogram of a group.
pub(crate) fn quantile(q: f64, metric: &str, more: &str, keep: &str) -> String {
    let rate = one(&format!(
        "rate({}[$__rate_interval])",
        of_group(&format!("{metric}_bucket"), more)
    ));
    format!("histogram_quantile({q}, sum by ({keep}le) ({rate}))")
}

/// The buckets of a histogram of a group, for a heat map.
pub(crate) fn buckets(metric: &str) -> String {
    format!("sum by (le) ({})", growth(&format!("{metric}_bucket"), ""))
}
