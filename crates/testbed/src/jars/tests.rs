//! The pom per release, and the once-only making of cache entries.

use super::*;

#[test]
fn logs_with_what_the_release_logs_with() {
    let old = Artifact::Worker(Version::new(3, 9, 2)).pom();
    assert!(old.contains("slf4j-reload4j") && !old.contains("log4j-core"));
    let new = Artifact::Worker(Version::new(4, 0, 0)).pom();
    assert!(new.contains("log4j-core") && !new.contains("reload4j"));
}

#[test]
fn an_interrupted_entry_is_made_again() {
    let root = std::env::temp_dir().join(format!("evenkeel-once-{}", std::process::id()));
    let nowhere = PathBuf::from("none");
    let cache = JarCache {
        root: root.clone(),
        tools: Tools {
            java: nowhere.clone(),
            javac: nowhere.clone(),
            jar: nowhere.clone(),
            mvn: nowhere,
        },
    };
    let failed = cache.once("a/b", |folder| {
        fs::write(folder.join("half"), "x")?;
        bail!("interrupted")
    });
    assert!(failed.is_err());
    let made = cache
        .once("a/b", |folder| Ok(fs::write(folder.join("whole"), "x")?))
        .unwrap();
    assert!(made.join("whole").exists() && !made.join("half").exists());
    cache
        .once("a/b", |_| bail!("must not be made twice"))
        .unwrap();
    fs::remove_dir_all(root).unwrap();
}
