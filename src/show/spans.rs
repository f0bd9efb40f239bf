//! Spans of time as people read them: in few units, and never beyond what is known.

use evenkeel_core::answers::{Bound, DurationAnswer};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 86_400_000;

/// A span in its two largest units: `4 min 50 s`, `2 d 3 h`.
pub(crate) fn span(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    let units = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")];
    let mut left = seconds;
    let mut parts = Vec::new();
    for (size, name) in units {
        let count = left / size;
        left %= size;
        if count > 0 || (size == 1 && parts.is_empty()) {
            parts.push(format!("{count} {name}"));
        } else if !parts.is_empty() {
            break;
        }
        if parts.len() == 2 {
            break;
        }
    }
    parts.join(" ")
}

/// A span, and how well it is known. Seconds are enough for people; below ten, tenths; below one,
/// milliseconds.
pub(crate) fn lasted(duration: &DurationAnswer) -> String {
    let ms = rounded_ms(duration);
    let span = if ms < 1_000 {
        format!("{ms} ms")
    } else if ms < 10_000 {
        let tenths = ms / 100;
        format!("{}.{} s", tenths / 10, tenths % 10)
    } else {
        span(ms)
    };
    match duration.bound {
        Bound::AtLeast if duration.ms <= 0 => "not known".to_owned(),
        Bound::AtLeast => format!("at least {span}"),
        Bound::AtMost => format!("at most {span}"),
        Bound::Exact | Bound::Poll => span,
    }
}

/// In whole steps of what is shown of it: what it is at most is rounded up, what it is at least
/// down, or the bound would not hold.
fn rounded_ms(duration: &DurationAnswer) -> i64 {
    let ms = duration.ms.max(0);
    let step_ms = match ms {
        ..1_000 => 1,
        1_000..10_000 => 100,
        10_000..HOUR_MS => 1_000,
        HOUR_MS..DAY_MS => MINUTE_MS,
        _ => HOUR_MS,
    };
    let added_ms = match duration.bound {
        Bound::AtLeast => 0,
        Bound::AtMost => step_ms - 1,
        Bound::Exact | Bound::Poll => step_ms / 2,
    };
    ms.saturating_add(added_ms) / step_ms * step_ms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans() {
        for (ms, expected) in [
            (-5, "0 s"),
            (999, "0 s"),
            (59_999, "59 s"),
            (60_000, "1 min"),
            (290_250, "4 min 50 s"),
            (3_600_000, "1 h"),
            (3_605_000, "1 h"),
            (183_600_000, "2 d 3 h"),
            (172_860_000, "2 d"),
        ] {
            assert_eq!(span(ms), expected);
        }
    }

    #[test]
    fn a_bound_holds_as_it_is_shown() {
        for (ms, least, most, measured) in [
            (999, "999 ms", "999 ms", "999 ms"),
            (1_001, "1.0 s", "1.1 s", "1.0 s"),
            (1_050, "1.0 s", "1.1 s", "1.1 s"),
            (9_901, "9.9 s", "10 s", "9.9 s"),
            (19_986, "19 s", "20 s", "20 s"),
            (20_000, "20 s", "20 s", "20 s"),
            (59_001, "59 s", "1 min", "59 s"),
            (290_250, "4 min 50 s", "4 min 51 s", "4 min 50 s"),
            (3_599_500, "59 min 59 s", "1 h", "1 h"),
            (3_605_000, "1 h", "1 h 1 min", "1 h"),
            (86_399_000, "23 h 59 min", "1 d", "1 d"),
            (183_600_001, "2 d 3 h", "2 d 4 h", "2 d 3 h"),
        ] {
            let as_known = |bound| {
                lasted(&DurationAnswer {
                    ms,
                    bound,
                    between_ms: None,
                })
            };
            assert_eq!(as_known(Bound::AtLeast), format!("at least {least}"));
            assert_eq!(as_known(Bound::AtMost), format!("at most {most}"));
            assert_eq!(as_known(Bound::Exact), measured);
            assert_eq!(as_known(Bound::Poll), measured);
        }
        let none = DurationAnswer {
            ms: 0,
            bound: Bound::AtLeast,
            between_ms: None,
        };
        assert_eq!(lasted(&none), "not known");
    }
}
