//! The programs from outside: a JDK and Maven, found or installed.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};

const PACKAGES: [&str; 2] = ["openjdk-17-jdk-headless", "maven"];

/// The line a person without root rights asks an administrator to run.
pub fn apt_line() -> String {
    format!("apt-get install -y {}", PACKAGES.join(" "))
}

/// Where the programs are.
#[derive(Clone, Debug)]
pub struct Tools {
    pub java: PathBuf,
    pub javac: PathBuf,
    pub mvn: PathBuf,
}

impl Tools {
    /// Looks in `JAVA_HOME`, then in the path.
    ///
    /// # Errors
    /// Names what is missing and the line that installs it.
    pub fn find() -> anyhow::Result<Tools> {
        let find = |name: &str| -> anyhow::Result<PathBuf> {
            let home = std::env::var_os("JAVA_HOME").map(|home| PathBuf::from(home).join("bin"));
            let path = std::env::var_os("PATH").unwrap_or_default();
            home.into_iter()
                .chain(std::env::split_paths(&path))
                .map(|folder| folder.join(name))
                .find(|file| file.is_file())
                .with_context(|| format!("{name} is not installed; as root: {}", apt_line()))
        };
        Ok(Tools {
            java: find("java")?,
            javac: find("javac")?,
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
