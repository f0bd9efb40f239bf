//! What was measured: told while it runs, and as one Markdown table at the end.

use std::fmt::Display;

use crate::stopwatch::Spread;

/// Rows measured so far, and the machine they were measured on.
pub(crate) struct Report {
    rows: Vec<Row>,
    load_before: String,
}

struct Row {
    what: String,
    measured: String,
    yardstick: String,
    budget: String,
    held: Held,
}

/// How a number stands to its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    Met,
    Missed,
    /// Beyond the budget on a machine on which the yardstick alone uses half of it up.
    Undecided,
    /// A number beside those that have a budget.
    None,
}

// === impl Held ===

impl Held {
    pub(crate) fn of(met: bool) -> Held {
        if met { Held::Met } else { Held::Missed }
    }

    /// For time on the wall: what the machine alone takes, by the yardstick, decides
    /// whether a miss says anything.
    pub(crate) fn beside(measured: f64, budget: f64, yardstick: f64) -> Held {
        if measured > budget && yardstick > budget / 2.0 {
            Held::Undecided
        } else {
            Held::of(measured <= budget)
        }
    }

    fn word(self) -> &'static str {
        match self {
            Held::Met => "met",
            Held::Missed => "**missed**",
            Held::Undecided => "machine too busy",
            Held::None => "",
        }
    }
}

// === impl Report ===

impl Report {
    pub(crate) fn begin() -> Report {
        let report = Report {
            rows: Vec::new(),
            load_before: load(),
        };
        eprintln!("{}; load {}", machine(), report.load_before);
        if cfg!(debug_assertions) {
            eprintln!("built without optimisation: these numbers mean nothing");
        }
        report
    }

    /// What both sides of a comparison were set to.
    pub(crate) fn settings(&self, side: &str, settings: impl Display) {
        eprintln!("   {side}: {settings}");
    }

    /// Something that explains a number and is none of the table.
    pub(crate) fn note(&self, text: impl Display) {
        eprintln!("   {text}");
    }

    /// A number against its budget; `yardstick` is what was measured beside it.
    pub(crate) fn row(
        &mut self,
        what: impl Into<String>,
        (measured, yardstick): (impl Into<String>, impl Into<String>),
        (budget, held): (&str, Held),
    ) {
        let row = Row {
            what: what.into(),
            measured: measured.into(),
            yardstick: yardstick.into(),
            budget: budget.to_owned(),
            held,
        };
        eprintln!(
            "   {}: {} | {} | {} {}",
            row.what,
            row.measured,
            row.yardstick,
            row.budget,
            row.held.word()
        );
        self.rows.push(row);
    }

    /// Prints the table.
    pub(crate) fn end(self) {
        println!(
            "\n{}; load average (1, 5, 15 min) {} before, {} after\n",
            machine(),
            self.load_before,
            load()
        );
        println!("| what | measured | yardstick of the same run | budget | |");
        println!("| --- | --- | --- | --- | --- |");
        for row in &self.rows {
            println!(
                "| {} | {} | {} | {} | {} |",
                row.what,
                row.measured,
                row.yardstick,
                row.budget,
                row.held.word()
            );
        }
    }
}

/// Median, smallest and largest of a unit.
pub(crate) fn spread(spread: Spread, unit: &str) -> String {
    format!(
        "{}{unit} ({}–{})",
        short(spread.median),
        short(spread.min),
        short(spread.max)
    )
}

/// Three digits that count, thousands apart.
pub(crate) fn short(number: f64) -> String {
    match number.abs() {
        large if large >= 10_000.0 => {
            let whole = format!("{:.0}", number.round());
            let mut out = String::new();
            for (place, digit) in whole.chars().enumerate() {
                if place > 0 && (whole.len() - place).is_multiple_of(3) {
                    out.push(',');
                }
                out.push(digit);
            }
            out
        }
        large if large >= 100.0 => format!("{number:.0}"),
        middle if middle >= 10.0 => format!("{number:.1}"),
        small if small >= 0.1 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().take(3).collect();
    words.join(" ")
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map_or("processor not named", |rest| {
            rest.trim_matches([' ', '\t', ':'])
        });
    format!(
        "{cores} cores, {model}, {} {}",
        std::env::consts::OS,
        std::env::consts::ARCH
    )
}
