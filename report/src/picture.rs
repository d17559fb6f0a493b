//! Pictures inside of the page: base64 (RFC 4648, 4) of a file's bytes in a `data:` URL.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Returns the address of a PNG picture that is part of the page.
pub fn address(png: &[u8]) -> String {
    const BEGIN: &str = "data:image/png;base64,";
    let mut address = String::with_capacity(BEGIN.len() + png.len().div_ceil(3) * 4);
    address.push_str(BEGIN);
    for chunk in png.chunks(3) {
        let mut bytes = [0; 4];
        bytes[1..=chunk.len()].copy_from_slice(chunk);
        let word = u32::from_be_bytes(bytes);
        for at in 0..4 {
            match at <= chunk.len() {
                true => address.push(LETTERS[(word >> (18 - 6 * at) & 63) as usize].into()),
                false => address.push('='),
            }
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 4648, 10.
    #[test]
    fn bytes_are_base64() {
        for (bytes, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(address(bytes.as_bytes()), format!("data:image/png;base64,{expected}"));
        }
        assert!(address(&[0xFF, 0xFE, 0xFD]).ends_with(",//79"));
    }
}
