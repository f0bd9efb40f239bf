//! The document is as the table; formats are what their readers take.

use super::*;
use crate::config::golden;

#[test]
fn the_document_is_up_to_date() {
    golden::committed("docs/checks.md", &markdown());
}
