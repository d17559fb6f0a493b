//! Numbers as people read them: times, bytes and counts with separators.

/// Formats nanoseconds with a unit and one decimal.
pub fn time(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} µs", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.2} s", ns as f64 / 1e9),
    }
}

/// Formats bytes with a decimal unit.
pub fn bytes(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.2} GB", bytes as f64 / 1e9),
    }
}

/// Formats a count with a separator every three digits.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count with its noun.
pub fn counted(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", count(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units_and_separators() {
        assert_eq!([time(999), time(1_500), time(16_600_000)], ["999 ns", "1.5 µs", "16.6 ms"]);
        assert_eq!(time(2_000_000_000), "2.00 s");
        assert_eq!([bytes(5), bytes(1_500), bytes(2_000_000)], ["5 B", "1.5 kB", "2.0 MB"]);
        assert_eq!([count(1), count(123), count(12_345_678)], ["1", "123", "12,345,678"]);
        assert_eq!([counted(1, "frame"), counted(2, "frame")], ["1 frame", "2 frames"]);
    }
}
