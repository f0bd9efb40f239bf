//! Rust text without its comments and strings, and the paths that remain in it.
//!
//! Not a parser: enough of the grammar to tell which modules and crates a file uses.

/// A path as a file uses it, from the root of its crate or of a foreign one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    /// Counted from one.
    pub(crate) line: usize,
    /// `crate` first where it is the file's own crate.
    pub(crate) segments: Vec<String>,
}

/// `text` with spaces for every comment, string and character, line ends kept.
pub(crate) fn code(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = opaque_end(&chars, at);
        match end {
            Some(end) => {
                for &each in &chars[at..end] {
                    out.push(if each == '\n' { '\n' } else { ' ' });
                }
                at = end;
            }
            None => {
                out.push(chars[at]);
                at += 1;
            }
        }
    }
    out
}

/// Where the comment, string or character that begins at `at` ends.
fn opaque_end(chars: &[char], at: usize) -> Option<usize> {
    let starts = |text: &str| {
        text.chars()
            .enumerate()
            .all(|(i, c)| chars.get(at + i) == Some(&c))
    };
    if starts("//") {
        return Some(find(chars, at, |c| c == '\n'));
    }
    if starts("/*") {
        return Some(block_comment_end(chars, at));
    }
    match chars[at] {
        '"' => Some(string_end(chars, at + 1)),
        '\'' => character_end(chars, at),
        _ if at > 0 && in_word(chars[at - 1]) => None,
        'r' | 'b' | 'c' => prefixed_string_end(chars, at),
        _ => None,
    }
}

fn block_comment_end(chars: &[char], start: usize) -> usize {
    let (mut depth, mut at) = (0_usize, start);
    while at + 1 < chars.len() {
        match (chars[at], chars[at + 1]) {
            ('/', '*') => (depth, at) = (depth + 1, at + 2),
            ('*', '/') if depth == 1 => return at + 2,
            ('*', '/') => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    chars.len()
}

/// `at` lies behind the opening quote.
fn string_end(chars: &[char], mut at: usize) -> usize {
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

/// `None` for a lifetime.
fn character_end(chars: &[char], at: usize) -> Option<usize> {
    match (chars.get(at + 1)?, chars.get(at + 2)?) {
        ('\\', _) => Some((find(chars, at + 3, |c| c == '\'') + 1).min(chars.len())),
        (_, '\'') => Some(at + 3),
        _ => None,
    }
}

/// `r"`, `r#"`, `b"`, `br#"`, `c"` and the like; `None` for a word that begins so.
fn prefixed_string_end(chars: &[char], start: usize) -> Option<usize> {
    let mut at = start;
    if matches!(chars[at], 'b' | 'c') {
        at += 1;
    }
    let raw = chars.get(at) == Some(&'r');
    if raw {
        at += 1;
    }
    let hashes = find(chars, at, |c| c != '#') - at;
    if chars.get(at + hashes) != Some(&'"') || (hashes > 0 && !raw) {
        return None;
    }
    at += hashes + 1;
    if !raw {
        return Some(string_end(chars, at));
    }
    while at < chars.len() {
        let closing = chars.iter().skip(at + 1).take(hashes);
        if chars[at] == '"' && closing.filter(|&&c| c == '#').count() == hashes {
            return Some(at + 1 + hashes);
        }
        at += 1;
    }
    Some(chars.len())
}

fn find(chars: &[char], from: usize, wanted: impl Fn(char) -> bool) -> usize {
    (from..chars.len())
        .find(|&at| wanted(chars[at]))
        .unwrap_or(chars.len())
}

fn in_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Join,
    Mark(char),
}

fn tokens(code: &str) -> Vec<(usize, Token)> {
    let chars: Vec<char> = code.chars().collect();
    let (mut out, mut line, mut at) = (Vec::new(), 1, 0);
    while at < chars.len() {
        let c = chars[at];
        if in_word(c) {
            let end = find(&chars, at, |c| !in_word(c));
            let word: String = chars[at..end].iter().collect();
            // `r#type` is the word `type`.
            if word == "r" && chars.get(end) == Some(&'#') {
                at = end + 1;
                continue;
            }
            out.push((line, Token::Word(word)));
            at = end;
            continue;
        }
        if c == ':' && chars.get(at + 1) == Some(&':') {
            out.push((line, Token::Join));
            at += 2;
            continue;
        }
        if c == '\n' {
            line += 1;
        } else if !c.is_whitespace() {
            out.push((line, Token::Mark(c)));
        }
        at += 1;
    }
    out
}

/// Every path in `code` (the output of [`code()`]) of a file whose module is `module`.
///
/// A name alone is none: it is local, or was brought in by a `use`, which is reported.
/// A glob ends in `*`.
pub(crate) fn paths(code: &str, module: &[&str]) -> Vec<Path> {
    let tokens = tokens(code);
    let mut reader = Reader {
        tokens: &tokens,
        at: 0,
        module: module.iter().map(|&name| name.to_owned()).collect(),
        inline: Vec::new(),
        depth: 0,
        found: Vec::new(),
    };
    reader.run();
    reader.found
}

struct Reader<'a> {
    tokens: &'a [(usize, Token)],
    at: usize,
    module: Vec<String>,
    /// Depth of braces at which each inline `mod` of `module` opened.
    inline: Vec<usize>,
    depth: usize,
    found: Vec<Path>,
}

// === impl Reader ===

impl Reader<'_> {
    fn run(&mut self) {
        while let Some(token) = self.token(0) {
            match token {
                Token::Word(word) if word == "use" && self.token(1) != Some(&Token::Mark('<')) => {
                    self.at += 1;
                    self.use_tree(&[]);
                }
                Token::Word(word)
                    if word == "extern" && self.word(1).as_deref() == Some("crate") =>
                {
                    let line = self.line();
                    let name = self.word(2).unwrap_or_default();
                    self.add(line, &[name]);
                    self.at += 3;
                }
                Token::Word(word) if word == "mod" => self.inline_module(),
                Token::Word(_) => self.expression(),
                Token::Mark('{') => {
                    self.depth += 1;
                    self.at += 1;
                }
                Token::Mark('}') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.inline.last() == Some(&self.depth) {
                        self.inline.pop();
                        self.module.pop();
                    }
                    self.at += 1;
                }
                Token::Join | Token::Mark(_) => self.at += 1,
            }
        }
    }

    fn token(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead).map(|(_, token)| token)
    }

    fn word(&self, ahead: usize) -> Option<String> {
        match self.token(ahead)? {
            Token::Word(word) => Some(word.clone()),
            Token::Join | Token::Mark(_) => None,
        }
    }

    fn inline_module(&mut self) {
        if let (Some(name), Some(Token::Mark('{'))) = (self.word(1), self.token(2)) {
            self.inline.push(self.depth);
            self.module.push(name);
            self.depth += 1;
            self.at += 3;
        } else {
            self.at += 1;
        }
    }

    fn expression(&mut self) {
        let line = self.line();
        let before = self.at.checked_sub(1).map(|at| &self.tokens[at].1);
        let inside = before == Some(&Token::Mark('.'));
        let mut segments = Vec::new();
        while let Some(word) = self.word(0) {
            segments.push(word);
            self.at += 1;
            if self.token(0) != Some(&Token::Join) {
                break;
            }
            self.at += 1;
        }
        if !inside && segments.len() > 1 {
            self.add(line, &segments);
        }
    }

    fn use_tree(&mut self, prefix: &[String]) {
        let mut segments = prefix.to_vec();
        loop {
            let line = self.line();
            match self.token(0) {
                Some(Token::Word(word)) => {
                    if word != "self" || segments.is_empty() {
                        segments.push(word.clone());
                    }
                    self.at += 1;
                }
                Some(Token::Mark('*')) => {
                    segments.push("*".to_owned());
                    self.at += 1;
                }
                Some(Token::Mark('{')) => {
                    self.at += 1;
                    while !matches!(self.token(0), None | Some(Token::Mark('}'))) {
                        self.use_tree(&segments);
                        if self.token(0) == Some(&Token::Mark(',')) {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    return;
                }
                // A path that begins with `::`.
                Some(Token::Join) => {}
                _ => {
                    self.at += 1;
                    return;
                }
            }
            if self.token(0) == Some(&Token::Join) {
                self.at += 1;
                continue;
            }
            self.add(line, &segments);
            if self.word(0).as_deref() == Some("as") {
                self.at += 2;
            }
            return;
        }
    }

    fn line(&self) -> usize {
        self.tokens.get(self.at).map_or(0, |(line, _)| *line)
    }

    fn add(&mut self, line: usize, segments: &[String]) {
        let own = |module: &[String], rest: &[String]| {
            let mut path = vec!["crate".to_owned()];
            path.extend_from_slice(module);
            path.extend_from_slice(rest);
            path
        };
        let up = segments
            .iter()
            .take_while(|&segment| segment == "super")
            .count();
        let segments = match segments.first().map(String::as_str) {
            Some("self") => own(&self.module, &segments[1..]),
            Some("super") => {
                let kept = self.module.len().saturating_sub(up);
                own(&self.module[..kept], &segments[up..])
            }
            _ => segments.to_vec(),
        };
        self.found.push(Path { line, segments });
    }
}

#[cfg(test)]
mod tests;
