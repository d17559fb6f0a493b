//! A map from handles to objects in which look-ups take no lock. Objects are never freed; one that has left the map may
//! come back under another handle.

use core::ptr;

use crate::sync::{AtomicPtr, AtomicU64, Ordering};

/// An object of a [`HandleMap`].
pub trait Handled: Sync + 'static {
    /// Returns the object's present handle, other than 0; 0 while it has none. One atomic load.
    fn handle(&self) -> u64;
}

/// Objects by handle: open addressing with linear probing. One thread at a time changes the map, any thread looks up.
///
/// | place | meaning |
/// |---|---|
/// | null | empty, and no search goes past it |
/// | [`gone`] | an object that has left; searches go past it |
/// | any other | an object |
///
/// A place between an object and the place where the search for it begins is never null.
#[derive(Debug)]
pub struct HandleMap<T: 'static> {
    /// Null until the first object. Places that were outgrown are leaked: together they are fewer than the present ones.
    places: AtomicPtr<Places<T>>,
}

#[derive(Debug)]
struct Places<T> {
    places: Box<[AtomicPtr<T>]>,
    /// Number of bits of a hash that are not used.
    shift: u32,
    /// Number of places that are not null. Only the thread that changes the map uses it.
    taken: AtomicU64,
}

/// Number of places of the first objects.
#[cfg(not(loom))]
const PLACES_MIN: usize = 64;
#[cfg(loom)]
const PLACES_MIN: usize = 4;

/// The mark of a place whose object has left.
fn gone<T>() -> *mut T {
    ptr::without_provenance_mut(1)
}

impl<T> Places<T> {
    fn new(count: usize) -> &'static Self {
        let empty = || AtomicPtr::new(ptr::null_mut());
        let places = core::iter::repeat_with(empty).take(count).collect();
        let shift = u64::BITS - count.trailing_zeros();
        Box::leak(Box::new(Self { places, shift, taken: AtomicU64::new(0) }))
    }

    /// Returns the place where the search for a handle begins. Handles are addresses, mostly.
    #[inline(always)]
    fn home(&self, handle: u64) -> usize {
        const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
        (handle.wrapping_mul(GOLDEN) >> self.shift) as usize
    }

    #[inline(always)]
    fn place(&self, at: usize) -> &AtomicPtr<T> {
        &self.places[at & (self.places.len() - 1)]
    }

    /// Whether so many places are taken that searches become long.
    fn is_half_full(&self) -> bool {
        // Relaxed: the caller's lock orders changes.
        self.taken.load(Ordering::Relaxed) * 2 >= self.places.len() as u64
    }

    /// Empties a place, and counts it.
    fn clear(&self, at: usize) {
        // Relaxed: a search that misses the change finds an object without a handle, or with another one.
        self.place(at).store(ptr::null_mut(), Ordering::Relaxed);
        // Relaxed: the caller's lock orders changes.
        self.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<T: Handled> HandleMap<T> {
    /// A map without objects.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self { places: AtomicPtr::new(ptr::null_mut()) }
    }

    /// A map without objects.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self { places: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Returns the object with a handle. An object that is inserted or removed meanwhile may or may not be found.
    #[inline(always)]
    pub fn find(&self, handle: u64) -> Option<&'static T> {
        let places = self.places()?;
        let mut at = places.home(handle);
        loop {
            // HANDLE: pairs with the release in HandleMap::insert: the object is complete.
            let found = places.place(at).load(Ordering::Acquire);
            if found.is_null() {
                return None;
            }
            if found != gone() {
                // SAFETY: objects are never freed.
                let object = unsafe { &*found };
                if object.handle() == handle {
                    return Some(object);
                }
            }
            at = at.wrapping_add(1);
        }
    }

    /// Inserts an object that is not in the map, under its present handle. One thread at a time inserts, removes and
    /// forgets.
    pub fn insert(&self, object: &'static T) {
        let places = match self.places() {
            Some(places) if !places.is_half_full() => places,
            known => self.grow(known),
        };
        put(places, object);
    }

    /// Removes an object, which keeps its handle. See [`HandleMap::insert`].
    pub fn remove(&self, object: &'static T) {
        let Some(places) = self.places() else { return };
        let mut at = places.home(object.handle());
        loop {
            // Relaxed: the caller's lock orders changes.
            let found = places.place(at).load(Ordering::Relaxed);
            if found.is_null() {
                return;
            }
            if ptr::eq(found, object) {
                break;
            }
            at = at.wrapping_add(1);
        }
        // Relaxed: as above.
        let get = |at| places.place(at).load(Ordering::Relaxed);
        if !get(at.wrapping_add(1)).is_null() {
            // Relaxed: as in `clear`.
            places.place(at).store(gone(), Ordering::Relaxed);
            return;
        }
        // No search goes past a place before an empty one, so the marks before it are not needed.
        places.clear(at);
        at = at.wrapping_sub(1);
        while get(at) == gone() {
            places.clear(at);
            at = at.wrapping_sub(1);
        }
    }

    /// Empties the map in a forked child, where another thread may have been changing it. What it held is leaked.
    pub fn forget(&self) {
        self.places.store(ptr::null_mut(), Ordering::Release);
    }

    #[inline(always)]
    fn places(&self) -> Option<&'static Places<T>> {
        // HANDLE: pairs with the release in HandleMap::grow: the places are complete.
        let places = self.places.load(Ordering::Acquire);
        // SAFETY: null, or leaked.
        unsafe { places.as_ref() }
    }

    fn grow(&self, known: Option<&'static Places<T>>) -> &'static Places<T> {
        let count = known.map_or(PLACES_MIN, |known| known.places.len() * 2);
        let grown = Places::new(count);
        for place in known.iter().flat_map(|known| &known.places) {
            // Relaxed: the caller's lock orders changes.
            let object = place.load(Ordering::Relaxed);
            if !object.is_null() && object != gone() {
                // SAFETY: objects are never freed.
                put(grown, unsafe { &*object });
            }
        }
        // HANDLE: pairs with the acquire in HandleMap::places.
        self.places.store(ptr::from_ref(grown).cast_mut(), Ordering::Release);
        grown
    }
}

impl<T: Handled> Default for HandleMap<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Puts an object into the first place that is free for it.
fn put<T: Handled>(places: &Places<T>, object: &'static T) {
    let mut at = places.home(object.handle());
    loop {
        let place = places.place(at);
        // Relaxed: the caller's lock orders changes.
        let found = place.load(Ordering::Relaxed);
        if found.is_null() {
            // Relaxed: as above.
            places.taken.fetch_add(1, Ordering::Relaxed);
        }
        if found.is_null() || found == gone() {
            // HANDLE: pairs with the acquire in HandleMap::find.
            place.store(ptr::from_ref(object).cast_mut(), Ordering::Release);
            return;
        }
        at = at.wrapping_add(1);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    struct Object(AtomicU64);

    impl Handled for Object {
        fn handle(&self) -> u64 {
            // Relaxed: the tests have one thread.
            self.0.load(Ordering::Relaxed)
        }
    }

    fn object(handle: u64) -> &'static Object {
        Box::leak(Box::new(Object(AtomicU64::new(handle))))
    }

    #[test]
    fn objects_are_found_as_long_as_they_are_in_the_map() {
        let map = HandleMap::new();
        let mut known: BTreeMap<u64, &'static Object> = BTreeMap::new();
        let mut random = 1_u64;
        for round in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(round);
            let handle = 1 + (random >> 33) % 300;
            if let Some(object) = known.remove(&handle) {
                map.remove(object);
                // Later objects may take the same memory under another handle.
                object.0.store(0, Ordering::Relaxed);
            } else {
                let object = object(handle);
                map.insert(object);
                known.insert(handle, object);
            }
            for handle in [handle, 1 + round % 300] {
                let found = map.find(handle).map(ptr::from_ref);
                assert_eq!(found, known.get(&handle).map(|known| ptr::from_ref(*known)));
            }
        }
        for (handle, object) in known {
            assert!(map.find(handle).is_some_and(|found| ptr::eq(found, object)));
        }
    }

    #[test]
    fn objects_that_come_and_go_do_not_make_the_map_grow() {
        let map = HandleMap::new();
        for handle in 1..10_000 {
            let object = object(handle * 64);
            map.insert(object);
            map.remove(object);
        }
        assert_eq!(map.places().map(|places| places.places.len()), Some(PLACES_MIN));
    }
}
