//! The end of a display: all that belongs to it goes.

use crate::{Memory, Thread};

/// All that belongs to a display goes; what is current stays until it no longer is.
pub fn terminate<M: Memory + ?Sized>(thread: &mut Thread, _memory: &M, display: u64) {
    thread.process.contexts().terminate(display);
    objects_of_display::delete(&mut thread.process.lock(), display);
}

mod objects_of_display {
    #[cfg(feature = "tools")]
    use crate::Stream;
    use crate::{EglContext, EglSync, Image, Objects, ProcessState, Surface};

    trait OfDisplay: Default {
        fn display(&self) -> u64;
    }

    macro_rules! of_display {
        ($($object:ty),*) => {$(
            impl OfDisplay for $object {
                fn display(&self) -> u64 {
                    self.display
                }
            }
        )*};
    }

    of_display!(EglContext, Surface, Image, EglSync);
    #[cfg(feature = "tools")]
    of_display!(Stream);

    /// The names of all objects of `display` go.
    pub fn delete(process: &mut ProcessState, display: u64) {
        delete_all(&mut process.egl_contexts, display);
        delete_all(&mut process.surfaces, display);
        delete_all(&mut process.images, display);
        delete_all(&mut process.egl_syncs, display);
        #[cfg(feature = "tools")]
        delete_all(&mut process.streams, display);
    }

    fn delete_all<T: OfDisplay>(objects: &mut Objects<T>, display: u64) {
        let is_of_it = |object: &T| object.display() == display;
        let named = objects.named().filter(|(_, object)| is_of_it(object));
        for name in named.map(|(object, _)| object.name()).collect::<Vec<_>>() {
            objects.delete(name);
        }
    }
}
