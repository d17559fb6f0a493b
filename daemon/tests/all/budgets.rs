//! The table of budgets in `docs/threat-model.md` is complete: each row has figures that a daemon serves, options that it has
//! and tests that exist, and each limit among the metrics has a row.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::metrics;

/// A row of the table.
struct Row {
    what: String,
    /// Names in backticks in the other columns.
    options: Vec<String>,
    figures: Vec<String>,
    tests: Vec<String>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn rows() -> Vec<Row> {
    let text = fs::read_to_string(root().join("docs/threat-model.md")).unwrap();
    let (_, section) = text.split_once("\n## Budgets\n").unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(1);
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    rows.map(|line| {
        let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [what, limit, figures, tests] = cells[..] else { panic!("four columns: {line}") };
        assert!(!limit.is_empty(), "{what} has no limit");
        Row {
            what: what.to_owned(),
            options: names(limit),
            figures: names(figures),
            tests: names(tests),
        }
    })
    .collect()
}

/// Adds the names of the tests in the sources below a folder.
fn add_tests(folder: &Path, known: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && !["target", ".git"].iter().any(|name| path.ends_with(name)) {
            add_tests(&path, known);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let mut is_test = false;
            for line in text.lines().map(str::trim) {
                is_test |= line.starts_with("#[test") || line.starts_with("#[tokio::test");
                let name = line.split_once("fn ").and_then(|(_, after)| after.split_once('('));
                if let Some((name, _)) = name.filter(|_| std::mem::take(&mut is_test)) {
                    known.insert(name.to_owned());
                }
            }
        }
    }
}

#[test]
fn each_budget_has_figures_options_and_tests() {
    let (_daemon, place) = metrics::daemon();
    let figures: BTreeSet<String> = metrics::names(&place);
    let printed = Command::new(env!("CARGO_BIN_EXE_gapiid"))
        .args(["--config", "/dev/null", "--check-config"])
        .output()
        .unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    let options: BTreeSet<_> = printed
        .lines()
        .filter_map(|line| line.trim_start_matches("# ").split_once(" = "))
        .collect();
    let is_option = |name: &str| options.iter().any(|(option, _)| *option == name);
    let mut known = BTreeSet::new();
    for folder in ["daemon", "protocol", "remote", "ringbuf", "shim", "tests"] {
        add_tests(&root().join(folder), &mut known);
    }
    let rows = rows();
    assert!(rows.len() > 20, "{} rows", rows.len());
    for Row { what, options, figures: shown, tests } in &rows {
        // Options of `gapii-ctl` begin with dashes, and are its own.
        let mut own = options.iter().filter(|name| !name.starts_with("--") && *name != "start");
        assert!(own.all(|name| is_option(name)), "{what}: {options:?} of {printed}");
        assert!(!shown.is_empty() && !tests.is_empty(), "{what} has no figure or no test");
        for name in shown {
            assert!(figures.contains(name), "{what}: the daemon serves no {name}");
        }
        for name in tests {
            assert!(known.contains(name), "{what}: there is no test {name}");
        }
    }
    let limits = figures.iter().filter(|name| name.ends_with("_limit"));
    for limit in limits {
        let has_row = rows.iter().any(|row| row.figures.contains(limit));
        assert!(has_row, "{limit} has no row in docs/threat-model.md");
    }
}
