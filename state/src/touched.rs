//! The objects that commands make, change and delete, for `gapii-ctl history`. Noted for [`Whole`](crate::Whole) state in a
//! thread of a tool that asks for it; never in the shim.

use std::cell::RefCell;
use std::marker::PhantomData;

/// The way in which a command has touched an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Touch {
    /// The object was made.
    Made,
    /// A field of its state was assigned, perhaps the value that it had.
    Changed,
    /// It has lost its name.
    Deleted,
}

/// An object that a command has made, changed or deleted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Touched {
    /// The kind of object, such as `Texture`.
    pub kind: &'static str,
    /// Its name, or its handle.
    pub name: u64,
    /// Distinguishes objects that had the same name.
    pub serial: u32,
    /// The way in which it was touched.
    pub touch: Touch,
}

thread_local! {
    /// `None` unless somebody asks.
    static TOUCHED: RefCell<Option<Vec<Touched>>> = const { RefCell::new(None) };
}

/// Notes the objects that are touched in this thread, as long as it lives. It stays in its thread.
#[derive(Debug)]
pub struct Notes(PhantomData<*const ()>);

impl Notes {
    /// Begins to note.
    pub fn begin() -> Self {
        TOUCHED.set(Some(Vec::new()));
        Self(PhantomData)
    }

    /// Replaces the content of `into` with what was noted since the last call, in order.
    pub fn take(&self, into: &mut Vec<Touched>) {
        into.clear();
        TOUCHED.with_borrow_mut(|touched| {
            if let Some(touched) = touched {
                std::mem::swap(touched, into);
            }
        });
    }
}

impl Drop for Notes {
    fn drop(&mut self) {
        TOUCHED.set(None);
    }
}

/// Notes one object, if somebody asks.
pub fn keep(touched: Touched) {
    TOUCHED.with_borrow_mut(|all| {
        if let Some(all) = all {
            all.push(touched);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Buffer, Objects, Scope, Tracked, Whole};

    fn taken(notes: &Notes) -> Vec<Touched> {
        let mut all = Vec::new();
        notes.take(&mut all);
        all
    }

    /// Makes, changes and deletes buffer 7.
    fn touch<S: Scope>(table: &mut Objects<Buffer<S>>) {
        let made = table.bind(7);
        table.bind(7);
        table.get(made);
        table.get_mut(made);
        table.get_mut_unnoted(made);
        table.delete(7);
        table.delete(7);
    }

    #[test]
    fn objects_are_noted_while_somebody_asks() {
        let mut table = Objects::<Buffer<Whole>>::default();
        let notes = Notes::begin();
        touch(&mut table);
        let seen = |touch| Touched { kind: "Buffer", name: 7, serial: 1, touch };
        assert_eq!(taken(&notes), [Touch::Made, Touch::Changed, Touch::Deleted].map(seen));
        assert_eq!(taken(&notes), []);
        drop(notes);
        touch(&mut table);
        assert_eq!(taken(&Notes::begin()), []);
    }

    #[test]
    fn name_that_is_given_out_again_is_another_object() {
        let mut table = Objects::<Buffer<Whole>>::default();
        let notes = Notes::begin();
        let (old, new) = (table.create(7), table.create(7));
        let touches: Vec<_> = taken(&notes).iter().map(|it| (it.serial, it.touch)).collect();
        assert_eq!((old.serial(), new.serial()), (1, 2));
        assert_eq!(touches, [(1, Touch::Made), (1, Touch::Deleted), (2, Touch::Made)]);
    }

    #[test]
    fn tracked_state_is_not_noted() {
        let notes = Notes::begin();
        touch(&mut Objects::<Buffer<Tracked>>::default());
        assert_eq!(taken(&notes), []);
    }
}
