//! Rule: the workspaces beside the product's lock the versions that the product locks, so that a dependency is built,
//! tested and shipped in one version, and compiled once where workspaces share a target folder.

use std::collections::BTreeMap;

/// Findings for the packages of `lock`, the file `path`, that have another compatible version in `product`, the text of
/// the product's lock file.
pub fn differences(path: &str, lock: &str, product: &str) -> Vec<String> {
    let product: BTreeMap<_, _> =
        packages(product).map(|(name, version)| ((name, compatible(version)), version)).collect();
    let differing = packages(lock).filter_map(|(name, version)| {
        let of_product = product.get(&(name, compatible(version)))?;
        (*of_product != version).then(|| {
            format!(
                "{path} has {name} {version}, and Cargo.lock has {of_product}; copy Cargo.lock over it, and `cargo \
                 metadata --manifest-path {}` makes it fit",
                path.replace(".lock", ".toml")
            )
        })
    });
    differing.collect()
}

/// Name and version of each package of a lock file.
fn packages(lock: &str) -> impl Iterator<Item = (&str, &str)> {
    lock.split("[[package]]").skip(1).filter_map(|package| {
        let value = |key: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(key))?;
            Some(line.trim_matches('"'))
        };
        Some((value("name = ")?, value("version = ")?))
    })
}

/// The part of a version that compatible versions share: up to the first number that is not 0.
fn compatible(version: &str) -> &str {
    let mut end = 0;
    for part in version.split('.') {
        end += part.len();
        if part != "0" {
            break;
        }
        end += 1;
    }
    &version[..end.min(version.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(packages: &[(&str, &str)]) -> String {
        let text = |(name, version)| {
            format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n\n")
        };
        packages.iter().copied().map(text).collect()
    }

    #[test]
    fn compatible_versions_are_the_same() {
        let product = lock(&[("a", "1.2.3"), ("b", "0.3.1"), ("b", "0.4.0"), ("c", "0.0.7")]);
        let same = lock(&[("a", "1.2.3"), ("b", "0.4.0"), ("d", "5.0.0")]);
        assert!(differences("x/Cargo.lock", &same, &product).is_empty());
        let incompatible = lock(&[("a", "2.0.0"), ("b", "0.5.0"), ("c", "0.0.8")]);
        assert!(differences("x/Cargo.lock", &incompatible, &product).is_empty());
        let other = lock(&[("a", "1.2.4"), ("b", "0.3.1"), ("b", "0.4.2")]);
        let found = differences("x/Cargo.lock", &other, &product);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("x/Cargo.lock has a 1.2.4, and Cargo.lock has 1.2.3"));
        assert!(found[1].contains("b 0.4.2") && found[1].contains("--manifest-path x/Cargo.toml"));
    }
}
