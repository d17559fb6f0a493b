//! The contexts of a process: their share groups, and the state of those that are not current. A context that is
//! destroyed while current is removed when its thread releases it. A handle that the driver gives out again is a new
//! context.
//!
//! The table has no record of threads: a thread takes the state of its current context and puts it back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::{Context, ContextApi, Group, Program, Ref, Scope, Texture, Tracked, Whole};

/// Contexts by handle.
#[derive(Debug)]
pub struct Contexts<S: Scope = Tracked> {
    entries: BTreeMap<u64, Entry<S>>,
}

impl<S: Scope> Default for Contexts<S> {
    fn default() -> Self {
        Self { entries: BTreeMap::new() }
    }
}

#[derive(Debug)]
struct Entry<S: Scope> {
    display: u64,
    group: Arc<Group<S>>,
    /// The state, while the context is not current.
    idle: Option<Box<Context<S>>>,
    /// The last capture whose stream describes the context, as [`Contexts::set_described`] noted it.
    described: u64,
    fate: Fate,
}

/// Progress of a context's destruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Alive,
    /// The driver was asked to destroy it.
    Ending,
    /// Destroyed while current: it is removed when its thread releases it.
    Ended,
}

crate::stored_enum! { Fate { Alive, Ending, Ended } }
crate::stored_struct! { Entry<Whole> { display, group, idle, described, fate } }
crate::stored_struct! { Contexts<Whole> { entries } }

impl<S: Scope> Contexts<S> {
    /// Adds a context, in the group of `share` if that context exists. It replaces a context whose handle the driver
    /// has reused.
    pub fn create(
        &mut self,
        handle: u64,
        display: u64,
        share: u64,
        api: ContextApi,
        version: (u8, u8),
    ) {
        let group = self.entries.get(&share).map(|entry| entry.group.clone()).unwrap_or_default();
        let mut context = Context::new(handle, group.clone(), version);
        context.api = api;
        let idle = Some(Box::new(context));
        self.entries
            .insert(handle, Entry { display, group, idle, described: 0, fate: Fate::Alive });
    }

    /// Notes the profile that a context was asked for, a bit of `EGL_CONTEXT_OPENGL_PROFILE_MASK`, if it is a new one of
    /// desktop OpenGL 3.2 or later.
    pub fn choose_profile(&mut self, handle: u64, profile: i64) {
        let idle = self.entries.get_mut(&handle).and_then(|entry| entry.idle.as_deref_mut());
        if let Some(context) = idle
            && context.api.is_desktop(context.version, (3, 2))
        {
            context.api = ContextApi::of_profile(profile).unwrap_or(context.api);
        }
    }

    /// Whether a context with this handle exists.
    pub fn has(&self, handle: u64) -> bool {
        self.entries.contains_key(&handle)
    }

    /// Notes that the program is about to call the driver to destroy a context.
    pub fn begin_destroy(&mut self, display: u64, handle: u64) {
        if let Some(entry) = self.entries.get_mut(&handle)
            && entry.display == display
            && entry.fate == Fate::Alive
        {
            entry.fate = Fate::Ending;
        }
    }

    /// Notes the driver's answer. If the driver has reused the handle meanwhile, that is another context.
    pub fn end_destroy(&mut self, handle: u64, is_done: bool) {
        let Some(entry) = self.entries.get_mut(&handle) else { return };
        if entry.fate == Fate::Ending {
            entry.fate = if is_done { Fate::Ended } else { Fate::Alive };
            self.let_go(handle);
        }
    }

    /// Removes every context of a display; a current context is removed when its thread releases it.
    pub fn terminate(&mut self, display: u64) {
        self.entries.retain(|_, entry| {
            let is_of_another = entry.display != display;
            if !is_of_another {
                entry.fate = Fate::Ended;
            }
            is_of_another || entry.idle.is_none()
        });
    }

    /// Takes the state of a context, for the thread in which it becomes current. `None` if another thread has it.
    pub fn take(&mut self, handle: u64) -> Option<Box<Context<S>>> {
        self.entries.get_mut(&handle)?.idle.take()
    }

    /// Returns the share group of a context.
    pub fn group(&self, handle: u64) -> Option<Arc<Group<S>>> {
        self.entries.get(&handle).map(|entry| entry.group.clone())
    }

    /// Returns every context with the number of its share group; contexts that share have the same number.
    pub fn groups(&self) -> Vec<(u64, usize)> {
        let number = |group: &Arc<Group<S>>| Arc::as_ptr(group).addr();
        self.entries.iter().map(|(handle, entry)| (*handle, number(&entry.group))).collect()
    }

    /// Returns each share group once, with one of its contexts.
    pub fn share_groups(&self) -> Vec<(u64, Arc<Group<S>>)> {
        let mut groups: Vec<(u64, Arc<Group<S>>)> = Vec::new();
        for (handle, entry) in &self.entries {
            if !groups.iter().any(|(_, known)| Arc::ptr_eq(known, &entry.group)) {
                groups.push((*handle, entry.group.clone()));
            }
        }
        groups
    }

    /// Notes that a capture's stream holds everything about a new context. Returns the number of its share group, if
    /// the group is new, too.
    pub fn note_described(&mut self, handle: u64, epoch: u64) -> Option<u64> {
        let entry = self.entries.get_mut(&handle)?;
        entry.described = epoch;
        if let Some(context) = &mut entry.idle {
            context.described = epoch;
        }
        // Only the context and the map hold the group.
        let is_new = Arc::strong_count(&entry.group) <= 2;
        is_new.then(|| {
            entry.group.described.store(epoch, Relaxed);
            entry.group.number()
        })
    }

    /// Notes that a capture's stream describes a context, whose state a thread has.
    pub fn set_described(&mut self, handle: u64, epoch: u64) {
        if let Some(entry) = self.entries.get_mut(&handle) {
            entry.described = epoch;
        }
    }

    /// Whether a context that the capture's stream does not describe yet may use the program: as its current program,
    /// or in a program pipeline. Nothing is known of contexts that are current in other threads.
    pub fn may_use(&self, group: &Arc<Group<S>>, epoch: u64, program: Ref<Program>) -> bool {
        let uses = |context: &Context<S>| {
            context.program == program || context.pipelines.named().next().is_some()
        };
        let others = self.entries.values().filter(|entry| entry.described != epoch);
        let mut others = others.filter(|entry| Arc::ptr_eq(&entry.group, group));
        others.any(|entry| entry.idle.as_deref().is_none_or(uses))
    }

    /// Whether a texture unit or an image unit of another context of the share group than `handle` may hold the texture.
    /// Nothing is known of contexts that are current in other threads.
    pub fn may_hold(&self, handle: u64, texture: Ref<Texture>) -> bool {
        let holds = |context: &Context<S>| {
            let mut units = context.texture_units.iter();
            units.any(|unit| unit.bindings.iter().any(|(_, bound)| *bound == texture))
                || context.images.iter().any(|unit| unit.texture == texture)
        };
        let Some(group) = self.group(handle) else { return true };
        let others = self.entries.iter().filter(|(other, _)| **other != handle);
        let mut others = others.filter(|(_, entry)| Arc::ptr_eq(&entry.group, &group));
        others.any(|(_, entry)| entry.idle.as_deref().is_none_or(holds))
    }

    /// Whether one of the contexts that the capture's stream describes uses the program, besides the context `handle`.
    /// `None` if that depends on a context that is current in another thread.
    pub fn is_used(&self, handle: u64, epoch: u64, program: Ref<Program>) -> Option<bool> {
        let group = self.group(handle)?;
        let others = self.entries.iter().filter(|(other, _)| **other != handle);
        let others = others.map(|(_, entry)| entry);
        let described: Vec<_> = others
            .filter(|entry| entry.described == epoch && Arc::ptr_eq(&entry.group, &group))
            .collect();
        let mut idle = described.iter().filter_map(|entry| entry.idle.as_deref());
        match idle.any(|context| context.uses(program)) {
            true => Some(true),
            false => described.iter().all(|entry| entry.idle.is_some()).then_some(false),
        }
    }

    /// Returns the states of the contexts that are not current.
    pub fn idle(&self) -> impl Iterator<Item = &Context<S>> {
        self.entries.values().filter_map(|entry| entry.idle.as_deref())
    }

    /// Puts back the state of a context that its thread is about to release.
    pub fn put_back(&mut self, context: Box<Context<S>>) {
        if let Some(entry) = self.entries.get_mut(&context.handle)
            && entry.idle.is_none()
            && Arc::ptr_eq(&entry.group, &context.group)
        {
            entry.idle = Some(context);
        }
    }

    /// Notes that the driver has released a context. A context that waited for that is removed.
    pub fn let_go(&mut self, handle: u64) {
        let entry = self.entries.get(&handle);
        if entry.is_some_and(|entry| entry.fate == Fate::Ended && entry.idle.is_some()) {
            self.entries.remove(&handle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Whole;
    use crate::at::At as _;

    const DISPLAY: u64 = 0xD0;
    const ES: ContextApi = ContextApi::Es;

    fn contexts(shares: &[(u64, u64)]) -> Contexts<Whole> {
        let mut contexts = Contexts::default();
        for (handle, share) in shares {
            contexts.create(*handle, DISPLAY, *share, ES, (3, 0));
        }
        contexts
    }

    #[test]
    fn context_can_share_with_a_current_context() {
        let mut contexts = contexts(&[(1, 0)]);
        let first = contexts.take(1).unwrap();
        contexts.create(2, DISPLAY, 1, ES, (3, 0));
        contexts.create(3, DISPLAY, 0, ES, (3, 0));
        assert!(Arc::ptr_eq(&first.group, &contexts.take(2).unwrap().group));
        assert!(!Arc::ptr_eq(&first.group, &contexts.take(3).unwrap().group));
    }

    #[test]
    fn context_is_with_one_thread_at_a_time() {
        let mut contexts = contexts(&[(1, 0)]);
        let current = contexts.take(1).unwrap();
        assert!(contexts.take(1).is_none());
        contexts.put_back(current);
        assert!(contexts.take(1).is_some());
    }

    /// Checks whether context 1 still exists after these steps.
    fn check(steps: &[&str], expected: bool) {
        let mut contexts = contexts(&[(1, 0)]);
        let mut current = None;
        for step in steps {
            match *step {
                "take" => current = contexts.take(1),
                "put back" => contexts.put_back(current.take().unwrap()),
                "let go" => contexts.let_go(1),
                "ask" => contexts.begin_destroy(DISPLAY, 1),
                "ask of another display" => contexts.begin_destroy(DISPLAY + 1, 1),
                "done" => contexts.end_destroy(1, true),
                "refused" => contexts.end_destroy(1, false),
                "terminate" => contexts.terminate(DISPLAY),
                "create" => contexts.create(1, DISPLAY, 0, ES, (3, 0)),
                _ => panic!("no step {step:?}"),
            }
        }
        assert_eq!(contexts.has(1), expected, "{steps:?}");
    }

    #[test]
    fn destroyed_context_is_removed_when_it_is_not_current() {
        check(&["ask", "done"], false);
        check(&["ask", "refused"], true);
        check(&["ask of another display", "done"], true);
        check(&["take", "ask", "done"], true);
        check(&["take", "ask", "done", "put back"], true);
        check(&["take", "ask", "done", "put back", "take"], true);
        check(&["take", "ask", "done", "put back", "let go"], false);
        check(&["take", "ask", "put back", "let go", "refused"], true);
        check(&["take", "ask", "put back", "let go", "done"], false);
        check(&["terminate"], false);
        check(&["take", "terminate"], true);
        check(&["take", "terminate", "put back", "let go"], false);
        check(&["take", "put back", "let go"], true);
    }

    #[test]
    fn other_contexts_of_the_group_may_hold_a_texture() {
        const TARGET: u32 = 1;
        let check = |share: u64, change: fn(&mut Contexts<Whole>, Ref<Texture>), expected: bool| {
            let mut contexts = contexts(&[(1, 0), (2, share)]);
            let texture = contexts.group(1).unwrap().lock().textures.create(7);
            change(&mut contexts, texture);
            assert_eq!(contexts.may_hold(1, texture), expected);
        };
        let in_unit = |contexts: &mut Contexts<Whole>, texture| {
            let mut context = contexts.take(2).unwrap();
            context.texture_units.push(crate::TextureUnit::default());
            *context.texture_units[0].bindings.at_mut(TARGET).unwrap() = texture;
            contexts.put_back(context);
        };
        check(1, |_, _| (), false);
        check(1, in_unit, true);
        check(0, in_unit, false);
        check(1, |contexts, _| _ = Box::leak(contexts.take(2).unwrap()), true);
    }

    #[test]
    fn reused_handle_is_another_context() {
        check(&["ask", "create", "done"], true);
        check(&["take", "ask", "done", "put back", "create", "let go"], true);
        check(&["take", "create", "put back", "let go"], true);
        let mut contexts = contexts(&[(1, 0)]);
        let old = contexts.take(1).unwrap();
        contexts.create(1, DISPLAY, 0, ES, (3, 0));
        let group = old.group.clone();
        contexts.put_back(old);
        assert!(!Arc::ptr_eq(&contexts.take(1).unwrap().group, &group));
    }

    #[test]
    fn described_context_uses_the_programs_of_its_pipelines() {
        let mut contexts = contexts(&[(1, 0), (2, 1)]);
        let group = contexts.group(1).unwrap();
        let [program, other] = [7, 8].map(|name| group.lock().programs.create(name));
        assert_eq!(contexts.is_used(1, 5, program), Some(false));
        contexts.set_described(2, 5);
        let mut user = contexts.take(2).unwrap();
        assert_eq!(contexts.is_used(1, 5, program), None, "current in a thread");
        let pipeline = user.pipelines.create(1);
        *user.pipelines.get_mut(pipeline).unwrap().stages.at_mut(1).unwrap() = program;
        contexts.put_back(user);
        assert_eq!(contexts.is_used(1, 5, program), Some(true));
        assert_eq!(contexts.is_used(1, 5, other), Some(false));
        assert_eq!(contexts.is_used(1, 6, program), Some(false), "not described");
        assert_eq!(contexts.is_used(2, 5, program), Some(false), "the context itself");
    }

    #[test]
    fn only_contexts_that_are_not_described_may_use_a_program() {
        let mut contexts = contexts(&[(1, 0), (2, 1), (3, 0)]);
        let group = contexts.group(1).unwrap();
        let [program, other] = [7, 8].map(|name| group.lock().programs.create(name));
        let mut user = contexts.take(2).unwrap();
        contexts.set_described(1, 5);
        assert!(contexts.may_use(&group, 5, other), "a context in another thread");
        user.program = program;
        contexts.put_back(user);
        assert!(contexts.may_use(&group, 5, program));
        assert!(!contexts.may_use(&group, 5, other));
        assert!(!contexts.may_use(&contexts.group(3).unwrap(), 5, program));
        contexts.set_described(2, 5);
        assert!(!contexts.may_use(&group, 5, program));
        assert!(contexts.may_use(&group, 6, program));
        let mut user = contexts.take(2).unwrap();
        user.pipelines.create(1);
        contexts.put_back(user);
        assert!(contexts.may_use(&group, 6, other));
    }
}
