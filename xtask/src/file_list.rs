//! `docs/files/`: a page per top-level folder, with the first paragraph of each source file's own documentation. A Rust
//! file that does not begin with `//!` is an error; generated files are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::step;

/// Folder of the pages, from the repository's root.
const PAGES: &str = "docs/files";
/// Extensions of the files that are listed.
const EXTENSIONS: [&str; 4] = ["rs", "api", "c", "h"];

/// Returns the pages by their paths from the repository's `root`.
///
/// # Errors
///
/// If a file cannot be read, or a Rust file has no documentation.
pub fn generate(root: &Path) -> anyhow::Result<BTreeMap<PathBuf, String>> {
    let mut folders: BTreeMap<String, BTreeMap<PathBuf, String>> = BTreeMap::new();
    for file in files(root)? {
        let Some(top) = file.components().next() else { continue };
        let text = std::fs::read_to_string(root.join(&file))
            .with_context(|| format!("can't read {}", file.display()))?;
        let about = match about(&text) {
            None if file.extension().is_some_and(|it| it == "rs") => {
                bail!("{} does not begin with its documentation (`//!`)", file.display());
            }
            about => about.unwrap_or_default(),
        };
        let top = top.as_os_str().to_string_lossy().into_owned();
        folders.entry(top).or_default().insert(file, about);
    }
    let page = |(top, files): (&String, &BTreeMap<_, _>)| {
        (Path::new(PAGES).join(top).with_extension("md"), page(top, files))
    };
    Ok(folders.iter().map(page).collect())
}

/// Returns the paths of pages below `root` that `cargo xtask generate` would write or remove.
///
/// # Errors
///
/// As [`generate`].
pub fn outdated(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let pages = generate(root)?;
    Ok([stale(root, &pages), unwanted(root, &pages)].concat())
}

/// Returns the pages below `root` that `pages` does not have: those of folders that are gone.
pub fn unwanted(root: &Path, pages: &BTreeMap<PathBuf, String>) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(root.join(PAGES)).into_iter().flatten().flatten();
    let paths = listed.map(|entry| Path::new(PAGES).join(entry.file_name()));
    paths.filter(|path| !pages.contains_key(path)).collect()
}

/// Returns the paths of `pages` whose file below `root` is missing or has another content.
fn stale(root: &Path, pages: &BTreeMap<PathBuf, String>) -> Vec<PathBuf> {
    let is_fresh = |(path, text): &(&PathBuf, &String)| {
        std::fs::read_to_string(root.join(path)).is_ok_and(|found| found == **text)
    };
    let stale = pages.iter().filter(|page| !is_fresh(page));
    stale.map(|(path, _)| path.clone()).collect()
}

/// Writes the stale ones of `pages`, and returns their paths.
pub fn write(root: &Path, pages: &BTreeMap<PathBuf, String>) -> anyhow::Result<Vec<PathBuf>> {
    let stale = stale(root, pages);
    for path in &stale {
        let file = root.join(path);
        std::fs::create_dir_all(file.parent().unwrap_or(root))
            .and_then(|()| std::fs::write(&file, &pages[path]))
            .with_context(|| format!("can't write {}", file.display()))?;
    }
    Ok(stale)
}

/// The hand-written source files that git knows or would add.
fn files(root: &Path) -> anyhow::Result<BTreeSet<PathBuf>> {
    let list = ["ls-files", "--cached", "--others", "--exclude-standard"];
    let listed = step::output(step::command("git", &list).current_dir(root))?;
    let is_source = |path: &PathBuf| {
        path.extension().and_then(|it| it.to_str()).is_some_and(|it| EXTENSIONS.contains(&it))
            && path.components().all(|part| part.as_os_str() != "generated")
            && root.join(path).exists()
    };
    Ok(listed.lines().map(PathBuf::from).filter(is_source).collect())
}

/// The first paragraph of a file's documentation, on one line: of its `//!` lines, or of the comment that a C file
/// begins with.
fn about(text: &str) -> Option<String> {
    let is_c = text.starts_with("/*");
    if !is_c && !text.starts_with("//!") {
        return None;
    }
    let mut words = String::new();
    for line in text.lines() {
        let end = is_c && line.contains("*/");
        let line = match is_c {
            true => {
                let line = line.trim().trim_start_matches("/*").trim_end_matches("*/");
                line.trim_start_matches('*').trim()
            }
            false => match line.strip_prefix("//!") {
                Some(line) => line.trim(),
                None => break,
            },
        };
        if line.is_empty() && !words.is_empty() {
            break;
        }
        if !line.is_empty() {
            let gap = if words.is_empty() { "" } else { " " };
            write!(words, "{gap}{line}").ok()?;
        }
        if end {
            break;
        }
    }
    (!words.is_empty()).then(|| without_links(&words))
}

/// The text with the links of rustdoc, `[text]` and `[text](target)`, replaced by their texts.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("[`") {
        let Some((name, after)) = link.split_once("`]") else { break };
        let target = after.strip_prefix('(').and_then(|target| target.split_once(')'));
        rest = target.map_or(after, |(_, after)| after);
        let _ = write!(plain, "{before}`{name}`");
    }
    plain + rest
}

fn page(top: &str, files: &BTreeMap<PathBuf, String>) -> String {
    let mut page = format!(
        "# Files of {top}/\n\nGenerated by `cargo xtask generate` from the first paragraph of each file's documentation; do not edit.\n"
    );
    let mut folders: BTreeMap<&Path, Vec<(&Path, &str)>> = BTreeMap::new();
    for (file, about) in files {
        folders.entry(file.parent().unwrap_or(file)).or_default().push((file, about));
    }
    for (folder, files) in folders {
        let _ = write!(page, "\n## {}/\n\n", folder.display());
        for (file, about) in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let gap = if about.is_empty() { "" } else { ": " };
            let _ = writeln!(page, "- **{name}**{gap}{about}");
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_paragraph_is_put_on_one_line() {
        let rust = "//! Rings in\n//! shared memory.\n//!\n//! More.\nuse core::mem;\n";
        assert_eq!(about(rust).as_deref(), Some("Rings in shared memory."));
        assert_eq!(about("/* A program. */\nint a;\n").as_deref(), Some("A program."));
        let c = "/*\n * A program\n * of two lines.\n *\n * More.\n */\n";
        assert_eq!(about(c).as_deref(), Some("A program of two lines."));
        assert_eq!(about("/* Two\n * lines. */\nint a;\n").as_deref(), Some("Two lines."));
    }

    #[test]
    fn links_of_rustdoc_become_plain_text() {
        let text = "Ends [`Epoch`], see [`crate::trampoline`](crate::trampoline) and a[0].";
        assert_eq!(without_links(text), "Ends `Epoch`, see `crate::trampoline` and a[0].");
        assert_eq!(without_links("[`open"), "[`open");
    }

    #[test]
    fn file_without_documentation_is_an_error() {
        assert_eq!(about("use core::mem;\n"), None);
        assert_eq!(about(""), None);
        assert_eq!(about("//!\nuse core::mem;\n"), None);
    }

    #[test]
    fn page_has_a_heading_per_folder_and_a_line_per_file() {
        let files = [("a/src/b.rs", "One."), ("a/src/c/d.rs", "Two."), ("a/src/e.rs", "Three.")];
        let files =
            files.iter().map(|(path, about)| (PathBuf::from(path), (*about).to_owned())).collect();
        let page = page("a", &files);
        let lines: Vec<_> = page.lines().skip(4).collect();
        let expected = [
            "## a/src/",
            "",
            "- **b.rs**: One.",
            "- **e.rs**: Three.",
            "",
            "## a/src/c/",
            "",
            "- **d.rs**: Two.",
        ];
        assert_eq!(lines, expected);
    }
}
