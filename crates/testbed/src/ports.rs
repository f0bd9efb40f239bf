//! Loopback ports that no other cluster of this machine takes, also across processes.

use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, bail};

/// Below the range from which Linux takes ports for outgoing connections (32768 up): a
/// stopped broker must find its port free when it comes back.
const PORTS: Range<u16> = 20_000..32_000;
const TRIES_MAX: u32 = 1_000;

/// A port held by a file lock for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Port {
    number: u16,
    _lock: File,
}

impl Port {
    pub(crate) fn number(&self) -> u16 {
        self.number
    }

    /// Reserves a free port; `locks` is a folder shared by all clusters of this user.
    pub(crate) fn reserve(locks: &Path) -> anyhow::Result<Port> {
        fs::create_dir_all(locks).with_context(|| format!("create {}", locks.display()))?;
        for _ in 0..TRIES_MAX {
            let span = u64::from(PORTS.end - PORTS.start);
            let offset = u16::try_from(RandomState::new().build_hasher().finish() % span)?;
            let number = PORTS.start + offset;
            let lock = File::create(locks.join(number.to_string()))
                .with_context(|| format!("create the lock of port {number}"))?;
            if lock.try_lock().is_ok() && TcpListener::bind((Ipv4Addr::LOCALHOST, number)).is_ok() {
                return Ok(Port {
                    number,
                    _lock: lock,
                });
            }
        }
        bail!("no free port between {} and {}", PORTS.start, PORTS.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_each_port_once() {
        let locks = std::env::temp_dir().join(format!("evenkeel-ports-{}", std::process::id()));
        let ports: Vec<Port> = (0..50).map(|_| Port::reserve(&locks).unwrap()).collect();
        let mut numbers: Vec<u16> = ports.iter().map(Port::number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), ports.len());
        fs::remove_dir_all(&locks).unwrap();
    }
}
