//! Prometheus' text format, version 0.0.4: families of samples.

use std::fmt::{Display, Write};

/// The media type of an [`Exposition`].
pub const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The type of a family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Values only rise.
    Counter,
    Gauge,
}

/// Families in the order in which they are written.
#[derive(Debug, Default)]
pub struct Exposition(String);

impl Exposition {
    /// Adds a family of one sample.
    pub fn sample(&mut self, kind: Kind, name: &str, help: &str, value: impl Display) {
        self.header(kind, name, help);
        self.line(format_args!("{name} {value}"));
    }

    /// Adds a family with a sample for each value of a label. The labels' values need no escapes.
    pub fn labelled<'a, V: Display>(
        &mut self,
        (kind, name, help): (Kind, &str, &str),
        label: &str,
        samples: impl IntoIterator<Item = (&'a str, V)>,
    ) {
        self.header(kind, name, help);
        for (which, value) in samples {
            self.line(format_args!("{name}{{{label}=\"{which}\"}} {value}"));
        }
    }

    /// Returns the text of all families.
    pub fn into_text(self) -> String {
        self.0
    }

    fn header(&mut self, kind: Kind, name: &str, help: &str) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        };
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {kind}"));
    }

    fn line(&mut self, line: impl Display) {
        // Writing to a `String` cannot fail.
        let _ = writeln!(self.0, "{line}");
    }
}
