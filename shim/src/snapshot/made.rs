//! Objects of the shim's own that the sibling makes for use in the program's context: their making changes no binding of
//! the program, and raises no error there.

use super::gl;
use super::sibling::Sibling;

/// An object that the sibling has made; dropping this deletes it.
pub struct Made<'a> {
    sibling: &'a Sibling,
    pub name: u32,
    delete: fn(u32),
}

impl<'a> Made<'a> {
    /// The object that `make` makes in the sibling's context. `make` returns the object's name and leaves it unbound.
    /// `None` if the driver raises an error.
    pub fn new(
        sibling: &'a Sibling,
        make: impl FnOnce() -> u32 + Send + 'static,
        delete: fn(u32),
    ) -> Option<Self> {
        let name = sibling.ask(move |_| {
            gl::clear_errors();
            let name = make();
            let is_made = gl::get_error() == 0;
            if !is_made {
                delete(name);
                return None;
            }
            // The program's context sees the object.
            gl::finish();
            Some(name)
        });
        name.map(|name| Self { sibling, name, delete })
    }
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        let (name, delete) = (self.name, self.delete);
        self.sibling.ask(move |_| {
            delete(name);
            Some(())
        });
    }
}
