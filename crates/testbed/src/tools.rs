//! The programs from outside: a JDK and Maven, found or installed.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};

/// Debian's default JDK is 17 or later, which every release here runs on.
const PACKAGES: [&str; 2] = ["default-jdk-headless", "maven"];

/// The line a person without root rights asks an administrator to run.
pub fn apt_line() -> String {
    format!("apt-get install -y {}", PACKAGES.join(" "))
}

/// Where the programs are.
#[derive(Clone, Debug)]
pub struct Tools {
    pub java: PathBuf,
    pub javac: PathBuf,
    pub jar: PathBuf,
    pub mvn: PathBuf,
}

impl Tools {
    /// Looks in `JAVA_HOME`, then in the path.
    ///
    /// # Errors
    /// Names what is missing and the line that installs it.
    pub fn find() -> anyhow::Result<Tools> {
        let home = std::env::var_os("JAVA_HOME").map(|home| PathBuf::from(home).join("bin"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = home
            .into_iter()
            .chain(std::env::split_paths(&path))
            .collect();
        Tools::find_in(&folders)
    }

    fn find_in(folders: &[PathBuf]) -> anyhow::Result<Tools> {
        let find = |name: &str| {
            folders
                .iter()
                .map(|folder| folder.join(name))
                .find(|file| file.is_file())
                .with_context(|| format!("{name} is not installed; as root: {}", apt_line()))
        };
        Ok(Tools {
            java: find("java")?,
            javac: find("javac")?,
            jar: find("jar")?,
            mvn: find("mvn")?,
        })
    }

    /// As [`Tools::find`], but as root on Debian installs what is missing.
    ///
    /// # Errors
    /// When something is missing and cannot be installed.
    pub fn find_or_install() -> anyhow::Result<Tools> {
        let Err(missing) = Tools::find() else {
            return Tools::find();
        };
        let root = Command::new("id").arg("-u").output();
        if !root.is_ok_and(|output| output.stdout == b"0\n") {
            return Err(missing);
        }
        eprintln!("{missing:#}; installing");
        for args in [vec!["update"], {
            let mut args = vec!["install", "-y", "--no-install-recommends"];
            args.extend(PACKAGES);
            args
        }] {
            let status = Command::new("apt-get")
                .args(&args)
                .env("DEBIAN_FRONTEND", "noninteractive")
                .stdout(std::io::stderr())
                .status()
                .context("run apt-get")?;
            if !status.success() {
                bail!("apt-get {} ended with {status}", args.join(" "));
            }
        }
        Tools::find()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_comes_with_the_line_that_installs_it() {
        let folder = std::env::temp_dir().join(format!("evenkeel-tools-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        // A runtime without a compiler is the usual half installation.
        std::fs::write(folder.join("java"), "").unwrap();
        let error = Tools::find_in(std::slice::from_ref(&folder))
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("javac is not installed"), "{error}");
        assert!(error.ends_with(&apt_line()), "{error}");
        for name in ["javac", "jar", "mvn"] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        let tools = Tools::find_in(&[PathBuf::from("nowhere"), folder.clone()]).unwrap();
        assert_eq!(tools.mvn, folder.join("mvn"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
