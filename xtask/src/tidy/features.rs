//! Rule: the shim ships the code that clippy saw: its crates have no cargo features, so every build of them has
//! the same code.

/// Findings for features in `manifest` and for `cfg(feature)` in `source`; `name` is the crate's name.
pub fn found(name: &str, manifest: &str) -> Vec<String> {
    let mut found = Vec::new();
    if manifest.lines().any(|line| line.trim() == "[features]") {
        found.push(format!(
            "{name}: has cargo features, so the shim may ship code that clippy did not see"
        ));
    }
    if manifest.lines().any(|line| line.contains("optional = true")) {
        found.push(format!("{name}: has an optional dependency, which is a feature"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feature_and_optional_dependency_are_found() {
        assert!(found("a", "[package]\nname = \"a\"\n[dependencies]\nb = \"1\"\n").is_empty());
        assert_eq!(found("a", "[features]\ntools = []\n").len(), 1);
        assert_eq!(
            found("a", "[dependencies]\nb = { version = \"1\", optional = true }\n").len(),
            1
        );
    }
}
