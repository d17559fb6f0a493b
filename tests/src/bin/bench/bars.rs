//! Bars of speed, and whether the measured figures reach them.

use std::borrow::Cow;

/// A bar and the measured figure.
pub struct Bar {
    pub what: Cow<'static, str>,
    pub measured: f64,
    pub limit: f64,
    /// The bar is a minimum, not a maximum.
    pub least: bool,
}

impl Bar {
    pub fn reached(&self) -> bool {
        if self.least { self.measured >= self.limit } else { self.measured <= self.limit }
    }
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
