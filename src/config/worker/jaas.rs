//! `sasl.jaas.config`: one login module with its options, read word by word as Kafka's
//! `JaasConfig` reads it (a Java `StreamTokenizer` with dash, underscore and dollar as
//! letters of words).

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

use crate::config::secret::Secret;

/// The one entry of a JAAS configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Login {
    /// The class of the login module.
    pub(super) module: String,
    /// Its options; the last of equal names.
    pub(super) options: BTreeMap<String, Secret>,
}

/// Why a text is no JAAS configuration. Holds nothing of it: it is one secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum JaasError {
    #[error("no login module")]
    Empty,
    #[error("{0} login modules")]
    Several(usize),
    #[error("a login module without a control flag such as required")]
    ControlFlag,
    #[error("an option without =\"value\"")]
    Value,
    #[error("no semicolon at the end")]
    Semicolon,
}

/// Reads the configuration.
pub(super) fn parse(text: &str) -> Result<Login, JaasError> {
    let mut tokens = Tokens {
        letters: text.chars().peekable(),
    };
    let mut logins = Vec::new();
    while let Some(token) = tokens.next() {
        logins.push(login(token, &mut tokens)?);
    }
    match logins.len() {
        0 => Err(JaasError::Empty),
        1 => logins.pop().ok_or(JaasError::Empty),
        several => Err(JaasError::Several(several)),
    }
}

fn login(first: Token, tokens: &mut Tokens<'_>) -> Result<Login, JaasError> {
    // Kafka compares the flag without regard to case.
    let flags = ["required", "requisite", "sufficient", "optional"];
    let flag = tokens.next().and_then(Token::word);
    let flag = flag.map(|flag| flag.to_lowercase());
    if !flag.is_some_and(|flag| flags.contains(&flag.as_str())) {
        return Err(JaasError::ControlFlag);
    }
    let mut options = BTreeMap::new();
    loop {
        let name = match tokens.next() {
            None => return Err(JaasError::Semicolon),
            Some(Token::Sign(';')) => break,
            Some(token) => token.word().ok_or(JaasError::Value)?,
        };
        if tokens.next() != Some(Token::Sign('=')) {
            return Err(JaasError::Value);
        }
        let value = tokens.next().and_then(Token::word);
        options.insert(name, Secret::new(value.ok_or(JaasError::Value)?));
    }
    Ok(Login {
        module: first.word().ok_or(JaasError::Empty)?,
        options,
    })
}

/// What the text consists of.
#[derive(PartialEq, Eq)]
enum Token {
    /// A word, or what stands in quotes.
    Word(String),
    /// A number, which Kafka takes for no value.
    Number,
    /// Any other letter.
    Sign(char),
}

// === impl Token ===

impl Token {
    fn word(self) -> Option<String> {
        match self {
            Self::Word(word) => Some(word),
            Self::Number | Self::Sign(_) => None,
        }
    }
}

struct Tokens<'a> {
    letters: Peekable<Chars<'a>>,
}

// === impl Tokens ===

impl Tokens<'_> {
    fn next(&mut self) -> Option<Token> {
        loop {
            let letter = self.letters.next()?;
            return Some(match letter {
                _ if is_blank(letter) => continue,
                '/' => {
                    self.comment();
                    continue;
                }
                '"' | '\'' => Token::Word(self.quoted(letter)),
                // Dash and dot begin a number, and a lone dash is a sign.
                '0'..='9' | '.' | '-' => self.number(letter),
                _ if is_word(letter) => {
                    let mut word = String::from(letter);
                    while let Some(next) = self.letters.next_if(|next| is_within(*next)) {
                        word.push(next);
                    }
                    Token::Word(word)
                }
                other => Token::Sign(other),
            });
        }
    }

    /// `/* … */`, or anything else after a slash up to the end of the line.
    fn comment(&mut self) {
        if self.letters.next_if_eq(&'*').is_some() {
            let mut before = ' ';
            for letter in self.letters.by_ref() {
                if before == '*' && letter == '/' {
                    return;
                }
                before = letter;
            }
        } else {
            while self.letters.next_if(|letter| !is_end(*letter)).is_some() {}
        }
    }

    fn number(&mut self, first: char) -> Token {
        let mut has_digit = first.is_ascii_digit();
        let mut has_dot = first == '.';
        while let Some(letter) = self
            .letters
            .next_if(|letter| letter.is_ascii_digit() || (*letter == '.' && !has_dot))
        {
            has_dot |= letter == '.';
            has_digit |= letter != '.';
        }
        match has_digit || has_dot && first == '-' {
            false => Token::Sign(first),
            true => Token::Number,
        }
    }

    /// Up to the same quote, or the end of the line, with Java's escapes.
    fn quoted(&mut self, quote: char) -> String {
        let mut text = String::new();
        while let Some(letter) = self.letters.next_if(|letter| !is_end(*letter)) {
            if letter == quote {
                break;
            }
            if letter != '\\' {
                text.push(letter);
                continue;
            }
            let Some(escaped) = self.letters.next() else {
                break;
            };
            text.push(match escaped {
                'a' => '\u{7}',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'v' => '\u{b}',
                '0'..='7' => self.octal(escaped),
                other => other,
            });
        }
        text
    }

    /// Up to three octal digits; three only where they fit into a byte.
    fn octal(&mut self, first: char) -> char {
        let digits_max = if first <= '3' { 3 } else { 2 };
        let mut value = first.to_digit(8).unwrap_or_default();
        for _ in 1..digits_max {
            let Some(next) = self.letters.next_if(|next| next.is_digit(8)) else {
                break;
            };
            value = value * 8 + next.to_digit(8).unwrap_or_default();
        }
        char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}

fn is_blank(letter: char) -> bool {
    letter <= ' '
}

fn is_end(letter: char) -> bool {
    matches!(letter, '\n' | '\r')
}

/// Letters that begin a word; all beyond ASCII are letters to a `StreamTokenizer`, but not
/// those right above it.
fn is_word(letter: char) -> bool {
    letter.is_ascii_alphabetic() || matches!(letter, '_' | '$') || letter >= '\u{a0}'
}

/// Letters within a word.
fn is_within(letter: char) -> bool {
    is_word(letter) || letter.is_ascii_digit() || matches!(letter, '.' | '-')
}

#[cfg(test)]
mod tests;
