//! Rule: links, files and tests that a document names exist. Checked are relative links with their headings, and in
//! backticks file names, names of three underscores or more, and `cargo test` commands; in fenced blocks only the
//! commands.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Names that documents may use.
pub struct Known {
    /// All files of the repository, from its root.
    pub files: BTreeSet<PathBuf>,
    /// All words of its sources.
    pub words: BTreeSet<String>,
    /// Test targets, `PACKAGE TARGET`.
    pub test_targets: BTreeSet<String>,
    /// Packages.
    pub packages: BTreeSet<String>,
}

/// Extensions of files of the repository; others (`.xml`, `.gapii`) name files of users.
const EXTENSIONS: &[&str] = &["rs", "md", "api", "c", "h", "service", "socket"];

/// Returns a finding for each name that `text`, the document at `path`, uses and that does not exist; `read`
/// returns another document's text.
pub fn dead(
    path: &Path,
    text: &str,
    known: &Known,
    read: &impl Fn(&Path) -> Option<String>,
) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_fenced = false;
    for (at, line) in text.lines().enumerate() {
        let mut report =
            |what: String| found.push(format!("{}:{}: {what}", path.display(), at + 1));
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
            continue;
        }
        if is_fenced {
            dead_command(line, known).into_iter().for_each(&mut report);
            continue;
        }
        for link in between(line, "](", ")") {
            if let Some(what) = dead_link(path, text, link, known, read) {
                report(what);
            }
        }
        for name in backticked(line) {
            dead_command(name, known).into_iter().for_each(&mut report);
            if is_dead_file(path, name, known) {
                report(format!("no file {name}"));
            }
            if is_dead_word(name, known) {
                report(format!("nothing is named {name}"));
            }
        }
    }
    found
}

fn dead_link(
    path: &Path,
    text: &str,
    link: &str,
    known: &Known,
    read: &impl Fn(&Path) -> Option<String>,
) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, heading) = link.split_once('#').map_or((link, None), |(f, h)| (f, Some(h)));
    let target = normal(&path.parent()?.join(file));
    let is_file = file.is_empty() || known.files.contains(&target);
    if !is_file && !known.files.iter().any(|other| other.starts_with(&target)) {
        return Some(format!("link to {link}: no such file"));
    }
    let heading = heading?;
    let target = if file.is_empty() { text.to_owned() } else { read(&target)? };
    let headings = target.lines().filter(|line| line.starts_with('#'));
    let is_there = headings.map(slug).any(|slug| slug == heading);
    (!is_there).then(|| format!("link to {link}: no such heading"))
}

/// The name by which links refer to a heading.
fn slug(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn is_dead_file(document: &Path, name: &str, known: &Known) -> bool {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
    let Some(extension) = Path::new(name).extension().and_then(|extension| extension.to_str())
    else {
        return false;
    };
    let stem = name.trim_end_matches(extension).trim_end_matches('.');
    if !is_plain || !EXTENSIONS.contains(&extension) || stem.is_empty() || name.starts_with('/') {
        return false;
    }
    let beside = normal(&document.parent().unwrap_or(Path::new("")).join(name));
    !known.files.contains(&beside) && !known.files.iter().any(|file| file.ends_with(name))
}

fn is_dead_word(name: &str, known: &Known) -> bool {
    let last = name.rsplit("::").next().unwrap_or(name);
    let is_word = last.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    is_word && last.trim_matches('_').matches('_').count() >= 3 && !known.words.contains(last)
}

/// Findings for a `cargo` command that names a package or a test target.
fn dead_command(command: &str, known: &Known) -> Vec<String> {
    let mut found = Vec::new();
    let words: Vec<_> = command.split_whitespace().collect();
    if !words.contains(&"cargo") {
        return found;
    }
    let mut package = None;
    for pair in words.windows(2) {
        let value = pair[1].trim_matches('\'');
        match pair[0] {
            "-p" => {
                package = Some(value);
                if !known.packages.contains(value) {
                    found.push(format!("no package {value}"));
                }
            }
            "--test" if !value.contains('*') => {
                let is_there = match package {
                    Some(package) => known.test_targets.contains(&format!("{package} {value}")),
                    None => known.test_targets.iter().any(|t| t.ends_with(&format!(" {value}"))),
                };
                if !is_there {
                    found.push(format!("no test target {value}"));
                }
            }
            _ => {}
        }
    }
    found
}

/// `a/../b` and `./b` as `b`.
fn normal(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                found.pop();
            }
            Component::CurDir => {}
            other => found.push(other),
        }
    }
    found
}

fn between<'a>(line: &'a str, open: &str, close: &str) -> Vec<&'a str> {
    line.split(open).skip(1).filter_map(|rest| rest.split(close).next()).collect()
}

/// Pieces of a line between single backticks.
fn backticked(line: &str) -> Vec<&str> {
    let pieces: Vec<_> = line.split('`').collect();
    // The last piece of an odd number is not closed on this line.
    let closed = pieces.len() - 1 + pieces.len() % 2;
    pieces[..closed].iter().skip(1).step_by(2).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let known = Known {
            files: ["docs/a.md", "docs/b.md", "ringbuf/src/layout.rs"]
                .iter()
                .map(PathBuf::from)
                .collect(),
            words: set(&["full_ring_blocks_and_counts"]),
            test_targets: set(&["gapii-ringbuf all"]),
            packages: set(&["gapii-ringbuf"]),
        };
        let read =
            |path: &Path| (path == Path::new("docs/b.md")).then(|| "# Of b, all\n".to_owned());
        dead(Path::new("docs/a.md"), text, &known, &read)
    }

    #[test]
    fn dead_references_are_found() {
        let check =
            |text: &str, what: &str| assert_eq!(found(text), [format!("docs/a.md:1: {what}")]);
        check("see [c](c.md)", "link to c.md: no such file");
        check("see [b](b.md#of-c)", "link to b.md#of-c: no such heading");
        check("in `ringbuf/src/gone.rs`", "no file ringbuf/src/gone.rs");
        check("in `gone.rs`", "no file gone.rs");
        check("by `empty_ring_blocks_and_counts`", "nothing is named empty_ring_blocks_and_counts");
        check("`cargo test -p gapii-ring`", "no package gapii-ring");
        check("run `cargo test -p gapii-ringbuf --test ring`", "no test target ring");
    }

    #[test]
    fn commands_in_fenced_blocks_are_checked() {
        assert_eq!(found("```\n$ cargo test -p gone\n[x](gone.md)\n```").len(), 1);
    }

    #[test]
    fn references_to_what_is_there_are_not_found() {
        let check = |text: &str| assert_eq!(found(text), [""; 0], "{text}");
        check(
            "see [b](b.md), [b](b.md#of-b-all), [r](../ringbuf/src/), [w](https://example.org/x.md)",
        );
        check("# Own\nsee [own](#own)");
        check(
            "in `layout.rs`, `src/layout.rs`, `ringbuf/src/layout.rs`, `a.md`, `x.gapii`, `*.rs`",
        );
        check("by `full_ring_blocks_and_counts` and `ring::full_ring_blocks_and_counts`, `a_b_c`");
        check("`cargo test -p gapii-ringbuf --test all`");
    }
}
