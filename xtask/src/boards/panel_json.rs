//! A panel in the words of Grafana.

use serde_json::{Map, Value, json};

use super::panel::{Column, Kind, Panel, Target};
use super::{dashboard, look, tables};

/// The panel at its place in the grid.
pub(crate) fn panel(panel: &Panel, id: u32, (x, y): (u32, u32)) -> Value {
    let mut out = json!({
        "id": id,
        "type": plugin(panel.kind),
        "title": panel.title,
        "description": panel.description,
        "datasource": dashboard::source(),
        "gridPos": {"x": x, "y": y, "w": panel.width, "h": panel.height},
        "fieldConfig": {"defaults": defaults(panel), "overrides": overrides(panel)},
        "options": options(panel),
        "targets": targets(panel),
    });
    if matches!(panel.kind, Kind::Bars | Kind::Heat) {
        // A bar stands for what its query looks back on: without it neighbours would count
        // the same events again while the picture is zoomed in.
        out["interval"] = json!("1m");
    }
    if panel.kind == Kind::Table {
        out["transformations"] = tables::transformations(panel);
    }
    out
}

fn plugin(kind: Kind) -> &'static str {
    match kind {
        Kind::Stat => "stat",
        Kind::Lines | Kind::Areas | Kind::Bars | Kind::Points => "timeseries",
        Kind::Stripes => "state-timeline",
        Kind::Gauge => "bargauge",
        Kind::Heat => "heatmap",
        Kind::Table => "table",
    }
}

/// A number that is shown as "now" must be of now: the last one in a picture of an hour may be
/// an hour old, and its series withdrawn since.
fn is_of_now(kind: Kind) -> bool {
    matches!(kind, Kind::Stat | Kind::Gauge | Kind::Table)
}

fn targets(panel: &Panel) -> Value {
    let each = panel.targets.iter().zip('A'..);
    each.map(|(target, name)| one_target(panel, target, name))
        .collect()
}

fn one_target(panel: &Panel, target: &Target, name: char) -> Value {
    let format = match panel.kind {
        Kind::Table => "table",
        Kind::Heat => "heatmap",
        _ => "time_series",
    };
    let mut out = json!({
        "refId": name.to_string(),
        "datasource": dashboard::source(),
        "expr": target.expr,
        "format": format,
        "instant": is_of_now(panel.kind),
        "range": !is_of_now(panel.kind),
    });
    if panel.kind != Kind::Table {
        let heat = panel.kind == Kind::Heat;
        out["legendFormat"] = json!(if heat { "{{le}}" } else { &target.legend });
    }
    if panel.traces {
        out["exemplar"] = json!(true);
    }
    out
}

fn defaults(panel: &Panel) -> Value {
    let mut out = json!({
        "unit": panel.unit,
        "color": {"mode": colour_mode(panel)},
        "thresholds": {"mode": "absolute", "steps": steps(panel)},
    });
    if !panel.words.is_empty() {
        out["mappings"] = words(panel.words);
    }
    for (key, value) in [
        ("noValue", panel.nothing.map(Value::from)),
        ("decimals", panel.decimals.map(Value::from)),
        ("min", panel.min.map(Value::from)),
        ("max", panel.max.map(Value::from)),
    ] {
        if let Some(value) = value {
            out[key] = value;
        }
    }
    if let Some(custom) = custom(panel.kind) {
        out["custom"] = custom;
    }
    if panel.traces {
        out["links"] = json!([dashboard::traces_link()]);
    }
    out
}

/// Whether its colour says something.
fn is_judged(panel: &Panel) -> bool {
    !panel.steps.is_empty() || !panel.words.is_empty()
}

fn colour_mode(panel: &Panel) -> &'static str {
    match panel.kind {
        Kind::Stat | Kind::Stripes | Kind::Gauge => "thresholds",
        _ => "palette-classic",
    }
}

fn steps(panel: &Panel) -> Value {
    let plain = [(None, look::GOOD)];
    let steps = if panel.steps.is_empty() {
        &plain[..]
    } else {
        &panel.steps
    };
    let step = |(from, colour): &(Option<f64>, &str)| json!({"value": from, "color": colour});
    steps.iter().map(step).collect()
}

fn words(words: &[look::Word]) -> Value {
    let options: Map<String, Value> = words
        .iter()
        .map(|(value, text, colour)| {
            let told = json!({"text": text, "color": colour, "index": value});
            (value.to_string(), told)
        })
        .collect();
    json!([{"type": "value", "options": options}])
}

fn custom(kind: Kind) -> Option<Value> {
    let series = |style: &str, fill: u32, stacked: bool| {
        json!({
            "drawStyle": style,
            "fillOpacity": fill,
            "lineWidth": 1,
            "pointSize": if style == "points" { 7 } else { 4 },
            "showPoints": if style == "points" { "always" } else { "auto" },
            "spanNulls": false,
            "stacking": {"group": "A", "mode": if stacked { "normal" } else { "none" }},
        })
    };
    match kind {
        Kind::Lines => Some(series("line", 0, false)),
        Kind::Areas => Some(series("line", 60, true)),
        Kind::Bars => Some(series("bars", 80, true)),
        Kind::Points => Some(series("points", 0, false)),
        Kind::Stripes => Some(json!({"fillOpacity": 80, "lineWidth": 0})),
        Kind::Table => {
            Some(json!({"align": "auto", "cellOptions": {"type": "auto"}, "inspect": false}))
        }
        Kind::Stat | Kind::Gauge | Kind::Heat => None,
    }
}

fn overrides(panel: &Panel) -> Value {
    // A legend that says more, too: by what it begins with.
    let says_more = |target: &Target| target.legend.contains(' ');
    let longer = panel.targets.iter().any(says_more);
    let colours = panel.palette.iter().map(|(name, colour)| {
        let matcher = if longer {
            json!({"id": "byRegexp", "options": format!("/^{name}( |$)/")})
        } else {
            json!({"id": "byName", "options": name})
        };
        json!({
            "matcher": matcher,
            "properties": [{"id": "color", "value": {"mode": "fixed", "fixedColor": colour}}],
        })
    });
    let columns = panel.columns.iter().filter_map(column);
    colours.chain(columns).collect()
}

fn column(column: &Column) -> Option<Value> {
    let mut properties = Vec::new();
    if let Some(unit) = column.unit {
        properties.push(json!({"id": "unit", "value": unit}));
    }
    if let Some((board, variable)) = column.leads_to {
        let link = dashboard::cell_link(board, variable, column.title);
        properties.push(json!({"id": "links", "value": [link]}));
    }
    let matcher = json!({"id": "byName", "options": column.title});
    (!properties.is_empty()).then(|| json!({"matcher": matcher, "properties": properties}))
}

fn options(panel: &Panel) -> Value {
    let newest = json!({"calcs": ["lastNotNull"], "fields": "", "values": false});
    let several = json!({"mode": "multi", "sort": "desc"});
    match panel.kind {
        Kind::Stat => json!({
            "colorMode": if is_judged(panel) { "background" } else { "none" },
            "graphMode": "none",
            "justifyMode": "center",
            "orientation": "auto",
            "textMode": "auto",
            "wideLayout": true,
            "showPercentChange": false,
            "percentChangeColorMode": "standard",
            "reduceOptions": newest,
        }),
        Kind::Lines | Kind::Areas | Kind::Bars | Kind::Points => json!({
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": true, "calcs": []},
            "tooltip": several,
        }),
        Kind::Stripes => json!({
            "alignValue": "left",
            "mergeValues": true,
            "rowHeight": 0.85,
            "showValue": "auto",
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": true, "calcs": []},
            "tooltip": {"mode": "single", "sort": "none"},
        }),
        Kind::Gauge => json!({
            "displayMode": "basic",
            "valueMode": "color",
            "namePlacement": "auto",
            "showUnfilled": true,
            "sizing": "auto",
            "minVizWidth": 8,
            "minVizHeight": 16,
            "maxVizHeight": 40,
            "orientation": "horizontal",
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": false, "calcs": []},
            "reduceOptions": newest,
        }),
        Kind::Heat => json!({
            "calculate": false,
            "cellGap": 1,
            "showValue": "never",
            "color": {"mode": "scheme", "scheme": "Oranges", "fill": "dark-orange", "exponent": 0.5, "steps": 32, "reverse": false},
            "filterValues": {"le": 1e-9},
            "rowsFrame": {"layout": "auto"},
            "yAxis": {"axisPlacement": "left", "unit": panel.unit, "reverse": false},
            "legend": {"show": true},
            "tooltip": {"mode": "single", "yHistogram": false, "showColorScale": false},
            "exemplars": {"color": "rgba(31,120,193,0.9)"},
        }),
        Kind::Table => json!({
            "showHeader": true,
            "cellHeight": "sm",
            "frameIndex": 0,
            "footer": {"show": false, "reducer": ["sum"], "countRows": false, "fields": ""},
        }),
    }
}
