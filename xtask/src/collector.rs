//! `cargo xtask collector`: the OpenTelemetry Collector that tests send to, built once.

use anyhow::bail;
use evenkeel_testbed::Collector;

pub(crate) fn run() -> anyhow::Result<()> {
    match Collector::obstacle()? {
        None => println!("the collector is built"),
        Some(obstacle) => bail!("{obstacle}"),
    }
    Ok(())
}
