//! Rule: no two files of a crate import each other in a circle. `mod x;` and `pub use` are no imports; items for tests
//! and generated files do not count.
//!
//! A file imports another if it names an item of the other's module by a path (`crate::`, `super::`, `self::`, or a
//! child module). A file that names a re-exported item imports the file that defines the item.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use super::tokens::{Kind, Token, attribute, balanced, tokens, without_tests};

/// Hand-written files of one crate, with the imports of each.
pub type Imports = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// The modules of a crate, by path from its root.
#[derive(Default)]
struct Crate {
    modules: BTreeMap<Vec<String>, Module>,
}

#[derive(Default)]
struct Module {
    file: PathBuf,
    /// Names that `pub use` makes in this module, with the paths that they stand for.
    exports: BTreeMap<String, Vec<String>>,
    /// Modules whose public items `pub use …::*` makes in this module.
    globs: Vec<Vec<String>>,
    /// Paths that the module names.
    uses: Vec<Vec<String>>,
}

/// Reads the crate whose root file is `root`; `read` returns a file's text, None for one that is missing.
pub fn imports(root: &Path, read: &impl Fn(&Path) -> Option<String>) -> Imports {
    let mut whole = Crate::default();
    whole.add(Vec::new(), root.to_path_buf(), true, read);
    whole.imports()
}

/// Sets of files that import each other, directly or by way of others of the set.
pub fn circles(imports: &Imports) -> Vec<BTreeSet<PathBuf>> {
    let reached: BTreeMap<_, _> = imports.keys().map(|file| (file, reach(imports, file))).collect();
    let mut found = BTreeSet::new();
    for (file, others) in &reached {
        let circle: BTreeSet<PathBuf> =
            others.iter().filter(|other| reached[other].contains(*file)).cloned().collect();
        if !circle.is_empty() {
            found.insert(circle);
        }
    }
    found.into_iter().collect()
}

/// A shortest way from a file of `circle` back to itself, each file once.
pub fn way_round(imports: &Imports, circle: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let ways = circle.iter().filter_map(|file| way_back(imports, file));
    ways.min_by_key(Vec::len).unwrap_or_default()
}

fn way_back(imports: &Imports, file: &Path) -> Option<Vec<PathBuf>> {
    let mut ways = VecDeque::from([vec![file.to_path_buf()]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for next in imports.get(way.last()?)? {
            if next == file {
                return Some(way);
            }
            if seen.insert(next) {
                ways.push_back([way.as_slice(), std::slice::from_ref(next)].concat());
            }
        }
    }
    None
}

fn reach(imports: &Imports, from: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![from.to_path_buf()];
    while let Some(file) = open.pop() {
        for next in imports.get(&file).into_iter().flatten() {
            if found.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    found
}

impl Crate {
    /// Adds the module `path` from `file`, and the modules that it declares.
    fn add(
        &mut self,
        path: Vec<String>,
        file: PathBuf,
        owns_folder: bool,
        read: &impl Fn(&Path) -> Option<String>,
    ) {
        let Some(text) = read(&file) else { return };
        if file.components().any(|part| part.as_os_str() == "generated") {
            self.modules.insert(path, Module { file, ..Module::default() });
            return;
        }
        let tokens = without_tests(&tokens(&text));
        let children = self.read_module(&path, &file, &tokens);
        let folder = file.parent().unwrap_or(Path::new(""));
        let stem = file.file_stem().map(PathBuf::from).unwrap_or_default();
        let own = if owns_folder { folder.to_path_buf() } else { folder.join(stem) };
        for (name, inside, explicit) in children {
            let within: PathBuf = inside.iter().collect();
            let (flat, nested) = (
                own.join(&within).join(format!("{name}.rs")),
                own.join(&within).join(&name).join("mod.rs"),
            );
            let (file, owns_folder) = match explicit {
                Some(explicit) => (folder.join(explicit), true),
                None if read(&flat).is_some() => (flat, false),
                None => (nested, true),
            };
            let child = [path.as_slice(), &inside, &[name]].concat();
            self.add(child, file, owns_folder, read);
        }
    }

    /// Reads one file; returns the modules that it declares: name, inline modules around, `#[path]`.
    fn read_module(
        &mut self,
        path: &[String],
        file: &Path,
        tokens: &[Token<'_>],
    ) -> Vec<(String, Vec<String>, Option<String>)> {
        let mut children = Vec::new();
        // Inline modules that are open, with the depth of braces inside each.
        let mut inline: Vec<(String, usize)> = Vec::new();
        let mut depth = 0;
        let mut explicit = None;
        let mut at = 0;
        self.module(path, file);
        while let Some(token) = tokens.get(at) {
            let inside: Vec<String> = inline.iter().map(|(name, _)| name.clone()).collect();
            let here = [path, &inside].concat();
            if let Some(length) = attribute(&tokens[at..]) {
                if tokens.get(at + 2).is_some_and(|token| token.is("path")) {
                    explicit = tokens.get(at + 4).map(|token| token.text.to_owned());
                }
                at += length;
                continue;
            }
            if token.is("mod")
                && tokens.get(at + 2).is_some_and(|next| next.is(";") || next.is("{"))
            {
                let name = tokens[at + 1].text.to_owned();
                if tokens[at + 2].is("{") {
                    self.module(&[here.as_slice(), std::slice::from_ref(&name)].concat(), file);
                    depth += 1;
                    inline.push((name, depth));
                } else {
                    children.push((name, inside, explicit.take()));
                }
                at += 3;
                continue;
            }
            if token.is("use") {
                let end = tokens[at..].iter().position(|token| token.is(";")).unwrap_or(0) + at;
                let is_public = at > 0 && (tokens[at - 1].is("pub") || tokens[at - 1].is(")"));
                self.read_use(&here, file, &tokens[at + 1..end.max(at + 1)], is_public);
                at = end.max(at + 1);
                continue;
            }
            if token.is("{") {
                depth += 1;
            } else if token.is("}") {
                if inline.last().is_some_and(|(_, inner)| *inner == depth) {
                    inline.pop();
                }
                depth -= usize::from(depth > 0);
            } else if let Some((names, length)) = path_at(tokens, at) {
                let module = self.module(&here, file);
                module.uses.push(names);
                at += length;
                continue;
            }
            at += 1;
        }
        children
    }

    fn read_use(&mut self, here: &[String], file: &Path, tokens: &[Token<'_>], is_public: bool) {
        let mut leaves = Vec::new();
        use_leaves(tokens, Vec::new(), &mut leaves);
        let module = self.module(here, file);
        for (names, known_as) in leaves {
            if !is_public {
                module.uses.push(names);
            } else if known_as == "*" {
                module.globs.push(names);
            } else {
                module.exports.insert(known_as, names);
            }
        }
    }

    fn module(&mut self, path: &[String], file: &Path) -> &mut Module {
        let module = self.modules.entry(path.to_vec()).or_default();
        if module.file.as_os_str().is_empty() {
            module.file = file.to_path_buf();
        }
        module
    }

    fn imports(&self) -> Imports {
        let mut found = Imports::new();
        for (path, module) in &self.modules {
            let imports = found.entry(module.file.clone()).or_default();
            for names in &module.uses {
                let file = self.file_of(path, names, 0);
                imports.extend(file.filter(|file| **file != module.file).cloned());
            }
        }
        found
    }

    /// Returns the file of the item that `names` leads to from module `from`; None for an item of another crate.
    fn file_of(&self, from: &[String], names: &[String], depth: usize) -> Option<&PathBuf> {
        // Re-exports that lead in a circle do not compile.
        const DEEPEST: usize = 16;
        let (first, rest) = names.split_first()?;
        let mut module = match first.as_str() {
            "crate" => Vec::new(),
            "self" => from.to_vec(),
            "super" => from[..from.len().saturating_sub(1)].to_vec(),
            name => {
                let child = [from, &[name.to_owned()]].concat();
                if !self.modules.contains_key(&child) {
                    return None;
                }
                child
            }
        };
        for (at, name) in rest.iter().enumerate() {
            if name == "super" {
                module.pop();
                continue;
            }
            let child = [module.as_slice(), std::slice::from_ref(name)].concat();
            if self.modules.contains_key(&child) {
                module = child;
                continue;
            }
            let known = self.modules.get(&module)?;
            if depth < DEEPEST
                && let Some(target) = known.exports.get(name)
            {
                let longer = [target.as_slice(), &rest[at + 1..]].concat();
                return self.file_of(&module, &longer, depth + 1);
            }
            break;
        }
        self.modules.get(&module).map(|module| &module.file)
    }
}

/// A path at `at` that may lead to a module of this crate, and its number of tokens.
fn path_at(tokens: &[Token<'_>], at: usize) -> Option<(Vec<String>, usize)> {
    let is_path = tokens[at].kind == Kind::Word && tokens.get(at + 1)?.is("::");
    let continues = at > 0 && (tokens[at - 1].is("::") || tokens[at - 1].is("."));
    if !is_path || continues {
        return None;
    }
    let mut names = vec![tokens[at].text.to_owned()];
    let mut length = 1;
    while tokens.get(at + length).is_some_and(|token| token.is("::"))
        && tokens.get(at + length + 1).is_some_and(|token| token.kind == Kind::Word)
    {
        names.push(tokens[at + length + 1].text.to_owned());
        length += 2;
    }
    Some((names, length))
}

/// The leaves of a `use` tree: full path, and the name that it gets (`*` for a glob).
fn use_leaves(tokens: &[Token<'_>], prefix: Vec<String>, leaves: &mut Vec<(Vec<String>, String)>) {
    let mut names = prefix.clone();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if token.is("{") {
            let length = balanced(&tokens[at..]);
            for part in parts(&tokens[at + 1..at + length - 1]) {
                use_leaves(part, names.clone(), leaves);
            }
            return;
        }
        if token.is("*") {
            leaves.push((names, "*".to_owned()));
            return;
        }
        if token.is("as") {
            let known_as = tokens.get(at + 1).map_or("_", |token| token.text).to_owned();
            leaves.push((names, known_as));
            return;
        }
        if token.kind == Kind::Word {
            names.push(token.text.to_owned());
        }
        at += 1;
    }
    // `use a::{self}` imports `a`.
    if names.len() > 1 && names.last().is_some_and(|name| name == "self") {
        names.pop();
    }
    if let Some(last) = names.last().cloned() {
        leaves.push((names, last));
    }
}

/// Pieces between the commas that no bracket holds.
fn parts<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let mut found = Vec::new();
    let (mut begin, mut at) = (0, 0);
    while at < tokens.len() {
        if tokens[at].is(",") {
            found.push(&tokens[begin..at]);
            begin = at + 1;
        }
        at += if tokens[at].is("{") { balanced(&tokens[at..]) } else { 1 };
    }
    found.push(&tokens[begin..]);
    found.retain(|part| !part.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Imports of a crate whose files are given with their texts; `lib.rs` is the root.
    fn imports_of(files: &[(&str, &str)]) -> Imports {
        let files: BTreeMap<PathBuf, String> =
            files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect();
        imports(Path::new("lib.rs"), &|path| files.get(path).cloned())
    }

    fn circles_in(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let names = |circle: BTreeSet<PathBuf>| {
            circle.into_iter().map(|path| path.display().to_string()).collect()
        };
        circles(&imports_of(files)).into_iter().map(names).collect()
    }

    #[test]
    fn files_that_import_each_other_are_a_circle() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "fn f() { crate::c::g() }"),
            ("c.rs", "use super::{a::{self, A}};"),
        ];
        assert_eq!(circles_in(&files), [["a.rs", "b.rs", "c.rs"]]);
        let imports = imports_of(&files);
        let way = way_round(&imports, &circles(&imports)[0]);
        assert_eq!(way, ["a.rs", "b.rs", "c.rs"].map(PathBuf::from));
    }

    #[test]
    fn imports_in_one_direction_are_no_circle() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use a::A; pub use b::*;"),
            ("a.rs", "use crate::b::B; use std::a::A;"),
            ("b.rs", "struct B; // crate::a\n fn f() { \"crate::a::A\"; }"),
        ];
        assert!(circles_in(&files).is_empty());
    }

    #[test]
    fn reexport_leads_to_the_file_of_the_item() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B as C;"),
            ("a.rs", "use crate::C;"),
            ("b.rs", "use crate::A;"),
        ];
        assert_eq!(circles_in(&files), [["a.rs", "b.rs"]]);
    }

    #[test]
    fn child_and_parent_are_a_circle_if_both_name_each_other() {
        let parent = "mod x; fn f() { x::g() }";
        let files = [("lib.rs", "mod a;"), ("a.rs", parent), ("a/x.rs", "use super::f;")];
        assert_eq!(circles_in(&files), [["a/x.rs", "a.rs"]]);
        let files =
            [("lib.rs", "mod a;"), ("a.rs", "mod x; fn f() {}"), ("a/x.rs", "use super::f;")];
        assert!(circles_in(&files).is_empty());
    }

    #[test]
    fn imports_of_tests_do_not_count() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b;"),
            ("b.rs", "#[cfg(test)] mod tests { use crate::a; }"),
        ];
        assert!(circles_in(&files).is_empty());
    }

    #[test]
    fn super_in_an_inline_module_is_the_file_itself() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "mod inner { use super::T; use super::super::b::B; }"),
            ("b.rs", "use crate::a::inner::U;"),
        ];
        assert_eq!(circles_in(&files), [["a.rs", "b.rs"]]);
    }

    #[test]
    fn file_of_a_module_may_be_named_by_an_attribute() {
        let files = [
            ("lib.rs", "#[path = \"elsewhere/z.rs\"] mod a; mod b;"),
            ("elsewhere/z.rs", "use crate::b;"),
            ("b.rs", "use crate::a;"),
        ];
        assert_eq!(circles_in(&files), [["b.rs", "elsewhere/z.rs"]]);
    }
}
