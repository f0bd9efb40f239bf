//! Names and values in one variable, as OpenTelemetry writes them: `a=1,b=x%20y`, the values
//! percent-encoded (W3C Baggage, without properties).

/// All pairs, or the place of the first that is none, counted from 1 among those that are not
/// empty.
pub(super) fn read(text: &str) -> Result<Vec<(String, String)>, usize> {
    // A comma at the end is a slip that harms nobody.
    let parts = text.split(',').map(str::trim);
    let parts = parts.filter(|part| !part.is_empty());
    let mut pairs = Vec::new();
    for (place, part) in parts.enumerate() {
        let pair = part.split_once('=').and_then(|(name, value)| {
            let name = decoded(name.trim())?;
            let value = decoded(value.trim())?;
            (!name.is_empty()).then_some((name, value))
        });
        pairs.push(pair.ok_or(place + 1)?);
    }
    Ok(pairs)
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (high, low) = (hex(rest.next()?)?, hex(rest.next()?)?);
        bytes.push(high * 16 + low);
    }
    String::from_utf8(bytes).ok()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}
