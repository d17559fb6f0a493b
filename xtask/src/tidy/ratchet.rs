//! Lists of today's exceptions, `xtask/tidy/*.txt`, that may only shrink: more places than a list allows are findings,
//! and so are fewer, until `--shrink` has written the list anew.
//!
//! A line of a counted list is a file and the number of its places that may break the rule.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Places that break a rule, by file: line number and message.
pub type Places = BTreeMap<PathBuf, Vec<(usize, String)>>;

/// Findings for files with more places than `allowed` says, and for numbers that are higher than need be.
pub fn compare(places: &Places, allowed: &str, list: &str) -> Vec<String> {
    let allowed = counts(allowed);
    let mut found = Vec::new();
    for (file, places) in places {
        let may = allowed.get(file).copied().unwrap_or(0);
        if places.len() > may {
            if may > 0 {
                found.push(format!(
                    "{}: {} places, {list} allows {may}:",
                    file.display(),
                    places.len()
                ));
            }
            let place =
                |(line, what): &(usize, String)| format!("{}:{line}: {what}", file.display());
            found.extend(places.iter().map(place));
        }
    }
    for (file, may) in &allowed {
        let is = places.get(file).map_or(0, Vec::len);
        if is < *may {
            found.push(format!(
                "{list}: {} has {is} places, not {may}; run `cargo xtask tidy --shrink`",
                file.display()
            ));
        }
    }
    found
}

/// The list with each number no higher than today's.
pub fn shrunk(places: &Places, allowed: &str) -> String {
    let lines = counts(allowed).into_iter().filter_map(|(file, may)| {
        let number = may.min(places.get(&file).map_or(0, Vec::len));
        (number > 0).then(|| format!("{} {number}\n", file.display()))
    });
    header(allowed) + &lines.collect::<String>()
}

fn counts(list: &str) -> BTreeMap<PathBuf, usize> {
    let pairs = entries(list).filter_map(|line| line.split_once(' '));
    pairs.map(|(file, count)| (PathBuf::from(file), count.parse().unwrap_or(0))).collect()
}

/// Findings for circles of files that are not inside an allowed one, and for allowed ones that are too large.
pub fn compare_circles(
    circles: &[BTreeSet<PathBuf>],
    allowed: &str,
    list: &str,
    way_round: impl Fn(&BTreeSet<PathBuf>) -> Vec<PathBuf>,
) -> Vec<String> {
    let sets: Vec<BTreeSet<PathBuf>> = sets(allowed);
    let mut found = Vec::new();
    for circle in circles {
        if !sets.iter().any(|set| circle.is_subset(set)) {
            let way = way_round(circle);
            let names: Vec<_> =
                way.iter().chain(way.first()).map(|path| path.display().to_string()).collect();
            found.push(format!("files import each other: {}", names.join(" -> ")));
        }
    }
    for set in &sets {
        if !circles.contains(set) {
            let names: Vec<_> = set.iter().map(|path| path.display().to_string()).collect();
            found.push(format!(
                "{list}: no longer one circle: {}; run `cargo xtask tidy --shrink`",
                names.join(" ")
            ));
        }
    }
    found
}

/// Returns the list with today's circles in place of the allowed circles that contain them.
pub fn shrunk_circles(circles: &[BTreeSet<PathBuf>], allowed: &str) -> String {
    let sets = sets(allowed);
    let kept = circles.iter().filter(|circle| sets.iter().any(|set| circle.is_subset(set)));
    let line = |circle: &BTreeSet<PathBuf>| {
        let names: Vec<_> = circle.iter().map(|path| path.display().to_string()).collect();
        format!("{}\n", names.join(" "))
    };
    header(allowed) + &kept.map(line).collect::<String>()
}

fn sets(list: &str) -> Vec<BTreeSet<PathBuf>> {
    entries(list).map(|line| line.split(' ').map(PathBuf::from).collect()).collect()
}

/// Lines that are neither empty nor comments.
pub fn entries(list: &str) -> impl Iterator<Item = &str> {
    list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The comments at the start of a list.
fn header(list: &str) -> String {
    list.lines().take_while(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(file: &str, lines: &[usize]) -> Places {
        let places = lines.iter().map(|line| (*line, "wrong".to_owned())).collect();
        Places::from([(PathBuf::from(file), places)])
    }

    fn circle(files: &str) -> BTreeSet<PathBuf> {
        files.split(' ').map(PathBuf::from).collect()
    }

    #[test]
    fn more_places_than_allowed_are_found_with_their_lines() {
        assert_eq!(compare(&places("a.rs", &[3]), "", "list"), ["a.rs:3: wrong"]);
        assert_eq!(compare(&places("a.rs", &[3, 9]), "a.rs 1", "list").len(), 3);
        assert!(compare(&places("a.rs", &[3]), "# why\na.rs 1", "list").is_empty());
    }

    #[test]
    fn list_may_only_shrink() {
        let found = compare(&places("a.rs", &[3]), "a.rs 2\nb.rs 1", "list");
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(shrunk(&places("a.rs", &[3]), "# why\na.rs 2\nb.rs 1"), "# why\na.rs 1\n");
        assert_eq!(shrunk(&places("new.rs", &[3]), ""), "");
    }

    #[test]
    fn new_circle_is_found_and_an_allowed_one_may_only_shrink() {
        let way = |circle: &BTreeSet<PathBuf>| circle.iter().cloned().collect();
        let found = compare_circles(&[circle("a b")], "", "list", way);
        assert_eq!(found, ["files import each other: a -> b -> a"]);
        assert!(compare_circles(&[circle("a b")], "a b", "list", way).is_empty());
        assert_eq!(compare_circles(&[circle("a b")], "a b c", "list", way).len(), 1);
        assert_eq!(compare_circles(&[], "a b", "list", way).len(), 1);
        assert_eq!(shrunk_circles(&[circle("a b"), circle("x y")], "a b c"), "a b\n");
    }
}
