//! What is on disk after a write, and after one that fails.

use std::os::unix::fs::PermissionsExt;

use super::*;

fn open(folder: &Path) -> StateFile {
    StateFile::open(folder, "connect-cluster").unwrap().unwrap()
}

#[test]
fn a_write_replaces_the_one_before_and_leaves_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let file = open(folder.path());
    assert_eq!(file.read().unwrap(), None);
    for bytes in [b"first, and longer".as_slice(), b"second"] {
        file.write(bytes).unwrap();
        assert_eq!(file.read().unwrap().as_deref(), Some(bytes));
    }
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["connect-cluster.lock", "connect-cluster.state"]);
    let mode = fs::metadata(file.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    file.remove().unwrap();
    file.remove().unwrap();
    assert_eq!(file.read().unwrap(), None);
}

/// A process that was killed while it wrote leaves a part; so may anybody else.
#[test]
fn what_another_one_left_unfinished_is_in_nobodys_way() {
    let folder = tempfile::tempdir().unwrap();
    let file = open(folder.path());
    file.write(b"before").unwrap();
    fs::write(&file.unfinished, "half of").unwrap();
    assert_eq!(file.read().unwrap().as_deref(), Some(b"before".as_slice()));
    file.write(b"after").unwrap();
    assert_eq!(file.read().unwrap().as_deref(), Some(b"after".as_slice()));
    let elsewhere = folder.path().join("elsewhere");
    std::os::unix::fs::symlink(&elsewhere, &file.unfinished).unwrap();
    file.write(b"again").unwrap();
    assert!(!elsewhere.exists());
}

#[test]
fn a_write_that_fails_leaves_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let file = open(folder.path());
    file.write(b"before").unwrap();
    // In the place of the new file, what cannot be removed as one.
    fs::create_dir(&file.unfinished).unwrap();
    assert!(file.write(b"after").is_err());
    assert_eq!(file.read().unwrap().as_deref(), Some(b"before".as_slice()));
}

#[test]
fn only_one_keeps_the_state_of_a_group() {
    let folder = tempfile::tempdir().unwrap();
    let file = open(folder.path());
    assert!(
        StateFile::open(folder.path(), "connect-cluster")
            .unwrap()
            .is_none()
    );
    assert!(StateFile::open(folder.path(), "another").unwrap().is_some());
    drop(file);
    assert!(
        StateFile::open(folder.path(), "connect-cluster")
            .unwrap()
            .is_some()
    );
}

#[test]
fn every_group_id_has_a_file_of_its_own() {
    assert_eq!(name("connect-cluster_1"), "connect-cluster_1");
    assert_eq!(name("../etc/a.b%"), "%2e%2e%2fetc%2fa%2eb%25");
    assert_eq!(name("ü"), "%c3%bc");
    let (long, longer) = (name(&"g".repeat(300)), name(&"g".repeat(301)));
    assert_ne!(long, longer);
    assert!(longer.len() < 200, "{longer}");
    let folder = tempfile::tempdir().unwrap();
    let file = StateFile::open(folder.path(), &"é/".repeat(200))
        .unwrap()
        .unwrap();
    file.write(b"x").unwrap();
}
