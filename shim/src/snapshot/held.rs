//! Objects at binding points and attachment points: found by the name that the driver reports, and by the object that
//! the state has there. If the two disagree, because the program's command failed, the object that has or last had the
//! name counts; if the state has none, the object is unknown.

use gapii_state::{Object, Objects, Ref};

/// An object at a binding point, or attached to another object.
pub enum Held<T> {
    /// It has its name.
    Named(u32),
    /// Its name was deleted.
    Nameless(Ref<T>),
    /// The driver has an object there which the state does not know.
    Unknown,
}

impl<T> Held<T> {
    /// Finds the object that the driver reports as `name`, which is not 0. `tracked` is the object that the state has
    /// there: it is another one if the program's command failed.
    pub fn find<O: Object<Kind = T>>(objects: &Objects<O>, name: u32, tracked: Ref<T>) -> Self {
        let named = objects.find(u64::from(name));
        if tracked.name() == u64::from(name) && tracked != named {
            return match objects.get(tracked) {
                Some(_) => Self::Nameless(tracked),
                None => Self::Unknown,
            };
        }
        if named.is_some() {
            return Self::Named(name);
        }
        let had_it = |(object, _): &(Ref<T>, &O)| object.name() == u64::from(name);
        let last = objects.deleted().filter(had_it).last();
        last.map_or(Self::Unknown, |(object, _)| Self::Nameless(object))
    }
}

/// Returns the object that the driver reports as `name`. If the state does not know it, returns `tracked`.
pub fn object<O: Object>(objects: &Objects<O>, name: u32, tracked: Ref<O::Kind>) -> Ref<O::Kind> {
    if name == 0 {
        return Ref::NONE;
    }
    match Held::find(objects, name, tracked) {
        Held::Named(name) => objects.find(u64::from(name)),
        Held::Nameless(object) => object,
        Held::Unknown => tracked,
    }
}
