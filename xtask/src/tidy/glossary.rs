//! Rule: the glossary has every term that a listed public type is named after.
//!
//! `xtask/tidy/glossary.txt` lists types with their terms: `Type: term`.

use std::collections::BTreeSet;

/// Terms of the glossary: the words in bold at the start of its rows; a row may have several.
pub fn terms(glossary: &str) -> BTreeSet<String> {
    let rows = glossary.lines().filter_map(|line| line.strip_prefix("| **")?.split("**").next());
    rows.flat_map(|row| row.split(',')).map(|term| term.trim().to_lowercase()).collect()
}

/// Findings for listed types that are no public types, and for terms that the glossary lacks.
pub fn missing(list: &str, types: &BTreeSet<String>, terms: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    for (name, term) in super::ratchet::entries(list).filter_map(|line| line.split_once(':')) {
        let (name, term) = (name.trim(), term.trim());
        if !types.contains(name) {
            found.push(format!("xtask/tidy/glossary.txt: no public type is named {name}"));
        }
        if !terms.contains(term) {
            found.push(format!("docs/glossary.md: {term} is missing, after which {name} is named"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn term_without_a_row_and_type_that_is_gone_are_found() {
        let terms = terms("| word | meaning |\n| **ring** | x |\n| **enter, leave** | y |\n");
        let types = BTreeSet::from(["Ring".to_owned(), "Blob".to_owned()]);
        let missing = |list| missing(list, &types, &terms);
        assert!(missing("# why\nRing: ring\nBlob: leave").is_empty());
        assert_eq!(missing("Blob: blob").len(), 1);
        assert_eq!(missing("Gone: ring").len(), 1);
    }
}
