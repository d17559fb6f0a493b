//! Rule: docs/operation.md lists the environment variables that the project reads, and no others.
//!
//! Sees a variable where its name is a whole string literal that begins with `GAPII_` or `GAPIID`, or the first argument of a
//! function in [`READERS`], or clap's `env =`. `temp_dir` reads `TMPDIR`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::tokens::{Kind, Token};

const PREFIXES: [&str; 2] = ["GAPII_", "GAPIID"];
/// Functions and closures that read the variable which their first argument names.
const READERS: [&str; 4] = ["var", "var_os", "variable", "absolute"];
/// The table follows this title.
const TITLE: &str = "## Environment variables";

/// Names of variables in a file, with the line at which each is first seen.
pub type Names = BTreeMap<String, usize>;

/// Returns the variables that a file's code names.
pub fn named(tokens: &[Token<'_>]) -> Names {
    let mut names = Names::new();
    for (at, token) in tokens.iter().enumerate() {
        let before = |back: usize, text: &str| at >= back && tokens[at - back].is(text);
        let is_asked = before(1, "(") && READERS.iter().any(|reader| before(2, reader))
            || before(1, "=") && before(2, "env");
        let is_ours = PREFIXES.iter().any(|prefix| token.text.starts_with(prefix));
        if token.kind == Kind::Text && is_name(token.text) && (is_asked || is_ours) {
            names.entry(token.text.to_owned()).or_insert(token.line);
        }
        if token.is("temp_dir") {
            names.entry("TMPDIR".to_owned()).or_insert(token.line);
        }
    }
    names
}

/// Returns the variables in the first column of the table below [`TITLE`]. `None` without a title.
pub fn listed(document: &str) -> Option<BTreeSet<String>> {
    let (_, section) = document.split_once(TITLE)?;
    let section = section.split("\n## ").next().unwrap_or_default();
    let first_columns =
        section.lines().filter_map(|line| line.strip_prefix("| ")?.split('|').next());
    let names = first_columns.flat_map(|column| column.split('`')).filter(|word| is_name(word));
    Some(names.map(str::to_owned).collect())
}

/// Returns findings for variables that code names and the document lacks, and for those that only the document has.
/// `texts` are all string literals of the project's code.
pub fn compare(
    named: &BTreeMap<PathBuf, Names>,
    listed: &BTreeSet<String>,
    texts: &BTreeSet<String>,
    document: &Path,
) -> Vec<String> {
    let document = document.display();
    let mut found = Vec::new();
    for (path, names) in named {
        for (name, line) in names.iter().filter(|(name, _)| !listed.contains(*name)) {
            let path = path.display();
            found.push(format!("{path}:{line}: {name} is missing in the table of {document}"));
        }
    }
    let is_read =
        |name: &str| texts.contains(name) || named.values().any(|names| names.contains_key(name));
    let unread = listed.iter().filter(|name| !is_read(name));
    found.extend(unread.map(|name| format!("{document}: no code reads {name}")));
    found
}

fn is_name(word: &str) -> bool {
    let fits = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    !word.is_empty() && word.chars().all(fits) && !word.ends_with('_')
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    #[test]
    fn variable_is_seen_by_its_prefix_or_by_its_reader() {
        let check = |code: &str, expected: &[&str]| {
            let names: Vec<_> = named(&tokens(code)).into_keys().collect();
            assert_eq!(names, expected, "{code}");
        };
        check("path(\"GAPII_SOCKET\")", &["GAPII_SOCKET"]);
        check("std::env::var_os(\"HOME\")", &["HOME"]);
        check("#[arg(long, env = \"LOG\")]", &["LOG"]);
        check("std::env::temp_dir()", &["TMPDIR"]);
        check("other(\"HOME\"); // var(\"NOT_THIS\")", &[]);
        check("let magic = b\"GAPIIAPP\"; let prefix = \"GAPII_\"; f(\"GAPII_PID is 3\");", &[]);
    }

    #[test]
    fn variable_on_one_side_alone_is_found() {
        let document = "# x\n\n## Environment variables\n\n| variable | y |\n|---|---|\n\
                        | `GAPII_A`, `B` | `C` |\n\n## Else\n\n| `D` | |\n";
        let listed = listed(document).unwrap();
        assert_eq!(listed, BTreeSet::from(["B".to_owned(), "GAPII_A".to_owned()]));
        let named = |name: &str| {
            BTreeMap::from([(PathBuf::from("a.rs"), Names::from([(name.to_owned(), 3)]))])
        };
        let texts = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let document = Path::new("d.md");
        let found = |name, names: &[&str]| compare(&named(name), &listed, &texts(names), document);
        assert!(found("B", &["GAPII_A", "B"]).is_empty());
        assert_eq!(found("B", &["B"]), ["d.md: no code reads GAPII_A"]);
        let expected = "a.rs:3: GAPII_C is missing in the table of d.md";
        assert_eq!(found("GAPII_C", &["GAPII_A", "B", "GAPII_C"]), [expected]);
        assert!(super::listed("# none").is_none());
    }
}
