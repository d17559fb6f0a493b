//! The repository as the rules see it: its files, its crates and their arrows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::Value;

use super::arrows::Arrows;
use super::ratchet::Places;
use super::tokens::{Kind, Token, tokens, without_tests};
use crate::step;

/// Crates outside the product; they may have hand-written API constants.
const NO_PRODUCT: &[&str] = &["tests", "xtask", "apigen"];

pub struct Repository {
    /// All files that git knows or would add, from the root.
    pub files: BTreeSet<PathBuf>,
    /// Files whose text the rules read.
    pub sources: BTreeMap<PathBuf, String>,
    /// Root files of libraries and programs.
    pub crate_roots: BTreeSet<PathBuf>,
    /// Folders of the crates that are libraries.
    libraries: BTreeSet<PathBuf>,
    pub arrows: Arrows,
    /// Packages by folder.
    folders: BTreeMap<PathBuf, String>,
    pub packages: BTreeSet<String>,
    /// `PACKAGE TARGET`.
    pub test_targets: BTreeSet<String>,
}

impl Repository {
    pub fn read(root: &Path) -> anyhow::Result<Self> {
        let list = ["ls-files", "--cached", "--others", "--exclude-standard"];
        let files = step::output(&mut step::command("git", &list))?;
        // A file that was removed and not committed is still listed.
        let files: BTreeSet<_> =
            files.lines().map(PathBuf::from).filter(|path| root.join(path).exists()).collect();
        let mut sources = BTreeMap::new();
        for path in files.iter().filter(|path| is_source(path)) {
            let text = std::fs::read_to_string(root.join(path));
            sources.insert(
                path.clone(),
                text.with_context(|| format!("can't read {}", path.display()))?,
            );
        }
        let mut repository = Self {
            files,
            sources,
            crate_roots: BTreeSet::new(),
            libraries: BTreeSet::new(),
            arrows: Arrows::new(),
            folders: BTreeMap::new(),
            packages: BTreeSet::new(),
            test_targets: BTreeSet::new(),
        };
        let metadata = ["metadata", "--no-deps", "--format-version", "1", "--offline"];
        let metadata: Value = serde_json::from_str(&step::output(&mut step::cargo(&metadata))?)?;
        for package in metadata["packages"].as_array().context("cargo lists packages")? {
            repository.add_package(root, package)?;
        }
        Ok(repository)
    }

    fn add_package(&mut self, root: &Path, package: &Value) -> anyhow::Result<()> {
        let from_root = |value: &Value| {
            let path = Path::new(value.as_str()?);
            path.strip_prefix(root).ok().map(Path::to_path_buf)
        };
        let manifest =
            from_root(&package["manifest_path"]).context("a package lies in the tree")?;
        let folder = manifest.parent().unwrap_or(Path::new("")).to_path_buf();
        let name = package["name"].as_str().unwrap_or_default();
        self.packages.insert(name.to_owned());
        self.folders.insert(folder.clone(), name.to_owned());
        for target in package["targets"].as_array().into_iter().flatten() {
            let kinds: Vec<_> =
                target["kind"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            if kinds.contains(&"test") {
                let target = target["name"].as_str().unwrap_or_default();
                self.test_targets.insert(format!("{name} {target}"));
            }
            let is_library = kinds.iter().any(|kind| kind.ends_with("lib"));
            if is_library {
                self.libraries.insert(folder.clone());
            }
            if is_library || kinds.contains(&"bin") {
                self.crate_roots.extend(from_root(&target["src_path"]));
            }
        }
        let arrows = self.arrows.entry(folder.display().to_string()).or_default();
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            if dependency["kind"] != "dev" {
                arrows
                    .extend(from_root(&dependency["path"]).map(|path| path.display().to_string()));
            }
        }
        Ok(())
    }

    /// Text of a file; empty for one that is missing.
    pub fn text(&self, path: &str) -> String {
        self.sources.get(Path::new(path)).cloned().unwrap_or_default()
    }

    /// The package that holds `file`: the one with the deepest folder around it.
    pub fn package_of(&self, file: &Path) -> Option<&str> {
        file.ancestors().find_map(|folder| self.folders.get(folder)).map(String::as_str)
    }

    /// Hand-written files of libraries that are no test support.
    pub fn library_files(&self) -> impl Iterator<Item = &PathBuf> {
        self.product_files().filter(|path| {
            let source = path.ancestors().find(|folder| folder.ends_with("src"));
            let folder = source.and_then(Path::parent);
            folder.is_some_and(|folder| self.libraries.contains(folder))
        })
    }

    /// Hand-written files of the crates of the product.
    pub fn product_files(&self) -> impl Iterator<Item = &PathBuf> {
        self.sources.keys().filter(|path| {
            let has = |name: &str| path.components().any(|part| part.as_os_str() == name);
            path.extension().is_some_and(|extension| extension == "rs")
                && has("src")
                && !has("generated")
                && !NO_PRODUCT.iter().any(|folder| path.starts_with(folder))
        })
    }

    /// Returns the places in `files`, without tests, at which `rule` finds something.
    pub fn places<'a>(
        &'a self,
        files: impl Iterator<Item = &'a PathBuf>,
        rule: impl Fn(Vec<Token<'_>>) -> Vec<(usize, String)>,
    ) -> Places {
        let found =
            files.map(|path| (path.clone(), rule(without_tests(&tokens(&self.sources[path])))));
        found.filter(|(_, places)| !places.is_empty()).collect()
    }

    /// Names of public structures, enums, unions, traits and type aliases of hand-written code.
    pub fn public_types(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for path in self.product_files() {
            let tokens = without_tests(&tokens(&self.sources[path]));
            for three in tokens.windows(3) {
                let is_type = three[1].kind == Kind::Word
                    && ["struct", "enum", "union", "trait", "type"].contains(&three[1].text);
                if three[0].is("pub") && is_type {
                    found.insert(three[2].text.to_owned());
                }
            }
        }
        found
    }
}

fn is_source(path: &Path) -> bool {
    const EXTENSIONS: &[&str] = &["rs", "md", "toml", "c", "h", "api", "txt"];
    path.extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|e| EXTENSIONS.contains(&e))
}
