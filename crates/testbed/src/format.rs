//! A node's data folder, formatted as `kafka-storage format` does.
//!
//! The tool runs once for a release and role and its output is kept: only the ids in
//! `meta.properties` differ from node to node, and a JVM costs more than the copy.

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;

use anyhow::{Context, bail};

use crate::broker::{Role, jvm, node_settings};
use crate::jars::{Artifact, JarCache};
use crate::properties::{self, Properties};
use crate::security::{Door, Listener};
use crate::version::Version;

/// What all nodes of a cluster have in common.
pub(crate) struct Quorum {
    pub(crate) cluster_id: String,
    pub(crate) controller_id: u16,
    pub(crate) controller_port: u16,
}

/// Fills the empty folder `data`.
pub(crate) fn format(
    cache: &JarCache,
    version: Version,
    (role, node_id): (Role, u16),
    quorum: &Quorum,
    data: &Path,
) -> anyhow::Result<()> {
    let class_path = cache.class_path(Artifact::Broker(version))?;
    let roles = role.process_roles().replace(',', "-");
    let template = cache.once(&format!("formatted/{version}-{roles}"), |folder| {
        let mut properties = Properties::new();
        let doors = [Door::fixed(Listener::Plaintext, 9092)];
        let host = Ipv4Addr::LOCALHOST;
        properties::put(
            &mut properties,
            node_settings((role, node_id), host, &doors, quorum),
        );
        let data = folder.join("data");
        properties.insert("log.dirs".to_owned(), data.display().to_string());
        let file = folder.join("server.properties");
        properties::write(&properties, &file)?;
        let output = jvm(cache.tools(), 128)
            .args(["-cp", &class_path, "kafka.tools.StorageTool", "format"])
            .args(["--cluster-id", &quorum.cluster_id, "--config"])
            .arg(&file)
            .output()
            .context("run the storage tool")?;
        if !output.status.success() {
            bail!(
                "the storage tool of {version}: {}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(())
    })?;
    copy(&template.join("data"), data)?;
    let meta = data.join("meta.properties");
    let mut text = String::new();
    for line in fs::read_to_string(&meta)
        .with_context(|| format!("read {}", meta.display()))?
        .lines()
    {
        let line = match line.split_once('=') {
            Some(("cluster.id", _)) => format!("cluster.id={}", quorum.cluster_id),
            Some(("node.id", _)) => format!("node.id={node_id}"),
            Some(("directory.id", _)) => format!("directory.id={}", random_id()?),
            _ => line.to_owned(),
        };
        text.push_str(&line);
        text.push('\n');
    }
    fs::write(&meta, text).with_context(|| format!("write {}", meta.display()))
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to).with_context(|| format!("create {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("read {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)
                .with_context(|| format!("copy to {}", target.display()))?;
        }
    }
    Ok(())
}

/// 16 random bytes as Kafka writes ids: base64url without padding. An id must not begin with
/// a dash, which the storage tool would read as an option.
pub(crate) fn random_id() -> anyhow::Result<String> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut bytes = [0_u8; 16];
    let mut random = fs::File::open("/dev/urandom").context("open the source of random bytes")?;
    std::io::Read::read_exact(&mut random, &mut bytes)?;
    bytes[0] &= 0x7f;
    let mut id = String::with_capacity(22);
    for chunk in bytes.chunks(3) {
        let word = chunk
            .iter()
            .fold(0_u32, |word, byte| word << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for index in 0..=chunk.len() {
            let six = (word >> (18 - 6 * index)) & 63;
            id.push(char::from(ALPHABET[usize::try_from(six)?]));
        }
    }
    Ok(id)
}
