//! Packs the dashboards for the program: as text they would be a fiftieth of it.

use std::io::{self, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=dashboards");
    let target = std::env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    for entry in std::fs::read_dir("dashboards")? {
        let path = entry?.path();
        if let (Some("json"), Some(name)) = (
            path.extension().and_then(|extension| extension.to_str()),
            path.file_name().and_then(|name| name.to_str()),
        ) {
            let packed = std::fs::File::create(Path::new(&target).join(format!("{name}.gz")))?;
            let mut packed = GzEncoder::new(packed, Compression::best());
            packed.write_all(&std::fs::read(&path)?)?;
            packed.finish()?;
        }
    }
    Ok(())
}
