//! The result of a check as one HTML file: its table of traces, and the pictures of frames that differ.

use gapii_replay::images::{FrameOf, Picture, beside};
use gapii_report::{CheckPage, CheckRow, Difference};

use super::answer::{Checked, Verdict};

/// Pictures of a frame that differs.
pub struct Shown {
    /// Index of the trace in the list.
    pub trace: usize,
    pub frame: FrameOf,
    /// The expected picture, if it is known.
    pub expected: Option<Picture>,
    pub drawn: Picture,
}

/// Returns the page. `name` is that of the list.
pub fn html(checked: &Checked, shown: &[Shown], name: &str) -> std::io::Result<String> {
    let mut rows = Vec::new();
    for (index, trace) in checked.traces.iter().enumerate() {
        let mut differences = Vec::new();
        for it in shown.iter().filter(|it| it.trace == index) {
            differences.push(difference(it)?);
        }
        rows.push(CheckRow {
            trace: trace.trace.to_string_lossy().into_owned(),
            verdict: word(trace.verdict).to_owned(),
            is_good: trace.verdict.is_good(),
            renderer: trace.renderer.clone().unwrap_or_default(),
            seconds: trace.seconds,
            reasons: trace.reasons(),
            differences,
        });
    }
    let made_by = format!("gapii-ctl {}", env!("CARGO_PKG_VERSION"));
    Ok(CheckPage { name: name.to_owned(), rows, made_by }.html())
}

fn difference(shown: &Shown) -> std::io::Result<Difference> {
    let (process, frame) = shown.frame;
    let of = if process == 0 { String::new() } else { format!(" of process {process}") };
    let (what, picture) = match &shown.expected {
        Some(expected) => {
            ("expected, drawn, and where they differ (red)", beside(expected, &shown.drawn))
        }
        None => ("drawn; the expected picture is not known", shown.drawn.clone().opaque()),
    };
    let mut png = Vec::new();
    picture.write_png(&mut png)?;
    let (title, size) = (format!("frame {frame}{of}: {what}"), [picture.width, picture.height]);
    Ok(Difference { title, size, png })
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Different => "different",
        Verdict::UnknownDriver => "unknown driver",
        Verdict::Unplayable => "unplayable",
        Verdict::Updated => "updated",
        Verdict::Stopped => "stopped",
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::answer::CheckedTrace;
    use super::*;

    #[test]
    fn page_has_the_pictures_of_each_trace() {
        let plain = |byte| Picture { width: 1, height: 1, rgba: vec![byte; 4] };
        let trace = |name: &str| {
            CheckedTrace::without_frames(Path::new(name), Verdict::Different, Some("why".into()))
        };
        let checked = Checked::of(vec![trace("a.gapii"), trace("b.gapii")], 1.0);
        let shown = |trace, expected| Shown { trace, frame: (0, 7), expected, drawn: plain(9) };
        let shown = [shown(0, Some(plain(1))), shown(1, None)];
        let html = html(&checked, &shown, "traces.toml").unwrap();
        let last = |text: &str| html.rfind(text).unwrap_or_else(|| panic!("{text}: {html}"));
        // A trace's heading, behind the table, and its picture.
        let places =
            ["a.gapii", "frame 7: expected, drawn", "b.gapii", "frame 7: drawn; the expected"];
        assert!(places.map(last).is_sorted(), "{html}");
        assert_eq!(html.matches("data:image/png").count(), 2);
    }
}
