//! `tidy`: rules about the form of the project that no compiler checks; a module each.
//!
//! Reads the repository and nothing else. Where a rule has exceptions today, a list in `xtask/tidy/`
//! names them; a list may only shrink.

mod arrows;
mod constants;
mod docstrings;
mod features;
mod glossary;
mod imports;
mod locks;
mod ratchet;
mod references;
mod repository;
mod tokens;
mod variables;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;

pub use repository::Repository;

use crate::{file_list, tree};

const CIRCLES: &str = "xtask/tidy/circles.txt";
const CONSTANTS: &str = "xtask/tidy/constants.txt";
const DOCSTRINGS: &str = "xtask/tidy/docstrings.txt";
const FEATURES: &str = "xtask/tidy/features.txt";
const VARIABLES: &str = "docs/operation.md";
const LOCK: &str = "Cargo.lock";
const GLOSSARY: &str = "xtask/tidy/glossary.txt";

/// The crate that ships in programs; the rule about features is for it and its dependencies.
const SHIM: &str = "shim";

#[derive(Args, Default)]
pub struct Tidy {
    /// Take exceptions that are gone out of the lists in xtask/tidy/
    #[arg(long)]
    shrink: bool,
}

/// Returns findings, a sentence each.
type Rule = fn(&Repository) -> anyhow::Result<Vec<String>>;

/// Checks every rule; prints each finding, and fails if there is one.
pub fn run(args: &Tidy) -> anyhow::Result<()> {
    let repository = Repository::read(tree::root())?;
    if args.shrink {
        shrink(&repository)?;
    }
    let rules: [(&str, Rule); 10] = [
        ("imports", check_imports),
        ("arrows", check_arrows),
        ("references", check_references),
        ("docstrings", check_docstrings),
        ("constants", check_constants),
        ("glossary", check_glossary),
        ("features", check_features),
        ("variables", check_variables),
        ("files", check_files),
        ("locks", check_locks),
    ];
    let mut number = 0;
    for (name, rule) in rules {
        let findings = rule(&repository)?;
        findings.iter().for_each(|finding| println!("{name}: {finding}"));
        number += findings.len();
    }
    if number > 0 {
        bail!("{number} findings");
    }
    println!("{} rules hold", rules.len());
    Ok(())
}

fn check_imports(repository: &Repository) -> anyhow::Result<Vec<String>> {
    let all = all_imports(repository);
    let way = |circle: &BTreeSet<PathBuf>| imports::way_round(&all, circle);
    Ok(ratchet::compare_circles(&imports::circles(&all), &repository.text(CIRCLES), CIRCLES, way))
}

/// Imports of all crates together: paths are from the repository's root, so crates do not mix.
fn all_imports(repository: &Repository) -> imports::Imports {
    let read = |path: &Path| repository.sources.get(path).cloned();
    let mut all = imports::Imports::new();
    for root in &repository.crate_roots {
        for (file, imported) in imports::imports(root, &read) {
            all.entry(file).or_default().extend(imported);
        }
    }
    all
}

fn check_arrows(repository: &Repository) -> anyhow::Result<Vec<String>> {
    Ok(match arrows::listed(&repository.text("docs/architecture.md")) {
        Some(listed) => arrows::compare(&repository.arrows, &listed),
        None => vec!["docs/architecture.md has no block `arrows`".to_owned()],
    })
}

fn check_references(repository: &Repository) -> anyhow::Result<Vec<String>> {
    let words = repository.sources.values().flat_map(|text| {
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter(|word| word.contains('_'))
            .map(str::to_owned)
    });
    let known = references::Known {
        files: repository.files.clone(),
        words: words.collect(),
        test_targets: repository.test_targets.clone(),
        packages: repository.packages.clone(),
    };
    let read = |path: &Path| repository.sources.get(path).cloned();
    let documents = repository.sources.iter().filter(|(path, _)| {
        path.starts_with("docs") && path.extension().is_some_and(|extension| extension == "md")
            || **path == Path::new("README.md")
    });
    Ok(documents.flat_map(|(path, text)| references::dead(path, text, &known, &read)).collect())
}

fn check_docstrings(repository: &Repository) -> anyhow::Result<Vec<String>> {
    Ok(ratchet::compare(&undocumented(repository), &repository.text(DOCSTRINGS), DOCSTRINGS))
}

fn undocumented(repository: &Repository) -> ratchet::Places {
    repository.places(repository.library_files(), |tokens| docstrings::undocumented(&tokens))
}

fn check_constants(repository: &Repository) -> anyhow::Result<Vec<String>> {
    let places = constants_by_hand(repository)?;
    Ok(ratchet::compare(&places, &repository.text(CONSTANTS), CONSTANTS))
}

fn constants_by_hand(repository: &Repository) -> anyhow::Result<ratchet::Places> {
    let registry = apigen_registry::files(&tree::target())?;
    let mut values = BTreeSet::new();
    for path in registry.all() {
        values.extend(constants::values(&std::fs::read_to_string(path)?));
    }
    let files = repository.product_files();
    Ok(repository.places(files, |tokens| constants::typed_by_hand(&tokens, &values)))
}

fn check_glossary(repository: &Repository) -> anyhow::Result<Vec<String>> {
    let terms = glossary::terms(&repository.text("docs/glossary.md"));
    Ok(glossary::missing(&repository.text(GLOSSARY), &repository.public_types(), &terms))
}

fn check_features(repository: &Repository) -> anyhow::Result<Vec<String>> {
    let mut crates = BTreeSet::new();
    let mut open = vec![SHIM.to_owned()];
    while let Some(name) = open.pop() {
        open.extend(repository.arrows.get(&name).into_iter().flatten().cloned());
        crates.insert(name);
    }
    let list = repository.text(FEATURES);
    let allowed: BTreeSet<&str> = ratchet::entries(&list).collect();
    let mut findings = Vec::new();
    for name in &crates {
        let found = features::found(name, &repository.text(&format!("{name}/Cargo.toml")));
        match (found.is_empty(), allowed.contains(name.as_str())) {
            (false, false) => findings.extend(found),
            (true, true) => findings.push(format!("{FEATURES}: {name} has none; take it out")),
            _ => {}
        }
    }
    Ok(findings)
}

/// Code that clippy compiles is compared with the document: of tests only what they read, not what they set for others.
fn check_variables(repository: &Repository) -> anyhow::Result<Vec<String>> {
    let document = repository.text(VARIABLES);
    let Some(listed) = variables::listed(&document) else {
        return Ok(vec![format!("{VARIABLES} has no table of environment variables")]);
    };
    let tokens_of = |path: &PathBuf| tokens::tokens(&repository.sources[path]);
    let named = repository
        .product_files()
        .map(|path| (path.clone(), variables::named(&tokens::without_tests(&tokens_of(path)))));
    let is_rust = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    let texts = repository.sources.keys().filter(is_rust).flat_map(|path| {
        let texts = tokens_of(path).into_iter().filter(|token| token.kind == tokens::Kind::Text);
        texts.map(|token| token.text.to_owned()).collect::<Vec<_>>()
    });
    Ok(variables::compare(&named.collect(), &listed, &texts.collect(), Path::new(VARIABLES)))
}

/// Every change of a file's first words changes a page, so this is checked here, too, and not only beside the generated code.
fn check_files(_: &Repository) -> anyhow::Result<Vec<String>> {
    let outdated = file_list::outdated(tree::root())?;
    let say = |page: &PathBuf| format!("{} is stale; run `cargo xtask generate`", page.display());
    Ok(outdated.iter().map(say).collect())
}

fn check_locks(repository: &Repository) -> anyhow::Result<Vec<String>> {
    let read = |path: &Path| std::fs::read_to_string(tree::root().join(path));
    let product = read(Path::new(LOCK))?;
    let mut findings = Vec::new();
    for path in repository.files.iter().filter(|path| path.ends_with(LOCK)) {
        findings.extend(locks::differences(&path.display().to_string(), &read(path)?, &product));
    }
    Ok(findings)
}

/// Writes the lists anew without the exceptions that are gone.
fn shrink(repository: &Repository) -> anyhow::Result<()> {
    let circles = imports::circles(&all_imports(repository));
    let lists = [
        (CIRCLES, ratchet::shrunk_circles(&circles, &repository.text(CIRCLES))),
        (CONSTANTS, ratchet::shrunk(&constants_by_hand(repository)?, &repository.text(CONSTANTS))),
        (DOCSTRINGS, ratchet::shrunk(&undocumented(repository), &repository.text(DOCSTRINGS))),
    ];
    for (path, text) in lists {
        std::fs::write(tree::root().join(path), text)?;
    }
    bail!("the lists are written; run `cargo xtask tidy` again")
}
