//! Instants as people read them.

const DAY_MS: i64 = 86_400_000;

/// An instant in UTC, to the second: `2023-11-14 22:14:50`.
pub(super) fn instant(ms: i64) -> String {
    let (year, month, day) = date(ms.div_euclid(DAY_MS));
    let seconds = ms.rem_euclid(DAY_MS) / 1000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// Year, month and day of a day since 1970-01-01 in the Gregorian calendar: 400 years
/// are a cycle of 146,097 days, counted from March so that the leap day comes last.
fn date(days: i64) -> (i64, i64, i64) {
    // 719,468 days lie between 0000-03-01 and 1970-01-01.
    let shifted = days.saturating_add(719_468);
    let cycle = shifted.div_euclid(146_097);
    let day_of_cycle = shifted.rem_euclid(146_097);
    let year_of_cycle = (day_of_cycle - day_of_cycle / 1_460 + day_of_cycle / 36_524
        - day_of_cycle / 146_096)
        / 365;
    let day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_cycle + cycle * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants() {
        for (ms, expected) in [
            (0, "1970-01-01 00:00:00"),
            (1_700_000_090_250, "2023-11-14 22:14:50"),
            (951_782_399_999, "2000-02-28 23:59:59"),
            (951_782_400_000, "2000-02-29 00:00:00"),
            (1_709_251_200_000, "2024-03-01 00:00:00"),
            (4_107_542_399_000, "2100-02-28 23:59:59"),
            (4_107_542_400_000, "2100-03-01 00:00:00"),
            (-1, "1969-12-31 23:59:59"),
        ] {
            assert_eq!(instant(ms), expected);
        }
    }
}
