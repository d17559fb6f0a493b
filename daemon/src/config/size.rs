//! Sizes on the command line and in configuration files: bytes, or with a suffix K, M or G (either case) for 2^10, 2^20
//! or 2^30. A product above 64 bits becomes the largest number; text that is not such a number is refused.

use anyhow::Context;

/// Parses a number of bytes. A suffix K, M or G multiplies it by 2^10, 2^20 or 2^30.
pub fn parse_size(text: &str) -> anyhow::Result<u64> {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (&text[..text.len() - 1], 1 << 10),
        Some(b'M' | b'm') => (&text[..text.len() - 1], 1 << 20),
        Some(b'G' | b'g') => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    let number: u64 = digits.parse().with_context(|| format!("{text:?} is not a size"))?;
    Ok(number.saturating_mul(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_is_a_number_with_a_unit_or_without() {
        let check = |text: &str, expected: Option<u64>| {
            assert_eq!(parse_size(text).ok(), expected, "{text}");
        };
        check("0", Some(0));
        check("3k", Some(3 << 10));
        check("256M", Some(256 << 20));
        check("2G", Some(2 << 30));
        check("99999999999G", Some(u64::MAX));
        check("1T", None);
        check("G", None);
    }
}
