//! The end of a display and of everything that belongs to it.

use crate::{Memory, Scope, Thread};

/// Deletes everything that belongs to a display. A current context stays until it is no longer current.
pub fn terminate<S: Scope, M: Memory + ?Sized>(thread: &mut Thread<S>, _memory: &M, display: u64) {
    thread.process.contexts().terminate(display);
    objects_of_display::delete(&mut thread.process.lock(), display);
}

mod objects_of_display {
    use crate::{
        EglContext, EglSync, Image, Object, Objects, ProcessState, Scope, Stream, Surface,
    };

    trait OfDisplay: Object {
        fn display(&self) -> u64;
    }

    macro_rules! of_display {
        ($($object:ty),*) => {$(
            impl<S: Scope> OfDisplay for $object {
                fn display(&self) -> u64 {
                    self.display
                }
            }
        )*};
    }

    of_display!(EglContext<S>, Surface<S>, Image<S>, Stream<S>, EglSync<S>);

    /// Deletes the names of all objects of `display`.
    pub fn delete<S: Scope>(process: &mut ProcessState<S>, display: u64) {
        delete_all(&mut process.egl_contexts, display);
        delete_all(&mut process.surfaces, display);
        delete_all(&mut process.images, display);
        delete_all(&mut process.streams, display);
        delete_all(&mut process.egl_syncs, display);
    }

    fn delete_all<T: OfDisplay>(objects: &mut Objects<T>, display: u64) {
        let is_of_it = |object: &T| object.display() == display;
        let named = objects.named().filter(|(_, object)| is_of_it(object));
        for name in named.map(|(object, _)| object.name()).collect::<Vec<_>>() {
            objects.delete(name);
        }
    }
}
