//! Rule: the arrows between crates are those of the list in `docs/architecture.md`.

use std::collections::{BTreeMap, BTreeSet};

/// Crates by folder, with the folders of the crates that each depends on.
pub type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Reads the fenced block `arrows` of a document; None where it has none.
pub fn listed(document: &str) -> Option<Arrows> {
    let (_, rest) = document.split_once("```arrows\n")?;
    let (block, _) = rest.split_once("```")?;
    let arrow = |line: &str| {
        let (from, to) = line.split_once("->")?;
        let to = to.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned);
        Some((from.trim().to_owned(), to.collect()))
    };
    Some(block.lines().filter_map(arrow).collect())
}

/// Returns findings for arrows that only the document or only the manifests have.
pub fn compare(built: &Arrows, listed: &Arrows) -> Vec<String> {
    let mut found = Vec::new();
    for name in built.keys().chain(listed.keys()).collect::<BTreeSet<_>>() {
        match (built.get(name), listed.get(name)) {
            (Some(_), None) => {
                found.push(format!("docs/architecture.md does not list the crate {name}"))
            }
            (None, _) => {
                found.push(format!("docs/architecture.md lists {name}, which is no crate"))
            }
            (Some(built), Some(listed)) => {
                let new = built.difference(listed);
                found
                    .extend(new.map(|to| format!("{name} -> {to} is not in docs/architecture.md")));
                let gone = listed.difference(built);
                found.extend(
                    gone.map(|to| format!("{name} -> {to} is only in docs/architecture.md")),
                );
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "text\n```arrows\na -> b, c\nb ->\nc -> b\n```\nmore\n";

    fn built(arrows: &str) -> Arrows {
        listed(&format!("```arrows\n{arrows}```")).unwrap()
    }

    #[test]
    fn arrows_of_a_document_are_read() {
        let arrows = listed(DOCUMENT).unwrap();
        assert_eq!(arrows["a"], BTreeSet::from(["b".to_owned(), "c".to_owned()]));
        assert!(arrows["b"].is_empty());
        assert!(listed("none").is_none());
    }

    #[test]
    fn arrow_that_only_one_has_is_found() {
        let check = |arrows: &str, expected: &[&str]| {
            assert_eq!(compare(&built(arrows), &listed(DOCUMENT).unwrap()), expected);
        };
        check("a -> b, c\nb ->\nc -> b\n", &[]);
        check("a -> b, c\nb -> c\nc -> b\n", &["b -> c is not in docs/architecture.md"]);
        check("a -> b\nb ->\nc -> b\n", &["a -> c is only in docs/architecture.md"]);
        check(
            "a -> b, c\nb ->\nc -> b\nd ->\n",
            &["docs/architecture.md does not list the crate d"],
        );
        check("a -> b, c\nb ->\n", &["docs/architecture.md lists c, which is no crate"]);
    }
}
