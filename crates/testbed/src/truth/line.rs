//! One line of a broker's or worker's log, taken apart.

/// A log line in the one format that every process of the testbed is told to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub(crate) at_ms: i64,
    pub(crate) level: &'a str,
    /// The class that logged, with its package.
    pub(crate) logger: &'a str,
    pub(crate) message: &'a str,
}

impl<'a> Line<'a> {
    /// `None` for the continuation of a message over several lines (stack traces, banners).
    pub(crate) fn parse(text: &'a str) -> Option<Line<'a>> {
        // 2026-11-29 19:34:53,616 INFO logger.Name [thread] message
        let (time, rest) = text.split_at_checked(23)?;
        let at_ms = instant_ms(time)?;
        let (level, rest) = rest.strip_prefix(' ')?.split_once(' ')?;
        let (logger, rest) = rest.split_once(" [")?;
        let message = after_thread(rest)?;
        Some(Line {
            at_ms,
            level,
            logger,
            message,
        })
    }

    /// The class name without its package.
    pub(crate) fn class(&self) -> &'a str {
        self.logger.rsplit('.').next().unwrap_or(self.logger)
    }
}

/// What follows the `]` that closes the thread's name; names such as `pool[1]` nest.
fn after_thread(text: &str) -> Option<&str> {
    let mut depth = 1_u32;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(index + 1..)?.strip_prefix(' ');
        }
    }
    None
}

/// `yyyy-MM-dd HH:mm:ss,SSS` in UTC as milliseconds since 1970.
fn instant_ms(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| digits.parse().ok())?
    };
    let mark = |at: usize, mark: &str| text.get(at..at + 1) == Some(mark);
    let marks = [
        (4, "-"),
        (7, "-"),
        (10, " "),
        (13, ":"),
        (16, ":"),
        (19, ","),
    ];
    if !marks.iter().all(|(at, sign)| mark(*at, sign)) {
        return None;
    }
    let days = days_since_1970(number(0, 4)?, number(5, 7)?, number(8, 10)?)?;
    let seconds = number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?;
    Some((days * 86_400 + seconds) * 1000 + number(20, 23)?)
}

/// Days in the Gregorian calendar, counted in years that begin in March so that the leap day
/// is the last.
fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    // 719 468 days lie between 1 March of year 0 and 1 January 1970.
    Some(era * 146_097 + day_of_era - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_a_line_apart() {
        let text = "2026-11-29 19:34:53,616 INFO a.b.Herder [Herder-connect-127.0.0.1:1[x]-1] [Worker groupId=c] Joined [x]";
        let line = Line::parse(text).unwrap();
        // `date -u -d '2026-11-29 19:34:53' +%s` says 1795980893.
        assert_eq!(line.at_ms, 1_795_980_893_616);
        assert_eq!((line.level, line.class()), ("INFO", "Herder"));
        assert_eq!(line.message, "[Worker groupId=c] Joined [x]");
    }

    #[test]
    fn knows_the_calendar() {
        assert_eq!(instant_ms("1970-01-01 00:00:00,000"), Some(0));
        assert_eq!(
            instant_ms("2024-02-29 00:00:00,000"),
            Some(1_709_164_800_000)
        );
        assert_eq!(
            instant_ms("2024-03-01 00:00:00,001"),
            Some(1_709_251_200_001)
        );
        assert_eq!(instant_ms("2024-13-01 00:00:00,000"), None);
        assert_eq!(instant_ms("2024-03-01T00:00:00,000"), None);
    }

    #[test]
    fn a_continuation_is_no_line() {
        for text in [
            "",
            "****",
            "\tat java.base/x",
            "2026-11-29 19:34:53,616 INFO",
        ] {
            assert_eq!(Line::parse(text), None, "{text}");
        }
    }
}
