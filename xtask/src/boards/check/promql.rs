//! What a PromQL expression asks for: its selectors, and what each stands in. Whether it is
//! valid is promtool's to say.

/// Series that are asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Selector {
    pub(crate) metric: String,
    /// Label, operator, value.
    pub(crate) matchers: Vec<(String, String, String)>,
    /// What stands in brackets after it.
    pub(crate) range: Option<String>,
    /// Functions and aggregations around it, the outermost first.
    pub(crate) within: Vec<String>,
}

/// Words before a list of labels.
const LISTS: [&str; 6] = [
    "by",
    "without",
    "on",
    "ignoring",
    "group_left",
    "group_right",
];
/// Words between expressions.
const OPERATORS: [&str; 6] = ["and", "or", "unless", "bool", "offset", "atan2"];

/// All selectors of an expression, in their order.
pub(crate) fn selectors(expr: &str) -> Vec<Selector> {
    let tokens = tokens(expr);
    let mut found: Vec<Selector> = Vec::new();
    let mut around: Vec<String> = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let next = tokens.get(at + 1).map(String::as_str);
        match token.as_str() {
            "(" => around.push(String::new()),
            ")" => {
                around.pop();
            }
            word if LISTS.contains(&word) && next == Some("(") => {
                at = end(&tokens, at + 1, ")");
                // `sum by (x) (…)`: the aggregation stands before the list.
                if tokens.get(at + 1).is_some_and(|token| token == "(") {
                    let name = aggregation(&tokens, at).unwrap_or_default();
                    around.push(name);
                    at += 1;
                }
            }
            word if OPERATORS.contains(&word) => {}
            word if is_name(word) && next == Some("(") => {
                around.push(word.to_owned());
                at += 1;
            }
            word if is_name(word) && next.is_some_and(|next| LISTS.contains(&next)) => {}
            word if is_name(word) => {
                let mut selector = Selector {
                    metric: word.to_owned(),
                    within: around
                        .iter()
                        .filter(|name| !name.is_empty())
                        .cloned()
                        .collect(),
                    ..Selector::default()
                };
                if next == Some("{") {
                    let close = end(&tokens, at + 1, "}");
                    selector.matchers = matchers(&tokens[at + 2..close.min(tokens.len())]);
                    at = close;
                }
                if tokens.get(at + 1).is_some_and(|token| token == "[") {
                    let close = end(&tokens, at + 1, "]");
                    selector.range = Some(tokens[at + 2..close.min(tokens.len())].concat());
                    at = close;
                }
                found.push(selector);
            }
            _ => {}
        }
        at += 1;
    }
    found
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == ':')
}

/// Where the next such token is.
fn end(tokens: &[String], from: usize, close: &str) -> usize {
    let found = tokens[from..].iter().position(|token| token == close);
    found.map_or(tokens.len(), |place| from + place)
}

/// The word before the list of labels that ends at `at`.
fn aggregation(tokens: &[String], at: usize) -> Option<String> {
    let open = tokens[..at].iter().rposition(|token| token == "(")?;
    let name = open.checked_sub(2).and_then(|place| tokens.get(place))?;
    is_name(name).then(|| name.clone())
}

fn matchers(tokens: &[String]) -> Vec<(String, String, String)> {
    tokens
        .split(|token| token == ",")
        .filter_map(|matcher| match matcher {
            [label, operator, value] => {
                let value = value.trim_matches('"').to_owned();
                Some((label.clone(), operator.clone(), value))
            }
            _ => None,
        })
        .collect()
}

fn tokens(expr: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = expr.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string(rest),
            '=' | '!' | '<' | '>' => {
                let two = rest
                    .get(..2)
                    .filter(|two| ["=~", "!~", "!=", "==", "<=", ">="].contains(two));
                two.map_or(1, str::len)
            }
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        tokens.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    tokens
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_:$.".contains(c)
}

/// The length of a string with its quotes.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}
