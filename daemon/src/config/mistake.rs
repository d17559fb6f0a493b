//! Mistakes in a configuration file, shown at their places in it, each with a valid value or the nearest name. Lines
//! are up to 100 columns wide.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource};

/// Width of the displayed mistakes, in columns.
const WIDTH: usize = 100;

/// A mistake at a place of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    pub message: String,
    /// Range of bytes in the file.
    pub span: Range<usize>,
    /// A valid value, or another way to correct the mistake.
    pub help: String,
}

/// All mistakes of a file, with its text. Displays several lines for each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistakes {
    pub path: PathBuf,
    pub text: String,
    pub all: Vec<Mistake>,
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
            .with_width(WIDTH)
            .with_links(false);
        for (index, Mistake { message, span, help }) in self.all.iter().enumerate() {
            let mut diagnostic = MietteDiagnostic::new(message)
                .with_label(LabeledSpan::new_with_span(None, span.clone()));
            if !help.is_empty() {
                diagnostic = diagnostic.with_help(help);
            }
            let source = NamedSource::new(self.path.display().to_string(), self.text.clone());
            let report = miette::Report::new(diagnostic).with_source_code(source);
            let mut shown = String::new();
            handler.render_report(&mut shown, report.as_ref())?;
            let between = if index == 0 { "" } else { "\n\n" };
            write!(f, "{between}{}", shown.trim_end())?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}
