//! The name in a certificate as Kafka makes a principal of it: RFC 2253 in the spelling of
//! Java's `X500Principal.getName()`, such as `CN=worker,OU=data,O=Example`.

use openssl::x509::X509Ref;

/// The attributes that Java spells out in this form; all others are numbers with `#` and
/// their bytes.
const KEYWORDS: [(&[u8], &str); 9] = [
    (&[0x55, 4, 3], "CN"),
    (&[0x55, 4, 6], "C"),
    (&[0x55, 4, 7], "L"),
    (&[0x55, 4, 8], "ST"),
    (&[0x55, 4, 9], "STREET"),
    (&[0x55, 4, 10], "O"),
    (&[0x55, 4, 11], "OU"),
    (
        &[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25],
        "DC",
    ),
    (
        &[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 1],
        "UID",
    ),
];

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OID: u8 = 0x06;
const BMP_STRING: u8 = 0x1e;

/// The subject's name; `None` where its bytes are not what X.501 says.
pub(super) fn rfc2253(certificate: &X509Ref) -> Option<String> {
    let der = certificate.subject_name().to_der().ok()?;
    of_der(&der)
}

fn of_der(der: &[u8]) -> Option<String> {
    let (name, _) = element(der, SEQUENCE)?;
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let (set, after) = element(rest, SET)?;
        rest = after;
        let mut attributes = Vec::new();
        let mut members = set;
        while !members.is_empty() {
            let (attribute, after) = element(members, SEQUENCE)?;
            members = after;
            attributes.push(shown(attribute)?);
        }
        parts.push(attributes.join("+"));
    }
    // The most significant part comes last.
    parts.reverse();
    Some(parts.join(","))
}

/// The contents of the element that `bytes` begin with, and what follows it.
fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, contents, rest) = any(bytes)?;
    (found == tag).then_some((contents, rest))
}

fn any(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(*first), rest),
        0x81 => (usize::from(*rest.first()?), rest.get(1..)?),
        0x82 => {
            let (high, low) = (usize::from(*rest.first()?), usize::from(*rest.get(1)?));
            ((high << 8) | low, rest.get(2..)?)
        }
        _ => return None,
    };
    let (contents, rest) = rest.split_at_checked(length)?;
    Some((*tag, contents, rest))
}

fn shown(attribute: &[u8]) -> Option<String> {
    let (oid, encoded) = element(attribute, OID)?;
    let (tag, contents, _) = any(encoded)?;
    let keyword = KEYWORDS.iter().find(|(known, _)| *known == oid);
    match (keyword, text(tag, contents)) {
        (Some((_, keyword)), Some(text)) => Some(format!("{keyword}={}", escaped(&text))),
        (keyword, _) => {
            let name = keyword.map_or_else(|| dotted(oid), |(_, keyword)| (*keyword).to_owned());
            let hex: String = encoded.iter().map(|byte| format!("{byte:02x}")).collect();
            Some(format!("{name}=#{hex}"))
        }
    }
}

/// The text of the string types that a name is written in.
fn text(tag: u8, contents: &[u8]) -> Option<String> {
    match tag {
        // UTF8String, PrintableString, IA5String; T61String as Java reads it, letter by byte.
        0x0c | 0x13 | 0x16 => String::from_utf8(contents.to_vec()).ok(),
        0x14 => Some(contents.iter().map(|byte| char::from(*byte)).collect()),
        BMP_STRING => {
            let unit = |pair: &[u8]| u16::from_be_bytes([pair[0], pair[1]]);
            let units: Vec<u16> = contents.chunks_exact(2).map(unit).collect();
            String::from_utf16(&units).ok()
        }
        _ => None,
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    let count = text.chars().count();
    for (index, letter) in text.chars().enumerate() {
        let is_edge =
            (index == 0 && matches!(letter, ' ' | '#')) || (index + 1 == count && letter == ' ');
        if is_edge || matches!(letter, ',' | '=' | '+' | '"' | '\\' | '<' | '>' | ';') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// The numbers of an object identifier.
fn dotted(oid: &[u8]) -> String {
    let mut numbers: Vec<u64> = Vec::new();
    let mut number = 0u64;
    for byte in oid {
        number = (number << 7) | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            if numbers.is_empty() {
                let first = (number / 40).min(2);
                numbers.extend([first, number - first * 40]);
            } else {
                numbers.push(number);
            }
            number = 0;
        }
    }
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    numbers.join(".")
}

#[cfg(test)]
mod tests;
