//! Files that change, vanish, come back, are swapped below a link.

use std::os::unix::fs::symlink;

use super::*;

/// What is done to the folder, and whether it is a change.
type Step = (&'static str, fn(&Path), bool);

#[track_caller]
fn check(watched: &[&str], steps: &[Step]) {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("a"), "one").unwrap();
    fs::create_dir(at.join("v1")).unwrap();
    fs::write(at.join("v1/key"), "old").unwrap();
    fs::create_dir(at.join("v2")).unwrap();
    fs::write(at.join("v2/key"), "new").unwrap();
    fs::create_dir(at.join("mount")).unwrap();
    symlink("../v1", at.join("mount/..data")).unwrap();
    symlink("..data/key", at.join("mount/key")).unwrap();
    let mut watch = Watch::new(watched.iter().map(|path| at.join(path)));
    assert!(!watch.poll(), "nothing happened yet");
    for (what, step, changed) in steps {
        step(at);
        assert_eq!(watch.poll(), *changed, "{what}");
        assert!(!watch.poll(), "{what}: told once");
    }
}

fn write(path: PathBuf, text: &str) {
    fs::write(path, text).unwrap();
}

#[test]
fn a_file_changes_by_what_it_holds() {
    check(
        &["a"],
        &[
            ("same size", |at| write(at.join("a"), "two"), true),
            ("written again", |at| write(at.join("a"), "two"), false),
            ("longer", |at| write(at.join("a"), "three"), true),
            (
                "replaced by its like",
                |at| {
                    write(at.join("b"), "three");
                    fs::rename(at.join("b"), at.join("a")).unwrap();
                },
                false,
            ),
            (
                "replaced",
                |at| {
                    write(at.join("b"), "seven");
                    fs::rename(at.join("b"), at.join("a")).unwrap();
                },
                true,
            ),
            (
                "the time of before",
                |at| {
                    let time = fs::metadata(at.join("a")).unwrap().modified().unwrap();
                    write(at.join("a"), "eight");
                    let file = File::options().write(true).open(at.join("a")).unwrap();
                    file.set_modified(time).unwrap();
                },
                true,
            ),
        ],
    );
}

#[test]
fn a_file_comes_and_goes() {
    check(
        &["a", "not/yet"],
        &[
            ("gone", |at| fs::remove_file(at.join("a")).unwrap(), true),
            ("back as it was", |at| write(at.join("a"), "one"), true),
            (
                "the other one's folder",
                |at| fs::create_dir(at.join("not")).unwrap(),
                false,
            ),
            ("the other one", |at| write(at.join("not/yet"), ""), true),
            (
                "a link to nothing",
                |at| {
                    fs::remove_file(at.join("a")).unwrap();
                    symlink("nowhere", at.join("a")).unwrap();
                },
                true,
            ),
        ],
    );
}

/// How the kubelet replaces a mounted secret: the new files first, then one rename.
fn swap(at: &Path) {
    symlink("../v2", at.join("mount/..data_tmp")).unwrap();
    fs::rename(at.join("mount/..data_tmp"), at.join("mount/..data")).unwrap();
}

#[test]
fn links_of_a_mounted_secret_are_swapped() {
    check(&["mount/key"], &[("swapped", swap, true)]);
}

#[test]
fn a_folder_changes_by_its_files() {
    check(
        &["mount"],
        &[
            ("swapped", swap, true),
            (
                "a further file",
                |at| write(at.join("mount/more"), "x"),
                true,
            ),
            (
                "its like under another name",
                |at| fs::rename(at.join("mount/more"), at.join("mount/most")).unwrap(),
                true,
            ),
            (
                "a folder",
                |at| fs::create_dir(at.join("mount/inner")).unwrap(),
                false,
            ),
        ],
    );
}

#[test]
fn beyond_the_bound_size_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large");
    let size = usize::try_from(FILE_BYTES_MAX).unwrap();
    fs::write(&path, vec![b'a'; size]).unwrap();
    let mut watch = Watch::new([path.clone()]);
    fs::write(&path, vec![b'a'; size + 1]).unwrap();
    assert!(watch.poll());
}

#[test]
fn other_paths_are_followed_and_the_rest_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    fs::write(&a, "one").unwrap();
    fs::write(&b, "one").unwrap();
    let mut watch = Watch::new([a.clone()]);
    fs::write(&a, "two").unwrap();
    fs::write(&b, "two").unwrap();
    watch.follow([a.clone(), b.clone()]);
    assert!(watch.poll(), "a changed before b was followed");
    watch.follow([b]);
    fs::write(&a, "three").unwrap();
    assert!(!watch.poll(), "a is no longer followed");
}

#[test]
fn what_a_file_holds_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("password");
    fs::write(&path, "topsecret").unwrap();
    let watch = Watch::new([path]);
    assert!(!format!("{watch:?}").contains("topsecret"));
}

/// The first of them, whatever order the folder lists them in; of the others the names.
#[test]
fn a_folder_of_many_files_is_read_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let name = |number: usize| at.join(format!("{number:04}"));
    // Made backwards, so that the order of the folder is hardly that of the names.
    for number in (0..600).rev() {
        fs::write(name(number), "one").unwrap();
    }
    let mut watch = Watch::new([at.to_owned()]);
    assert!(!watch.poll());
    for number in [0, 100, 255] {
        fs::write(name(number), "two").unwrap();
        assert!(watch.poll(), "{number}");
        assert!(!watch.poll(), "{number}: told once");
    }
    fs::write(name(256), "two").unwrap();
    assert!(!watch.poll(), "only its name counts");
    fs::write(name(599), "one").unwrap();
    fs::remove_file(name(599)).unwrap();
    assert!(watch.poll(), "a name is gone");
    fs::write(at.join("9999"), "").unwrap();
    assert!(watch.poll(), "a name has come");
}

/// A device stands for all that never ends: it is not opened, and a file in its place is
/// news.
#[test]
fn what_is_no_regular_file_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    let mut watch = Watch::new([path.clone()]);
    assert!(!watch.poll());
    fs::remove_file(&path).unwrap();
    fs::write(&path, "x").unwrap();
    assert!(watch.poll());
}
