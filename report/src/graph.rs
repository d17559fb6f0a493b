//! A graph of a figure over the frames, as SVG: at most `COLUMNS_MAX` bars. A bar is the largest frame of those that fall
//! into its column, and links to that frame's row.

use maud::{Markup, html};

/// Most bars of a graph.
const COLUMNS_MAX: usize = 800;
/// Size of the drawing; the browser scales it.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 120.0;

/// A frame in a graph.
pub struct Bar {
    /// Position of the frame.
    pub value: u64,
    /// What is shown when the pointer is on the bar.
    pub title: String,
    /// The row of the frame, as the page names it; `None` if the page does not list the frame.
    pub row: Option<String>,
}

/// Returns the graph of `count` frames. `bar` returns the frame at a position, and `format` formats its value.
pub fn graph(
    title: &str,
    count: usize,
    value: impl Fn(usize) -> u64,
    bar: impl Fn(usize) -> Bar,
    format: impl Fn(u64) -> String,
) -> Markup {
    let columns = count.min(COLUMNS_MAX);
    let worst = (0..columns).filter_map(|column| {
        let edge = |column: usize| column * count / columns;
        (edge(column)..edge(column + 1)).max_by_key(|at| (value(*at), std::cmp::Reverse(*at)))
    });
    let bars: Vec<Bar> = worst.map(bar).collect();
    let largest = bars.iter().map(|bar| bar.value).max().unwrap_or(0);
    let step = WIDTH / columns.max(1) as f64;
    let shape = |at: usize, bar: &Bar| {
        let height = HEIGHT * bar.value as f64 / largest.max(1) as f64;
        let number = |number: f64| format!("{number:.1}");
        html! {
            rect x=(number(at as f64 * step)) y=(number(HEIGHT - height))
                width=(number((step * 0.9).max(0.6))) height=(number(height)) {
                title { (bar.title) }
            }
        }
    };
    html! {
        h3 { (title) " " span class="detail" { "up to " (format(largest)) } }
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(title)
            preserveAspectRatio="none" {
            @for (at, bar) in bars.iter().enumerate() {
                @match &bar.row {
                    Some(row) => a href={ "#" (row) } { (shape(at, bar)) },
                    None => (shape(at, bar)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_is_the_largest_of_its_frames_and_links_to_it() {
        let value = |at: usize| if at == 4_321 { 9_000 } else { 10 };
        let bar = |at: usize| Bar {
            value: value(at),
            title: format!("frame {at}"),
            row: Some(format!("f0-{at}")),
        };
        let text = graph("commands", 10_000, value, bar, |it| it.to_string()).into_string();
        assert_eq!(text.matches("<rect").count(), COLUMNS_MAX);
        assert!(text.contains("href=\"#f0-4321\""), "{text}");
        assert!(text.contains("up to 9000"), "{text}");
        assert_eq!(text.matches("height=\"120.0\"").count(), 1, "{text}");
        let few = graph("commands", 3, value, bar, |it| it.to_string()).into_string();
        assert_eq!(few.matches("<rect").count(), 3);
        let none = graph("commands", 0, value, bar, |it| it.to_string()).into_string();
        assert_eq!(none.matches("<rect").count(), 0);
    }
}
