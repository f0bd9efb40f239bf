//! A panel as its author thinks of it: a question, how it is asked, and how the answer looks.

use super::look::{BAD, DIM, GOOD, Word};

/// How an answer is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A large number or word.
    Stat,
    /// Lines over time.
    Lines,
    /// Coloured areas on top of each other: what there is at a moment.
    Areas,
    /// Bars on top of each other: what happened in a while.
    Bars,
    /// Points: what is measured now and then.
    Points,
    /// Coloured stripes over time.
    Stripes,
    /// Horizontal bars, the newest value of each.
    Gauge,
    /// Buckets over time.
    Heat,
    /// Rows.
    Table,
}

/// One query.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) expr: String,
    pub(crate) legend: String,
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    /// The label, or `Value`; of several queries `Value #A`.
    pub(crate) field: &'static str,
    pub(crate) title: &'static str,
    pub(crate) unit: Option<&'static str>,
    /// The board that tells more of what the cell names.
    pub(crate) leads_to: Option<(&'static str, &'static str)>,
}

/// A panel. Everything but title and description has a default.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) kind: Kind,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) targets: Vec<Target>,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// From which value on which colour.
    pub(crate) steps: Vec<(Option<f64>, &'static str)>,
    pub(crate) words: &'static [Word],
    pub(crate) palette: &'static [(&'static str, &'static str)],
    pub(crate) columns: Vec<Column>,
    /// What stands there without an answer.
    pub(crate) nothing: Option<&'static str>,
    pub(crate) decimals: Option<u32>,
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
    /// Whether exemplars are asked for, and traces linked to.
    pub(crate) traces: bool,
    /// Rules of the checker that do not hold here, and why.
    pub(crate) excused: Vec<(&'static str, &'static str)>,
}

impl Panel {
    fn new(kind: Kind, title: &'static str, description: &'static str) -> Panel {
        let (width, height) = match kind {
            Kind::Stat => (4, 4),
            _ => (12, 8),
        };
        Panel {
            kind,
            title,
            description,
            unit: "short",
            targets: Vec::new(),
            width,
            height,
            steps: Vec::new(),
            words: &[],
            palette: &[],
            columns: Vec::new(),
            nothing: None,
            decimals: None,
            min: None,
            max: None,
            traces: false,
            excused: Vec::new(),
        }
    }

    pub(crate) fn stat(title: &'static str, description: &'static str) -> Panel {
        Panel::new(Kind::Stat, title, description)
    }

    pub(crate) fn lines(title: &'static str, description: &'static str) -> Panel {
        Panel::new(Kind::Lines, title, description)
    }

    pub(crate) fn areas(title: &'static str, description: &'static str) -> Panel {
        Panel::new(Kind::Areas, title, description)
    }

    pub(crate) fn bars(title: &'static str, description: &'static str) -> Panel {
        // `increase` guesses what lies before the first and after the last scrape: events are
        // whole all the same.
        Panel::new(Kind::Bars, title, description)
            .decimals(0)
            .zero_based()
    }

    pub(crate) fn points(title: &'static str, description: &'static str) -> Panel {
        Panel::new(Kind::Points, title, description)
    }

    pub(crate) fn stripes(title: &'static str, description: &'static str) -> Panel {
        Panel::new(Kind::Stripes, title, description).unit("none")
    }

    pub(crate) fn gauge(title: &'static str, description: &'static str) -> Panel {
        Panel::new(Kind::Gauge, title, description)
    }

    pub(crate) fn heat(title: &'static str, description: &'static str) -> Panel {
        Panel::new(Kind::Heat, title, description).unit("s")
    }

    pub(crate) fn table(title: &'static str, description: &'static str) -> Panel {
        Panel::new(Kind::Table, title, description)
    }

    /// A query, and what its series are called.
    pub(crate) fn ask(mut self, expr: impl Into<String>, legend: &str) -> Panel {
        self.targets.push(Target {
            expr: expr.into(),
            legend: legend.to_owned(),
        });
        self
    }

    pub(crate) fn unit(self, unit: &'static str) -> Panel {
        Panel { unit, ..self }
    }

    /// In 24ths of the page, and in Grafana's grid rows.
    pub(crate) fn size(self, width: u32, height: u32) -> Panel {
        Panel {
            width,
            height,
            ..self
        }
    }

    /// Good below the first of these values. What is not known has the colour below zero.
    pub(crate) fn good_below(mut self, steps: &[(f64, &'static str)]) -> Panel {
        self.steps = vec![(None, DIM), (Some(0.0), GOOD)];
        self.steps
            .extend(steps.iter().map(|(from, colour)| (Some(*from), *colour)));
        self
    }

    /// Bad below the first of these values.
    pub(crate) fn bad_below(mut self, steps: &[(f64, &'static str)]) -> Panel {
        self.steps = vec![(None, DIM), (Some(0.0), BAD)];
        self.steps
            .extend(steps.iter().map(|(from, colour)| (Some(*from), *colour)));
        self
    }

    pub(crate) fn words(self, words: &'static [Word]) -> Panel {
        Panel {
            words,
            unit: "none",
            ..self
        }
    }

    pub(crate) fn palette(self, palette: &'static [(&'static str, &'static str)]) -> Panel {
        Panel { palette, ..self }
    }

    pub(crate) fn columns(mut self, columns: &[Column]) -> Panel {
        self.columns = columns.to_vec();
        self
    }

    pub(crate) fn nothing(self, text: &'static str) -> Panel {
        Panel {
            nothing: Some(text),
            ..self
        }
    }

    pub(crate) fn decimals(self, decimals: u32) -> Panel {
        Panel {
            decimals: Some(decimals),
            ..self
        }
    }

    pub(crate) fn zero_based(self) -> Panel {
        Panel {
            min: Some(0.0),
            ..self
        }
    }

    pub(crate) fn up_to(self, max: f64) -> Panel {
        Panel {
            max: Some(max),
            ..self
        }
    }

    pub(crate) fn traces(self) -> Panel {
        Panel {
            traces: true,
            ..self
        }
    }

    pub(crate) fn excused(mut self, rule: &'static str, why: &'static str) -> Panel {
        self.excused.push((rule, why));
        self
    }
}
