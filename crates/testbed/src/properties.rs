//! Java properties files, written in a stable order.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Context;

/// Settings of a broker or worker: name to value.
pub type Properties = BTreeMap<String, String>;

/// Adds settings; later ones win.
pub(crate) fn put<'a>(
    properties: &mut Properties,
    settings: impl IntoIterator<Item = (&'a str, String)>,
) {
    for (name, value) in settings {
        properties.insert(name.to_owned(), value);
    }
}

/// The text of a properties file. Backslashes and line ends are escaped as
/// `java.util.Properties` reads them.
pub(crate) fn render(properties: &Properties) -> String {
    let mut text = String::new();
    for (name, value) in properties {
        let value = value.replace('\\', "\\\\").replace('\n', "\\n");
        // Writing to a String cannot fail.
        writeln!(text, "{name}={value}").ok();
    }
    text
}

pub(crate) fn write(properties: &Properties, path: &Path) -> anyhow::Result<()> {
    fs::write(path, render(properties)).with_context(|| format!("write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_what_java_would_swallow() {
        let mut properties = Properties::new();
        put(
            &mut properties,
            [("b", r"C:\x".to_owned()), ("a", "1\n2".to_owned())],
        );
        assert_eq!(render(&properties), "a=1\\n2\nb=C:\\\\x\n");
    }
}
