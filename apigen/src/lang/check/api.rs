//! An API as the checker sees it.

use crate::registry::Registry;

/// An API and its registry.
#[derive(Clone, Copy, Debug)]
pub struct Api<'a> {
    /// As files say it: `api egl;`.
    pub name: &'a str,
    /// The enum group of all its names.
    pub catch_all: &'a str,
    pub registry: &'a Registry,
}
