//! Which folders will do, and what is said of the others.

use super::*;

fn of(dir: &Path) -> Result<Option<PathBuf>, Mistake> {
    let dir = Some(dir.to_owned());
    StateConfig { dir }.folder()
}

#[test]
fn a_folder_that_can_be_written_to_will_do_and_stays_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(of(folder.path()), Ok(Some(folder.path().to_owned())));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(StateConfig::default().folder(), Ok(None));
}

#[test]
fn what_is_no_folder_is_a_mistake_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let (absent, file) = (folder.path().join("absent"), folder.path().join("file"));
    fs::write(&file, "").unwrap();
    for (dir, what) in [
        (absent, "absent\": no such folder, expected a folder"),
        (file.clone(), "file\": no folder, expected a folder"),
        (file.join("below"), "below\": Not a directory"),
        // Nobody writes there, not even root.
        (PathBuf::from("/proc"), "/proc\": "),
    ] {
        let told = of(&dir).unwrap_err().to_string();
        assert!(told.starts_with("state.dir: found \""), "{told}");
        assert!(told.contains(what), "{told}");
    }
}
