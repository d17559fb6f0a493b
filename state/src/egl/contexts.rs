//! Every context of a process.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Context, Group};

/// Contexts by handle.
#[derive(Default, Debug)]
pub struct Contexts {
    entries: BTreeMap<u64, Entry>,
}

#[derive(Debug)]
struct Entry {
    group: Arc<Group>,
    /// The state, while no thread has it.
    idle: Option<Box<Context>>,
    /// Destroyed while current: goes when its thread lets go of it.
    is_destroyed: bool,
}

impl Contexts {
    /// A new context, in the group of `share` if there is such a context.
    pub fn create(&mut self, handle: u64, share: u64, version: (u8, u8)) {
        let group = self.entries.get(&share).map(|entry| entry.group.clone()).unwrap_or_default();
        let idle = Some(Box::new(Context::new(handle, group.clone(), version)));
        self.entries.insert(handle, Entry { group, idle, is_destroyed: false });
    }

    /// The context leaves the program's sight; one that is current lives on until it is put back.
    pub fn destroy(&mut self, handle: u64) {
        let Some(entry) = self.entries.get_mut(&handle) else { return };
        entry.is_destroyed = true;
        if entry.idle.is_some() {
            self.entries.remove(&handle);
        }
    }

    /// Takes a context for the thread it becomes current in; none where another has it.
    pub fn take(&mut self, handle: u64) -> Option<Box<Context>> {
        self.entries.get_mut(&handle)?.idle.take()
    }

    /// Puts back a context that is no longer current.
    pub fn put_back(&mut self, context: Box<Context>) {
        let handle = context.handle;
        let Some(entry) = self.entries.get_mut(&handle) else { return };
        let is_the_same = Arc::ptr_eq(&entry.group, &context.group) && entry.idle.is_none();
        if is_the_same && entry.is_destroyed {
            self.entries.remove(&handle);
        } else if is_the_same {
            entry.idle = Some(context);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_shares_the_group_of_another_even_while_that_is_current() {
        let mut contexts = Contexts::default();
        contexts.create(1, 0, (3, 0));
        let first = contexts.take(1).unwrap();
        contexts.create(2, 1, (3, 0));
        contexts.create(3, 0, (3, 0));
        assert!(Arc::ptr_eq(&first.group, &contexts.take(2).unwrap().group));
        assert!(!Arc::ptr_eq(&first.group, &contexts.take(3).unwrap().group));
    }

    #[test]
    fn context_is_with_one_thread_at_a_time() {
        let mut contexts = Contexts::default();
        contexts.create(1, 0, (2, 0));
        let current = contexts.take(1).unwrap();
        assert!(contexts.take(1).is_none());
        contexts.put_back(current);
        assert!(contexts.take(1).is_some());
    }

    #[test]
    fn context_destroyed_while_current_goes_when_it_is_put_back() {
        let mut contexts = Contexts::default();
        contexts.create(1, 0, (2, 0));
        let current = contexts.take(1).unwrap();
        contexts.destroy(1);
        contexts.put_back(current);
        assert!(contexts.take(1).is_none());
    }
}
