//! An API as the checker sees it.

use crate::apis::ApiFacts;
use crate::registry::Registry;

/// An API and its registry.
#[derive(Clone, Copy, Debug)]
pub struct Api<'a> {
    /// The name in `api egl;`.
    pub name: &'a str,
    /// The enum group of all the API's names.
    pub catch_all: &'a str,
    /// Whether the API's commands do nothing without a current context.
    pub needs_context: bool,
    /// Whether generated functions play its commands.
    pub is_played: bool,
    pub registry: &'a Registry,
}

impl<'a> Api<'a> {
    /// The checker's view of an entry of the list and its registry.
    pub fn new(facts: &'a ApiFacts, registry: &'a Registry) -> Self {
        let needs_context = !facts.is_of_process();
        let (name, catch_all) = (&facts.name, &facts.names);
        Self { name, catch_all, needs_context, is_played: facts.is_played(), registry }
    }
}
