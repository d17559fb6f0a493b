/// Names of extensions that descriptions ask about, sorted.
pub const NAMES: &[&str] = &[];
