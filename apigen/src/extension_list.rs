//! Lists of extensions: `apis/*-extensions.txt`.

use std::collections::BTreeSet;

/// Parses a list of extensions: one name per line, `#` begins a comment line.
pub fn extension_list(text: &str) -> BTreeSet<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}
