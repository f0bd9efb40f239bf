//! What is left of a capture that could not be written.

use super::*;

#[test]
fn what_holds_nothing_is_removed_and_what_can_be_replayed_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("incident.evk.gz");
    let header = Header::new(1_700_000_000_000, None);
    // A full disk: the file is there, and nothing, or not even its header, is in it.
    for left in [&[][..], &[0x1f, 0x8b, 8, 0]] {
        fs::write(&file, left).unwrap();
        remove_unless_readable(&file);
        assert!(!file.exists());
        drop(CaptureWriter::create(&file, &header).unwrap());
        fs::remove_file(&file).unwrap();
    }
    let mut writer = CaptureWriter::create(&file, &header).unwrap();
    writer.flush().unwrap();
    remove_unless_readable(&file);
    assert!(file.exists());
    // What somebody else put there is none of ours.
    remove_unless_readable(folder.path());
    remove_unless_readable(&folder.path().join("none"));
    assert!(folder.path().is_dir());
}
