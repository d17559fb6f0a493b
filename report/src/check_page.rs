//! The page of a check: which traces of a list were played as expected, and pictures of the frames that differ.

use maud::{DOCTYPE, PreEscaped, html};

use crate::page::{POLICY, STYLE};
use crate::picture::address;

/// The result of a check.
#[derive(Clone, Debug)]
pub struct CheckPage {
    /// Name of the list, for the title.
    pub name: String,
    /// The traces, in the order of the list.
    pub rows: Vec<CheckRow>,
    /// Name and version of the program that makes the page.
    pub made_by: String,
}

/// A trace that was checked.
#[derive(Clone, Debug)]
pub struct CheckRow {
    /// Name of the trace.
    pub trace: String,
    /// What came out, in a word.
    pub verdict: String,
    /// Whether the trace was played as expected.
    pub is_good: bool,
    /// The driver's renderer; empty if it is not known.
    pub renderer: String,
    /// Time that playing took, in seconds.
    pub seconds: f64,
    /// Why the trace failed: a sentence for each reason.
    pub reasons: Vec<String>,
    /// Pictures of frames that differ.
    pub differences: Vec<Difference>,
}

/// The picture of a frame that differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Which frame it is, and what the picture shows.
    pub title: String,
    /// Width and height, in pixels.
    pub size: [u32; 2],
    /// The picture as PNG.
    pub png: Vec<u8>,
}

impl CheckPage {
    /// Returns the text of the file.
    pub fn html(&self) -> String {
        let good = self.rows.iter().filter(|row| row.is_good).count();
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="viewport" content="width=device-width";
                    title { "Check of " (self.name) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    main {
                        h1 { "Check of " (self.name) }
                        p { (good) " of " (self.rows.len()) " traces as expected" }
                        table {
                            thead { tr { th { "trace" } th { "result" } th { "driver" } th.n { "s" } th { "why" } } }
                            tbody { @for row in &self.rows { (self::row(row)) } }
                        }
                        @for row in self.rows.iter().filter(|row| !row.differences.is_empty()) {
                            h2 { (row.trace) }
                            @for it in &row.differences { (figure(it)) }
                        }
                        p.detail { "Made by " (self.made_by) "." }
                    }
                }
            }
        };
        page.into_string()
    }
}

fn row(row: &CheckRow) -> maud::Markup {
    html! {
        tr {
            td { (row.trace) }
            td.error[!row.is_good] { (row.verdict) }
            td { (row.renderer) }
            td.n { (format!("{:.2}", row.seconds)) }
            td { @for reason in &row.reasons { div { (reason) } } }
        }
    }
}

fn figure(it: &Difference) -> maud::Markup {
    let [width, height] = it.size;
    html! {
        figure {
            figcaption { (it.title) }
            img src=(address(&it.png)) width=(width) height=(height) alt=(it.title);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_escapes_what_it_shows_and_has_its_pictures() {
        let row = CheckRow {
            trace: "<a>.gapii".to_owned(),
            verdict: "different".to_owned(),
            is_good: false,
            renderer: "r".to_owned(),
            seconds: 0.5,
            reasons: vec!["frame 3: <expected>".to_owned()],
            differences: vec![Difference {
                title: "frame 3".to_owned(),
                size: [4, 2],
                png: b"png".to_vec(),
            }],
        };
        let good = CheckRow { is_good: true, differences: Vec::new(), ..row.clone() };
        let page = CheckPage {
            name: "list".to_owned(),
            rows: vec![row, good],
            made_by: "gapii-ctl".to_owned(),
        };
        let html = page.html();
        assert!(html.contains("&lt;a&gt;.gapii") && !html.contains("<a>"), "{html}");
        assert!(html.contains("frame 3: &lt;expected&gt;"), "{html}");
        assert!(html.contains("1 of 2 traces as expected"), "{html}");
        assert_eq!(html.matches(&address(b"png")).count(), 1);
        assert!(html.contains(POLICY) && !html.contains("<script"), "{html}");
    }
}
