//! What the command prints and writes.

use std::collections::BTreeSet;

use clap::Parser;
use serde_json::Value;

use super::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: DashboardsArgs,
}

fn told(line: &[&str]) -> (Exit, String) {
    let line = [&["dashboards"], line].concat();
    let args = Line::try_parse_from(line).unwrap().args;
    let mut out = Vec::new();
    let exit = run(&args, &mut out).unwrap();
    (exit, String::from_utf8(out).unwrap())
}

fn committed(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("dashboards");
    fs::read_to_string(folder.join(format!("{name}.json"))).unwrap()
}

#[test]
fn every_file_of_the_folder_is_bundled_and_listed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("dashboards");
    let files: BTreeSet<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .collect();
    let bundled = Board::value_variants().iter().map(|board| board.name());
    assert_eq!(files, bundled.map(str::to_owned).collect());
    let (exit, list) = told(&[]);
    assert_eq!(exit, Exit::Ok);
    for name in files {
        assert!(list.contains(&format!("evenkeel-{name}\n    ")), "{list}");
        assert_eq!(told(&[name.as_str()]), (Exit::Ok, committed(&name)));
    }
}

#[test]
fn all_are_written_to_a_folder_that_is_made_if_need_be() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("a/b");
    for _ in 0..2 {
        let (exit, list) = told(&["--out", target.to_str().unwrap()]);
        assert_eq!(exit, Exit::Ok);
        assert_eq!(list.lines().count(), 5);
        for path in list.lines() {
            let name = path.rsplit("evenkeel-").next().unwrap();
            let name = name.strip_suffix(".json").unwrap();
            assert_eq!(fs::read_to_string(path).unwrap(), committed(name));
        }
    }
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let (exit, list) = told(&["--out", file.to_str().unwrap()]);
    assert_eq!((exit, list.as_str()), (Exit::Failed, ""));
}

#[test]
fn config_maps_hold_the_same_text() {
    let (_, text) = told(&["--configmap", "--namespace", "on", "--label", "dash"]);
    let mut names = BTreeSet::new();
    for part in text.split("---\n").skip(1) {
        let map: Value = serde_yaml::from_str(part).unwrap();
        assert_eq!(
            (&map["apiVersion"], &map["kind"]),
            (&"v1".into(), &"ConfigMap".into())
        );
        // A word that YAML takes for a truth value stays a name.
        assert_eq!(map["metadata"]["namespace"], "on");
        assert_eq!(map["metadata"]["labels"]["dash"], "1");
        let data = map["data"].as_object().unwrap();
        let (file, text) = data.iter().next().unwrap();
        let name = file
            .strip_prefix("evenkeel-")
            .unwrap()
            .strip_suffix(".json")
            .unwrap();
        assert_eq!(text.as_str().unwrap(), committed(name));
        assert_eq!(
            map["metadata"]["name"],
            format!("evenkeel-dashboard-{name}")
        );
        assert!(part.len() < 1_000_000, "a ConfigMap has 1 MiB");
        names.insert(name.to_owned());
    }
    assert_eq!(names.len(), 5);
    let (_, text) = told(&["--configmap"]);
    assert!(!text.contains("namespace:") && text.contains("\"grafana_dashboard\": \"1\""));
}

#[test]
fn what_contradicts_itself_is_refused() {
    for line in [
        &["now", "--configmap"][..],
        &["now", "--out", "x"],
        &["--out", "x", "--configmap"],
        &["--namespace", "x"],
        &["yesterday"],
    ] {
        let line = [&["dashboards"], line].concat();
        assert!(Line::try_parse_from(&line).is_err(), "{line:?}");
    }
}
