//! Bars of speed, and whether the measured figures reach them.

use std::borrow::Cow;

use serde_json::{Value, json};

/// A bar and the measured figure.
pub struct Bar {
    pub what: Cow<'static, str>,
    pub measured: f64,
    pub limit: f64,
    /// The bar is a minimum, not a maximum.
    pub least: bool,
}

/// A line of the table of bars.
pub struct Row {
    pub what: String,
    /// The figure, or why there is none.
    pub measured: Result<f64, String>,
    pub limit: Limit,
    /// What the figure is of, such as the name of the slowest scene; may be empty.
    pub detail: String,
}

/// The values that a figure may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    AtMost(f64),
    AtLeast(f64),
    /// Within so many percent of a figure.
    Near(f64, f64),
    /// Anything: the figure is there to compare others with.
    Any,
}

impl Bar {
    pub fn reached(&self) -> bool {
        if self.least { self.measured >= self.limit } else { self.measured <= self.limit }
    }
}

impl From<Bar> for Row {
    fn from(bar: Bar) -> Self {
        let limit = if bar.least { Limit::AtLeast(bar.limit) } else { Limit::AtMost(bar.limit) };
        Self::measured(bar.what, bar.measured, limit)
    }
}

impl Row {
    /// A figure that was measured. A figure that is no number was not.
    pub fn measured(what: impl Into<String>, measured: f64, limit: Limit) -> Self {
        let measured = if measured.is_nan() { Err("no figure".to_owned()) } else { Ok(measured) };
        Self { what: what.into(), measured, limit, detail: String::new() }
    }

    pub fn with_detail(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }

    /// A figure that was not measured, and why.
    pub fn missing(what: impl Into<String>, why: impl Into<String>, limit: Limit) -> Self {
        Self { what: what.into(), measured: Err(why.into()), limit, detail: String::new() }
    }

    /// `holds`, `misses`, `reported` for a figure without a bar, or why it was not measured.
    pub fn verdict(&self) -> Cow<'static, str> {
        match (&self.measured, self.limit) {
            (Err(why), _) => format!("not measured: {why}").into(),
            (Ok(_), Limit::Any) => "reported".into(),
            (Ok(figure), limit) => if limit.holds(*figure) { "holds" } else { "misses" }.into(),
        }
    }

    fn as_json(&self) -> Value {
        json!({
            "what": self.what,
            "measured": self.measured.as_ref().ok(),
            "bar": self.limit.as_json(),
            "verdict": self.verdict(),
            "detail": self.detail,
        })
    }
}

impl Limit {
    fn holds(self, figure: f64) -> bool {
        match self {
            Limit::AtMost(most) => figure <= most,
            Limit::AtLeast(least) => figure >= least,
            Limit::Near(near, percent) => (figure - near).abs() <= near * percent / 100.0,
            Limit::Any => true,
        }
    }

    fn describe(self) -> String {
        match self {
            Limit::AtMost(most) => format!("≤ {most}"),
            Limit::AtLeast(least) => format!("≥ {least}"),
            Limit::Near(near, percent) => format!("{near} ± {percent} %"),
            Limit::Any => String::new(),
        }
    }

    fn as_json(self) -> Value {
        match self {
            Limit::AtMost(most) => json!({ "most": most }),
            Limit::AtLeast(least) => json!({ "least": least }),
            Limit::Near(near, percent) => json!({ "near": near, "percent": percent }),
            Limit::Any => Value::Null,
        }
    }
}

/// Prints the table of bars.
pub fn print_rows(rows: &[Row]) {
    println!("{:64}{:>10}  {:18}verdict", "what", "measured", "bar");
    for row in rows {
        let figure = row.measured.as_ref().map_or("-".to_owned(), |figure| format!("{figure:.2}"));
        let detail =
            if row.detail.is_empty() { String::new() } else { format!(": {}", row.detail) };
        let (what, limit, verdict) = (&row.what, row.limit.describe(), row.verdict());
        println!("{what:64}{figure:>10}  {limit:18}{verdict}{detail}");
    }
}

pub fn rows_as_json(rows: &[Row]) -> Value {
    rows.iter().map(Row::as_json).collect()
}

/// Returns the verdict on a figure whose bar is `most`.
pub fn verdict(measured: f64, most: f64) -> &'static str {
    if measured <= most { "ok" } else { "OVER" }
}

pub fn print_bars(bars: &[Bar]) {
    for bar in bars.iter().filter(|bar| !bar.measured.is_nan()) {
        let Bar { what, measured, limit, least } = bar;
        let (sign, verdict) =
            (if *least { "≥" } else { "≤" }, if bar.reached() { "reached" } else { "MISSED" });
        println!("{what:48}{measured:8.2}  {sign} {limit:4}  {verdict}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_on_either_side_of_a_bar_gets_its_verdict() {
        let check = |limit, figure, expected: &str| {
            assert_eq!(Row::measured("x", figure, limit).verdict(), expected, "{limit:?} {figure}");
        };
        check(Limit::AtMost(4.0), 4.0, "holds");
        check(Limit::AtMost(4.0), 4.01, "misses");
        check(Limit::AtLeast(60.0), 60.0, "holds");
        check(Limit::AtLeast(60.0), 59.9, "misses");
        check(Limit::Near(100.0, 3.0), 103.0, "holds");
        check(Limit::Near(100.0, 3.0), 97.0, "holds");
        check(Limit::Near(100.0, 3.0), 103.1, "misses");
        check(Limit::Near(100.0, 3.0), 96.9, "misses");
        check(Limit::Any, 1e9, "reported");
    }

    #[test]
    fn row_without_a_figure_says_why_and_neither_holds_nor_misses() {
        let missing = Row::missing("x", "apitrace is missing", Limit::AtMost(1.0));
        assert_eq!(missing.verdict(), "not measured: apitrace is missing");
        assert_eq!(
            Row::measured("x", f64::NAN, Limit::AtLeast(1.0)).verdict(),
            "not measured: no figure"
        );
    }

    #[test]
    fn bar_becomes_a_row_with_the_same_limit() {
        let row = |least| Row::from(Bar { what: "x".into(), measured: 2.0, limit: 1.0, least });
        assert_eq!((row(true).limit, row(true).verdict()), (Limit::AtLeast(1.0), "holds".into()));
        assert_eq!((row(false).limit, row(false).verdict()), (Limit::AtMost(1.0), "misses".into()));
    }
}
