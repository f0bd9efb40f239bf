//! The worker's own settings.

mod jaas;
pub mod properties_file;

#[cfg(test)]
mod tests;
