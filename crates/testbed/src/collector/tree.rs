//! Spans put together to traces, as a person sees them; what does not fit is an error.

use std::collections::BTreeMap;

use anyhow::{Context, bail, ensure};

use super::otlp::Span;

/// A trace that is whole: one root, and below it every span it has.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    pub id: String,
    pub root: Span,
    /// All others, by start, end and id.
    pub below: Vec<Span>,
}

impl Trace {
    /// The traces of these spans, by the start of their roots.
    ///
    /// # Errors
    /// When a span is there twice, has no span above it, or lies outside of it in time; when
    /// a trace has no root, or two.
    pub fn all(spans: &[Span]) -> anyhow::Result<Vec<Trace>> {
        let mut by_trace: BTreeMap<&str, BTreeMap<&str, &Span>> = BTreeMap::new();
        for span in spans {
            let of_trace = by_trace.entry(&span.trace_id).or_default();
            let before = of_trace.insert(&span.span_id, span);
            ensure!(
                before.is_none(),
                "span {:?} {} of trace {} is there twice",
                span.name,
                span.span_id,
                span.trace_id
            );
        }
        let mut traces = by_trace
            .into_iter()
            .map(|(id, spans)| put_together(id, &spans).with_context(|| format!("trace {id}")))
            .collect::<anyhow::Result<Vec<Trace>>>()?;
        traces.sort_by(|one, other| {
            (one.root.start_ns, &one.id).cmp(&(other.root.start_ns, &other.id))
        });
        Ok(traces)
    }

    /// Leaves one of several copies of a span, however often it was sent.
    ///
    /// # Errors
    /// When two spans with the same ids differ.
    pub fn once(spans: &[Span]) -> anyhow::Result<Vec<Span>> {
        let mut kept: BTreeMap<(&str, &str), &Span> = BTreeMap::new();
        let mut out = Vec::new();
        for span in spans {
            match kept.insert((&span.trace_id, &span.span_id), span) {
                Some(before) => ensure!(
                    before == span,
                    "two spans with the same ids differ: {before:?} and {span:?}"
                ),
                None => out.push(span.clone()),
            }
        }
        Ok(out)
    }

    /// The spans right below another, by their start.
    pub fn children<'a>(&'a self, of: &'a Span) -> impl Iterator<Item = &'a Span> {
        let children = self.below.iter();
        children.filter(|span| span.parent.as_deref() == Some(of.span_id.as_str()))
    }

    /// The spans of this name, by their start.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Span> {
        self.below.iter().filter(move |span| span.name == name)
    }

    /// All spans.
    pub fn spans(&self) -> impl Iterator<Item = &Span> {
        std::iter::once(&self.root).chain(&self.below)
    }

    /// As lines, a span each, indented, with times from the start of the root.
    #[must_use]
    pub fn show(&self) -> String {
        let mut out = String::new();
        self.show_below(&self.root, 0, &mut out);
        out
    }

    fn show_below(&self, span: &Span, depth: usize, out: &mut String) {
        let from = |at_ns: u64| (at_ns.abs_diff(self.root.start_ns)) / 1_000_000;
        out.push_str(&format!(
            "{:indent$}{} {}..{} ms\n",
            "",
            span.name,
            from(span.start_ns),
            from(span.end_ns),
            indent = depth * 2
        ));
        for child in self.children(span) {
            self.show_below(child, depth + 1, out);
        }
    }
}

fn put_together(id: &str, spans: &BTreeMap<&str, &Span>) -> anyhow::Result<Trace> {
    let mut root = None;
    let mut below = Vec::new();
    for span in spans.values().copied() {
        let Some(parent) = &span.parent else {
            if let Some(first) = root.replace(span) {
                bail!("two roots: {:?} and {:?}", first.name, span.name);
            }
            continue;
        };
        let above = spans
            .get(parent.as_str())
            .with_context(|| format!("{:?} {} is an orphan", span.name, span.span_id))?;
        ensure!(
            above.start_ns <= span.start_ns && span.end_ns <= above.end_ns,
            "{:?} from {} to {} lies outside of {:?} from {} to {}",
            span.name,
            span.start_ns,
            span.end_ns,
            above.name,
            above.start_ns,
            above.end_ns
        );
        below.push(span.clone());
    }
    let root = root.context("no root")?.clone();
    ensure!(
        reached(&root, &below) == below.len(),
        "spans that stand above each other"
    );
    below.sort_by(|one, other| {
        (one.start_ns, one.end_ns, &one.span_id).cmp(&(
            other.start_ns,
            other.end_ns,
            &other.span_id,
        ))
    });
    Ok(Trace {
        id: id.to_owned(),
        root,
        below,
    })
}

/// How many spans hang on the root: those that stand above each other in a ring do not.
fn reached(root: &Span, below: &[Span]) -> usize {
    let mut reached = vec![root.span_id.as_str()];
    let mut next = 0;
    while let Some(above) = reached.get(next).copied() {
        next += 1;
        let children = below
            .iter()
            .filter(|span| span.parent.as_deref() == Some(above));
        reached.extend(children.map(|span| span.span_id.as_str()));
    }
    reached.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collector::Attributes;

    fn span(id: &str, parent: Option<&str>, from: u64, to: u64) -> Span {
        Span {
            trace_id: "t".to_owned(),
            span_id: id.to_owned(),
            parent: parent.map(str::to_owned),
            name: id.to_owned(),
            kind: 1,
            start_ns: from,
            end_ns: to,
            attributes: Attributes::new(),
            events: Vec::new(),
            links: Vec::new(),
            status: 0,
            resource: Attributes::new(),
            scope: String::new(),
        }
    }

    #[test]
    fn a_tree_is_put_together_and_shown() {
        let spans = [
            span("b", Some("root"), 4_000_000, 5_000_000),
            span("root", None, 1_000_000, 9_000_000),
            span("a", Some("root"), 1_000_000, 3_000_000),
            span("a.a", Some("a"), 2_000_000, 3_000_000),
        ];
        let traces = Trace::all(&spans).unwrap();
        assert_eq!(
            traces[0].show(),
            "root 0..8 ms\n  a 0..2 ms\n    a.a 1..2 ms\n  b 3..4 ms\n"
        );
        assert_eq!(traces[0].named("b").count(), 1);
        assert_eq!(traces[0].spans().count(), 4);
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let root = || span("root", None, 0, 9);
        let told = |spans: &[Span]| format!("{:#}", Trace::all(spans).unwrap_err());
        assert!(told(&[root(), span("a", Some("x"), 1, 2)]).contains("orphan"));
        assert!(told(&[root(), root()]).contains("twice"));
        assert!(told(&[root(), span("r", None, 0, 9)]).contains("two roots"));
        assert!(told(&[span("a", Some("a"), 0, 1)]).contains("no root"));
        assert!(told(&[root(), span("a", Some("root"), 1, 10)]).contains("outside"));
        let ring = [
            root(),
            span("a", Some("b"), 1, 2),
            span("b", Some("a"), 1, 2),
        ];
        assert!(told(&ring).contains("above each other"));
    }

    #[test]
    fn copies_are_one_if_they_are_the_same() {
        let copies = [span("a", None, 0, 9), span("a", None, 0, 9)];
        assert_eq!(Trace::once(&copies).unwrap().len(), 1);
        let other = [span("a", None, 0, 9), span("a", None, 0, 8)];
        assert!(Trace::once(&other).is_err());
    }
}
