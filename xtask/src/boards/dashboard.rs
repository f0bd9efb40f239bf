//! A dashboard: its rows and their places, its variables, annotations and links, and what
//! the checker is asked to excuse.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::expr;
use super::panel::Panel;
use super::panel_json;

/// Columns of Grafana's grid.
const WIDTH: u32 = 24;

/// Panels under one heading.
pub(crate) struct Row {
    pub(crate) title: &'static str,
    /// Folded: asked only when somebody unfolds it.
    pub(crate) folded: bool,
    pub(crate) panels: Vec<Panel>,
}

/// A dashboard.
pub(crate) struct Dashboard {
    /// The name of its file, and the end of its uid.
    pub(crate) file: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    /// What is shown at first.
    pub(crate) from: &'static str,
    /// Variables after the group: `worker`, `connector`, `tempo`.
    pub(crate) variables: &'static [Variable],
    pub(crate) rows: Vec<Row>,
}

/// Variables that not every board has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variable {
    Worker,
    Connector,
    /// Where traces are: a uid, since a second variable for a data source would have every
    /// panel choose between two.
    Traces,
}

/// A heading and its panels.
pub(crate) fn row(title: &'static str, panels: Vec<Panel>) -> Row {
    Row {
        title,
        folded: false,
        panels,
    }
}

/// The same, folded.
pub(crate) fn folded(title: &'static str, panels: Vec<Panel>) -> Row {
    Row {
        title,
        folded: true,
        panels,
    }
}

/// The one data source of every panel.
pub(crate) fn source() -> Value {
    json!({"type": "prometheus", "uid": "${datasource}"})
}

/// From a cell that names a worker or a connector to the board about it.
pub(crate) fn cell_link(board: &str, variable: &str, column: &str) -> Value {
    // What is chosen stays chosen; the cell decides the rest.
    let kept =
        "${datasource:queryparam}&${job:queryparam}&${cluster:queryparam}&${group:queryparam}";
    json!({
        "title": format!("More about this {}", column.to_lowercase()),
        "url": format!("/d/{board}?${{__url_time_range}}&{kept}&var-{variable}=${{__value.raw}}"),
    })
}

/// From a picture of durations to the traces of the time it shows. An exemplar leads to its
/// own trace by the settings of the data source (dashboards/README.md).
pub(crate) fn traces_link() -> Value {
    let query = r#"{"t":{"datasource":"${tempo}","queries":[{"refId":"A","queryType":"traceql","query":"{ resource.service.name = \"evenkeel\" && name = \"rebalance\" }"}],"range":{"from":"${__from}","to":"${__to}"}}}"#;
    let panes = escape(query);
    json!({
        "title": "Traces of rebalances in this time",
        "url": format!("/explore?schemaVersion=1&panes={panes}"),
    })
}

/// For a query string; variables stay readable for Grafana, which fills them in.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for (number, part) in text.split("${").enumerate() {
        let (name, rest) = match part.split_once('}') {
            Some((name, rest)) if number > 0 => (Some(name), rest),
            _ => (None, part),
        };
        if let Some(name) = name {
            out.push_str(&format!("${{{name}}}"));
        }
        for byte in rest.bytes() {
            if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
                out.push(char::from(byte));
            } else {
                out.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    out
}

// === impl Dashboard ===

impl Dashboard {
    pub(crate) fn json(&self) -> Value {
        json!({
            "uid": format!("evenkeel-{}", self.file),
            "title": self.title,
            "description": self.description,
            "tags": ["evenkeel", "kafka-connect"],
            "schemaVersion": 41,
            "version": 1,
            "editable": false,
            // The cursor stands at the same moment in every panel.
            "graphTooltip": 1,
            "timezone": "browser",
            "time": {"from": self.from, "to": "now"},
            "refresh": "30s",
            "timepicker": {"refresh_intervals": ["10s", "30s", "1m", "5m"]},
            "fiscalYearStartMonth": 0,
            "links": [{
                "title": "evenkeel",
                "type": "dashboards",
                "tags": ["evenkeel"],
                "asDropdown": false,
                "includeVars": true,
                "keepTime": true,
                "targetBlank": false,
                "icon": "external link",
                "tooltip": "",
                "url": "",
            }],
            "annotations": {"list": annotations()},
            "templating": {"list": self.templating()},
            "panels": self.panels(),
        })
    }

    fn panels(&self) -> Value {
        let mut out = Vec::new();
        let mut id = 0;
        let mut next = || {
            id += 1;
            id
        };
        let mut y = 0;
        for row in &self.rows {
            let mut heading = json!({
                "id": next(),
                "type": "row",
                "title": row.title,
                "collapsed": row.folded,
                "gridPos": {"x": 0, "y": y, "w": WIDTH, "h": 1},
                "panels": [],
            });
            y += 1;
            let (mut x, mut tallest) = (0, 0);
            let mut panels = Vec::new();
            for panel in &row.panels {
                if x + panel.width > WIDTH {
                    y += tallest;
                    (x, tallest) = (0, 0);
                }
                panels.push(panel_json::panel(panel, next(), (x, y)));
                x += panel.width;
                tallest = tallest.max(panel.height);
            }
            y += tallest;
            if row.folded {
                heading["panels"] = Value::Array(std::mem::take(&mut panels));
            }
            out.push(heading);
            out.extend(panels);
        }
        Value::Array(out)
    }

    fn templating(&self) -> Value {
        let mut list = vec![
            json!({
                "name": "datasource",
                "label": "Data source",
                "type": "datasource",
                "query": "prometheus",
                "refresh": 1,
                "regex": "",
                "hide": 0,
                "includeAll": false,
                "multi": false,
                "skipUrlSync": false,
                "options": [],
                "current": {"selected": false, "text": "default", "value": "default"},
            }),
            chosen("job", "Job", ".+", "evenkeel_build_info"),
            chosen(
                "instance",
                "Instance",
                ".+",
                r#"evenkeel_build_info{job=~"$job"}"#,
            ),
            // Many have no such label: then "all" must match series without it.
            chosen(
                "cluster",
                "Cluster",
                ".*",
                r#"evenkeel_build_info{job=~"$job"}"#,
            ),
            chosen(
                "group",
                "Connect group",
                ".+",
                r#"evenkeel_trust{job=~"$job", cluster=~"$cluster"}"#,
            ),
        ];
        for variable in self.variables {
            list.push(match variable {
                Variable::Worker => {
                    let series = expr::of_group("evenkeel_worker_assignments", "");
                    chosen("worker", "Worker", ".+", &series)
                }
                Variable::Connector => {
                    let series = expr::of_group("evenkeel_connectors", "");
                    chosen("connector", "Connector", ".+", &series)
                }
                Variable::Traces => json!({
                    "name": "tempo",
                    "label": "Traces (uid of the data source)",
                    "type": "textbox",
                    "query": "tempo",
                    "hide": 0,
                    "skipUrlSync": false,
                    "options": [],
                    "current": {"selected": true, "text": "tempo", "value": "tempo"},
                }),
            });
        }
        Value::Array(list)
    }
}

/// A variable whose values are those of a label of these series.
fn chosen(label: &str, title: &str, all: &str, series: &str) -> Value {
    let query = format!("label_values({series}, {label})");
    json!({
        "name": label,
        "label": title,
        "type": "query",
        "datasource": source(),
        "definition": query,
        "query": {"query": query, "refId": label},
        // With the time that is shown: what is gone is offered as long as it is in the picture.
        "refresh": 2,
        "sort": 1,
        "regex": "",
        "hide": 0,
        "includeAll": true,
        "allValue": all,
        "multi": true,
        "skipUrlSync": false,
        "options": [],
        "current": {"selected": true, "text": ["All"], "value": ["$__all"]},
    })
}

fn annotations() -> Value {
    let open = expr::rows(
        "cause, subject",
        &expr::of_group("evenkeel_episode_info", r#"outcome="open""#),
    );
    let instants = format!(
        "1000 * {}",
        expr::one(&expr::of_group(
            "evenkeel_last_rebalance_timestamp_seconds",
            ""
        ))
    );
    json!([
        annotation(
            "Rebalances while they run",
            "orange",
            &open,
            "{{cause}}",
            "{{group}}: {{cause}} {{subject}}",
            false
        ),
        annotation(
            "Generations",
            "rgba(87,148,242,0.5)",
            &instants,
            "new generation",
            "{{group}}",
            true
        ),
    ])
}

fn annotation(
    name: &str,
    colour: &str,
    expr: &str,
    title: &str,
    text: &str,
    instants: bool,
) -> Value {
    json!({
        "name": name,
        "datasource": source(),
        "enable": true,
        "hide": false,
        "iconColor": colour,
        "expr": expr,
        "step": "15s",
        "titleFormat": title,
        "textFormat": text,
        "useValueForTime": instants,
    })
}

/// `dashboards/.lint`: by rule, the panels that are excused and why, as Grafana's
/// dashboard-linter reads it. JSON is YAML, too.
pub(crate) fn exclusions(boards: &[Dashboard]) -> Value {
    let mut rules: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for board in boards {
        for panel in board.rows.iter().flat_map(|row| &row.panels) {
            for (rule, why) in &panel.excused {
                rules.entry(rule).or_default().push(json!({
                    "dashboard": board.title,
                    "panel": panel.title,
                    "reason": why,
                }));
            }
        }
    }
    let rules: serde_json::Map<String, Value> = rules
        .into_iter()
        .map(|(rule, entries)| (rule.to_owned(), json!({"entries": entries})))
        .collect();
    json!({"exclusions": rules})
}

#[cfg(test)]
mod tests {
    use super::{escape, traces_link};

    #[test]
    fn variables_stay_readable_in_a_link() {
        assert_eq!(
            escape(r#"{"a":"${b}"} c}"#),
            "%7B%22a%22%3A%22${b}%22%7D%20c%7D"
        );
        let link = traces_link();
        let url = link["url"].as_str().unwrap();
        for variable in ["${tempo}", "${__from}", "${__to}"] {
            assert!(url.contains(variable), "{url}");
        }
        assert!(!url.contains(['"', ' ']), "{url}");
    }
}
