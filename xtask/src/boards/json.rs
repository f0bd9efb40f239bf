//! JSON as it is committed: what fits on a line stands on one, so that a difference can be
//! read and the program that carries the files stays small.

use serde_json::Value;

/// Columns of a line.
const WIDTH: usize = 110;

/// The document, with an end of line.
pub(crate) fn text(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value, 0, 0);
    out.push('\n');
    out
}

/// `used`: columns of the line that are taken by what stands before the value.
fn write(out: &mut String, value: &Value, depth: usize, used: usize) {
    let flat = value.to_string();
    if used + flat.len() <= WIDTH {
        out.push_str(&flat);
        return;
    }
    match value {
        Value::Array(items) => {
            lines(out, depth, ['[', ']'], items.iter(), |out, item| {
                write(out, item, depth + 1, depth + 1);
            });
        }
        Value::Object(fields) => {
            lines(
                out,
                depth,
                ['{', '}'],
                fields.iter(),
                |out, (key, value)| {
                    let key = Value::from(key.as_str()).to_string();
                    out.push_str(&key);
                    out.push_str(": ");
                    write(out, value, depth + 1, depth + key.len() + 3);
                },
            );
        }
        _ => out.push_str(&flat),
    }
}

fn lines<T>(
    out: &mut String,
    depth: usize,
    [open, close]: [char; 2],
    parts: impl Iterator<Item = T>,
    mut part: impl FnMut(&mut String, T),
) {
    out.push(open);
    for (number, item) in parts.enumerate() {
        if number > 0 {
            out.push(',');
        }
        indent(out, depth + 1);
        part(out, item);
    }
    indent(out, depth);
    out.push(close);
}

fn indent(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', depth));
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::text;

    #[test]
    fn what_fits_on_a_line_stands_on_one_and_nothing_is_lost() {
        let value = json!({"a": [1, 2], "long": vec!["x".repeat(40); 4], "e": {}, "t": "é\n\""});
        let written = text(&value);
        assert!(written.contains("\n \"a\": [1,2],\n"), "{written}");
        assert!(written.lines().all(|line| line.chars().count() <= 112));
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value);
    }
}
