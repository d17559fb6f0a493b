//! `THIRD-PARTY`: names, versions and licences of the crates that are linked into a package's programs and libraries. The
//! licences are the files that the crates have; the list is cargo's for this machine's kind of target.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Context;
use gapii_package::{Content, File, LICENCES, Layout, Package};
use serde_json::Value;

use crate::{step, tree};

/// Beginnings of the names of files with a licence, in capitals.
const BEGINNINGS: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];

/// Crates of the workspace in each package, and the workspace's manifest.
const LINKED: [(Package, &str, &[&str]); 6] = [
    (Package::Tools, "Cargo.toml", &["gapii-ctl", "gapiid"]),
    (Package::Shim, "Cargo.toml", &["gapii-shim"]),
    (Package::Development, "Cargo.toml", &["gapii-shim"]),
    (Package::LevelZero, "Cargo.toml", &["gapii-ze-layer"]),
    (Package::Agents, "mcp/Cargo.toml", &["gapii-mcp"]),
    (Package::Fleet, "fleet/Cargo.toml", &["gapii-tables", "gapii-upload"]),
];

/// Returns the file of each package that has crates of others. Two packages with the same folder for documents share one.
pub fn files(layout: &Layout) -> anyhow::Result<Vec<File>> {
    let mut by_path: BTreeMap<String, (Package, BTreeMap<String, Linked>)> = BTreeMap::new();
    for (package, manifest, roots) in LINKED {
        let path = format!("{}/{LICENCES}", layout.documents(package));
        let (_, crates) = by_path.entry(path).or_insert((package, BTreeMap::new()));
        crates.extend(linked(&metadata(manifest)?, roots)?);
    }
    let file = |(path, (package, crates)): (String, (Package, BTreeMap<String, Linked>))| {
        let content = Content::Text(text(&crates).into_bytes());
        File { path, content, is_program: false, package }
    };
    Ok(by_path.into_iter().filter(|(_, (_, crates))| !crates.is_empty()).map(file).collect())
}

/// A crate of others.
struct Linked {
    /// As its manifest says.
    licence: String,
    /// Names and contents of its files.
    texts: Vec<(String, String)>,
}

fn metadata(manifest: &str) -> anyhow::Result<Value> {
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut command = step::cargo(&["metadata", "--locked", "--format-version", "1"]);
    command.args(["--filter-platform", &target, "--manifest-path"]);
    let said = step::output(command.arg(tree::root().join(manifest)))?;
    serde_json::from_str(&said).context("cargo metadata prints no JSON")
}

/// Returns the crates of others that crates of the workspace are linked with, by name and version.
fn linked(metadata: &Value, roots: &[&str]) -> anyhow::Result<BTreeMap<String, Linked>> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages = list(&metadata["packages"]);
    let nodes = list(&metadata["resolve"]["nodes"]);
    let is_root = |package: &&Value| roots.contains(&package["name"].as_str().unwrap_or_default());
    let mut left: Vec<String> = packages.iter().filter(is_root).map(|it| word(&it["id"])).collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = left.pop() {
        if !seen.insert(id.clone()) {
            continue;
        }
        let node = nodes.iter().find(|node| node["id"] == id.as_str());
        for dependency in list(&node.context("cargo metadata lacks a crate")?["deps"]) {
            // Null: a dependency of the program, not of its build or its tests.
            if list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()) {
                left.push(word(&dependency["pkg"]));
            }
        }
    }
    let of_others = packages
        .iter()
        .filter(|package| seen.contains(&word(&package["id"])) && !package["source"].is_null());
    of_others
        .map(|package| {
            let name = format!("{} {}", word(&package["name"]), word(&package["version"]));
            let manifest = word(&package["manifest_path"]);
            let folder = Path::new(&manifest).parent().unwrap_or(Path::new("/"));
            Ok((name, Linked { licence: word(&package["license"]), texts: texts(folder)? }))
        })
        .collect()
}

/// Returns the files with licences of a crate's folder, by name.
fn texts(folder: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_one = BEGINNINGS.iter().any(|begin| name.to_uppercase().starts_with(begin));
        if is_one && entry.file_type()?.is_file() {
            texts.push((name, String::from_utf8_lossy(&fs::read(entry.path())?).into_owned()));
        }
    }
    texts.sort();
    Ok(texts)
}

/// The crates, and then each text once with the crates that have it.
fn text(crates: &BTreeMap<String, Linked>) -> String {
    let mut text = "Crates that are linked into this package, and their licences\n\n".to_owned();
    let mut owners: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, Linked { licence, texts }) in crates {
        let file = if texts.is_empty() { " (the crate has no file with it)" } else { "" };
        text += &format!("{name}: {licence}{file}\n");
        for (_, content) in texts {
            owners.entry(content.trim()).or_default().insert(name);
        }
    }
    for (content, names) in owners {
        let names: Vec<_> = names.into_iter().collect();
        text += &format!("\n{}\n{}\n\n{content}\n", "-".repeat(72), names.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_that_are_linked_are_listed_with_their_texts() {
        let metadata = metadata("Cargo.toml").expect("cargo answers");
        let tools = linked(&metadata, &["gapii-ctl", "gapiid"]).expect("they are there");
        let has = |crates: &BTreeMap<String, Linked>, name: &str| {
            crates.keys().any(|known| known.split(' ').next() == Some(name))
        };
        assert!(has(&tools, "tokio") && has(&tools, "clap") && !has(&tools, "gapii-trace"));
        // Of tests, and of the build.
        assert!(!has(&tools, "loom") && !has(&tools, "cc"));
        assert!(tools.values().all(|linked| !linked.licence.is_empty()));
        // A few crates have no file.
        let without_file = tools.values().filter(|linked| linked.texts.is_empty()).count();
        assert!(without_file * 10 < tools.len(), "{without_file} of {}", tools.len());
        let shim = linked(&metadata, &["gapii-shim"]).expect("it is there");
        assert!(has(&shim, "libc") && !has(&shim, "tokio"));
        let text = text(&shim);
        assert!(text.contains("Permission is hereby granted") && text.contains("libc "), "{text}");
    }
}
