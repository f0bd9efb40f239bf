//! HTML, piece by piece; every text is escaped.

use std::fmt::Display;

/// A document that grows.
#[derive(Debug, Default)]
pub(super) struct Html {
    out: String,
}

// === impl Html ===

impl Html {
    /// Markup of ours.
    pub(super) fn raw(&mut self, markup: &str) {
        self.out.push_str(markup);
    }

    /// An element of ours that holds a text from anywhere.
    pub(super) fn element(&mut self, name: &str, attributes: &str, content: impl Display) {
        let space = if attributes.is_empty() { "" } else { " " };
        let content = text(&content.to_string());
        self.out
            .push_str(&format!("<{name}{space}{attributes}>{content}</{name}>"));
    }

    /// A row of cells.
    pub(super) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.raw("<tr>");
        for cell in cells {
            self.element("td", "", cell);
        }
        self.raw("</tr>\n");
    }

    /// The head of a table, and where its body begins.
    pub(super) fn table<const N: usize>(&mut self, heads: [&str; N]) {
        self.raw("<div class=\"wide\"><table><thead><tr>");
        for head in heads {
            self.element("th", "", head);
        }
        self.raw("</tr></thead><tbody>\n");
    }

    /// The end of a table.
    pub(super) fn table_end(&mut self) {
        self.raw("</tbody></table></div>\n");
    }

    /// The document.
    pub(super) fn finish(self) -> String {
        self.out
    }
}

/// A text as HTML shows it, also inside a quoted attribute.
pub(super) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter => out.push(letter),
        }
    }
    out
}
