//! Commands of display lists that were kept when the program compiled them: their form, and what they change when a list is
//! called. At most 64 calls of lists inside others are followed (`DEPTH_MAX`), as in drivers.
//!
//! A kept command is a sequence of words:
//!
//! ```text
//! id (16 bits), bytes of arguments (16), words in all (32)
//! the arguments, as in a record
//! for each piece of memory: kind (8 bits), parameter (8), size in bytes (48); address; the bytes, padded to words
//! ```

use std::any::Any;

use crate::generated::lists::{COMPILED, UNPACKING, is_acting};
use crate::memory::Scalar;
use crate::{Context, Memory, Observer, Scope, Thread, Tracked, Values};

/// Maximum depth of calls of lists inside others.
const DEPTH_MAX: u32 = 64;
const SIZE_BITS: u32 = 48;

/// When a command reads a piece of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Piece {
    /// Memory that the command always reads.
    Slot,
    /// Memory that it reads depending on state.
    Range,
}

/// A command of a list.
#[derive(Clone, Copy)]
pub struct KeptCommand<'a> {
    /// The command's id.
    pub id: u16,
    /// Size of the arguments in bytes.
    pub fixed_bytes: usize,
    /// The arguments.
    pub fixed: &'a [u64],
    pieces: &'a [u64],
}

/// A piece of memory of a command.
pub struct KeptPiece<'a> {
    /// What it is to the command.
    pub piece: Piece,
    /// The parameter, of a range.
    pub param: u8,
    /// Where the program had it.
    pub address: u64,
    /// The bytes, padded with zeros to words; `None` if they were not readable.
    pub words: Option<&'a [u64]>,
    /// Size in bytes.
    pub bytes: usize,
}

/// Whether the context compiles a list, or is between glBegin and glEnd: it takes no commands of a snapshot then.
pub fn is_busy<S: Scope>(context: &Context<S>) -> bool {
    context.list != 0 || context.begun.is_some()
}

/// Returns whether display lists have the command.
#[inline]
pub fn is_compiled(id: u16) -> bool {
    is_in(&COMPILED, id)
}

/// Returns whether the command takes pixels from the pixel unpack buffer when a list is compiled.
pub fn unpacks(id: u16) -> bool {
    is_in(&UNPACKING, id)
}

#[inline]
fn is_in(commands: &[u64], id: u16) -> bool {
    commands.get(usize::from(id / 64)).is_some_and(|word| word & (1 << (id % 64)) != 0)
}

/// Returns the first word of a command.
pub fn head(id: u16, fixed_bytes: u32, words: usize) -> u64 {
    u64::from(id) | u64::from(fixed_bytes as u16) << 16 | (words as u64) << 32
}

/// Returns the first two words of a piece of memory; `is_missing`: without its bytes.
pub fn piece_head(piece: Piece, is_missing: bool, param: u8, address: u64, size: u64) -> [u64; 2] {
    let kind = u64::from(piece == Piece::Range) | u64::from(is_missing) << 1;
    let size = if is_missing { 0 } else { size };
    [kind << 56 | u64::from(param) << SIZE_BITS | size, address]
}

/// Returns the commands in `words`.
pub fn commands(words: &[u64]) -> impl Iterator<Item = KeptCommand<'_>> {
    let mut rest = words;
    core::iter::from_fn(move || {
        let (command, after) = split(rest)?;
        rest = after;
        Some(command)
    })
}

/// Returns the offsets of the commands that change tracked state. A pair of glBegin and glEnd without others between changes
/// nothing.
pub fn acting(words: &[u64]) -> Vec<u32> {
    use gapii_commands::ids::{GL_BEGIN, GL_END};
    let mut found: Vec<(u32, u16)> = Vec::new();
    let mut rest = words;
    while let Some((command, after)) = split(rest) {
        let at = (words.len() - rest.len()) as u32;
        rest = after;
        match (command.id, found.last()) {
            (GL_END, Some((_, GL_BEGIN))) => {
                found.pop();
            }
            (id, _) if is_acting(id) => found.push((at, id)),
            _ => {}
        }
    }
    found.into_iter().map(|(at, _)| at).collect()
}

fn split(words: &[u64]) -> Option<(KeptCommand<'_>, &[u64])> {
    let head = *words.first()?;
    let (id, fixed_bytes) = (head as u16, usize::from((head >> 16) as u16));
    let (own, after) = words.split_at_checked((head >> 32) as usize)?;
    let (fixed, pieces) = own.get(1..)?.split_at_checked(fixed_bytes.div_ceil(8))?;
    Some((KeptCommand { id, fixed_bytes, fixed, pieces }, after))
}

impl<'a> KeptCommand<'a> {
    /// Returns the lists that the command calls, as long as the base of lists is 0.
    pub fn called(&self) -> Vec<u32> {
        use gapii_commands::ids::{GL_CALL_LIST, GL_CALL_LISTS};
        let mut arguments = Arguments::of(self);
        match self.id {
            GL_CALL_LIST => vec![arguments.take()],
            GL_CALL_LISTS => {
                let (count, kind) = (arguments.take::<i32>(), arguments.take());
                let lists = arguments.take();
                (0..i64::from(count)).map(|at| number(self, kind, lists, at) as u32).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the memory that the command read.
    pub fn pieces(&self) -> impl Iterator<Item = KeptPiece<'a>> + use<'a> {
        let mut rest = self.pieces;
        core::iter::from_fn(move || {
            let (head, after) = rest.split_first_chunk::<2>()?;
            let [head, address] = *head;
            let bytes = (head & ((1 << SIZE_BITS) - 1)) as usize;
            let (words, next) = after.split_at_checked(bytes.div_ceil(8))?;
            rest = next;
            let kind = head >> 56;
            let piece = if kind & 1 == 0 { Piece::Slot } else { Piece::Range };
            let words = (kind & 2 == 0).then_some(words);
            Some(KeptPiece { piece, param: (head >> SIZE_BITS) as u8, address, words, bytes })
        })
    }
}

/// The memory of a kept command, at the addresses where the program had it.
impl Memory for KeptCommand<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let found = self.pieces().find_map(|piece| {
            let begin = usize::try_from(address.checked_sub(piece.address)?).ok()?;
            let end = begin.checked_add(into.len())?;
            (end <= piece.bytes).then_some((piece.words?, begin))
        });
        let Some((words, begin)) = found else { return false };
        for (at, byte) in into.iter_mut().enumerate() {
            let at = begin + at;
            *byte = words.get(at / 8).map_or(0, |word| word.to_le_bytes()[at % 8]);
        }
        true
    }

    fn text_len(&self, _address: u64, _most: u64) -> u64 {
        0
    }
}

/// An observer of commands that are executed, also while a list is compiled.
pub struct Executed;

impl Observer for Executed {
    const COMPILES: bool = false;

    fn range(&mut self, _param: u8, _address: u64, _len: u64) {}
}

/// The arguments of a kept command, one after the other.
pub struct Arguments<'a> {
    words: &'a [u64],
    at: usize,
}

impl<'a> Arguments<'a> {
    /// Begins with the first argument.
    pub fn of(command: &KeptCommand<'a>) -> Self {
        Self { words: command.fixed, at: 0 }
    }

    /// Returns the next argument.
    pub fn take<T: Scalar>(&mut self) -> T {
        let at = self.at.next_multiple_of(T::BYTES);
        self.at = at + T::BYTES;
        T::read(&Words(self.words), at as u64).unwrap_or(T::ZERO)
    }
}

/// Words as memory at address 0.
struct Words<'a>(&'a [u64]);

impl Memory for Words<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        for (at, byte) in (address as usize..).zip(into.iter_mut()) {
            let Some(word) = self.0.get(at / 8) else { return false };
            *byte = word.to_le_bytes()[at % 8];
        }
        true
    }

    fn text_len(&self, _address: u64, _most: u64) -> u64 {
        0
    }
}

/// Defines `act`, which applies a kept command to the tracked state, and `is_acting`.
macro_rules! acting_commands {
    ($($id:ident $name:ident($($place:tt)*);)*) => {
        /// Applies a kept command to the tracked state.
        pub fn act(thread: &mut crate::Thread, kept: crate::gl::lists::KeptCommand<'_>) {
            let mut arguments = crate::gl::lists::Arguments::of(&kept);
            let memory: &dyn crate::Memory = &kept;
            let seen = &mut crate::gl::lists::Executed;
            match kept.id {
                $(ids::$id => commands::$name::enter(
                    thread, memory, seen, $($crate::gl::lists::next!(arguments $place)),*
                ),)*
                _ => {}
            }
        }

        /// Whether the command changes tracked state.
        pub fn is_acting(id: u16) -> bool {
            matches!(id, $(ids::$id)|*)
        }
    };
}
pub(crate) use acting_commands;

macro_rules! next {
    ($arguments:ident $place:tt) => {
        $arguments.take()
    };
}
pub(crate) use next;

/// Changes the tracked state as the commands of a list do.
pub fn call_list<S: Scope, M: Memory + ?Sized>(thread: &mut Thread<S>, _memory: &M, list: i64) {
    // The tools keep no commands.
    let Some(thread) = (thread as &mut dyn Any).downcast_mut::<Thread<Tracked>>() else { return };
    let Some(context) = thread.context.as_deref_mut() else { return };
    if context.list_depth >= DEPTH_MAX {
        return;
    }
    let mut acting = Vec::new();
    {
        let group = context.group.lock();
        let found = group.display_lists.find(list as u32 as u64);
        let Some(list) = group.display_lists.get(found) else { return };
        for at in &list.acting {
            let words = list.commands.get(*at as usize..).unwrap_or_default();
            let len = words.first().map_or(0, |head| (head >> 32) as usize);
            acting.extend_from_slice(words.get(..len).unwrap_or_default());
        }
    }
    if acting.is_empty() {
        return;
    }
    context.list_depth += 1;
    for command in commands(&acting) {
        crate::generated::lists::act(thread, command);
    }
    if let Some(context) = thread.context.as_deref_mut() {
        context.list_depth = context.list_depth.saturating_sub(1);
    }
}

/// Changes the tracked state as the commands of the lists do whose numbers are in an array of this type.
pub fn call_lists<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    count: i64,
    kind: u32,
    lists: u64,
) {
    if S::WHOLE {
        return;
    }
    let has_acting = thread.context.as_deref().is_some_and(|context| {
        let group = context.group.lock();
        group.display_lists.named().any(|(_, list)| !list.acting.is_empty())
    });
    if !has_acting {
        return;
    }
    for at in 0..count {
        // A list may change the base for the next one.
        let base = thread.context.as_deref().map_or(0, |context| i64::from(context.list_base));
        call_list(thread, memory, base + number(memory, kind, lists, at));
    }
}

/// Returns the number of a list (OpenGL 4.6, compatibility profile, 21.4): bytes of one number are the highest first.
fn number<M: Memory + ?Sized>(memory: &M, kind: u32, lists: u64, at: i64) -> i64 {
    use gapii_commands::constants::*;
    let bytes = |count: i64| {
        (0..count).fold(0, |sum, byte| {
            sum << 8 | i64::from(memory.element::<u8>(lists, at * count + byte))
        })
    };
    match kind {
        GL_BYTE => i64::from(memory.element::<i8>(lists, at)),
        GL_UNSIGNED_BYTE => bytes(1),
        GL_SHORT => i64::from(memory.element::<i16>(lists, at)),
        GL_UNSIGNED_SHORT => i64::from(memory.element::<u16>(lists, at)),
        GL_INT => i64::from(memory.element::<i32>(lists, at)),
        GL_UNSIGNED_INT => i64::from(memory.element::<u32>(lists, at)),
        GL_FLOAT => memory.element::<f32>(lists, at) as i64,
        GL_2_BYTES => bytes(2),
        GL_3_BYTES => bytes(3),
        GL_4_BYTES => bytes(4),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gapii_commands::constants::{
        GL_2_BYTES, GL_3_BYTES, GL_4_BYTES, GL_COMPILE, GL_TEXTURE1, GL_UNSIGNED_BYTE,
        GL_UNSIGNED_SHORT,
    };
    use gapii_commands::ids::{
        GL_ACTIVE_TEXTURE, GL_BEGIN, GL_CALL_LIST, GL_CALL_LISTS, GL_END, GL_LIST_BASE,
        GL_TEX_PARAMETERIV, GL_VERTEX3F,
    };

    use super::*;
    use crate::memory::tests::Bytes;
    use crate::{Context, ContextApi, Ignore, Nothing};

    /// A command with arguments in whole words.
    fn kept(id: u16, arguments: &[u64]) -> Vec<u64> {
        let mut words = vec![head(id, arguments.len() as u32 * 8, 1 + arguments.len())];
        words.extend(arguments);
        words
    }

    fn compatibility() -> Thread {
        let mut thread = Thread::new(Arc::default(), 1);
        let mut context = Context::new(1, Arc::default(), (2, 1));
        context.api = ContextApi::Compatibility;
        thread.context = Some(Box::new(context));
        thread
    }

    fn define(thread: &mut Thread, list: u32, words: Vec<u64>) {
        let context = thread.context.as_deref_mut().unwrap();
        let mut group = context.group.lock();
        let made = group.display_lists.bind(list.into());
        let list = group.display_lists.get_mut(made).unwrap();
        (list.acting, list.commands) = (acting(&words), words);
    }

    fn active(thread: &Thread) -> u32 {
        thread.context.as_deref().unwrap().active_texture
    }

    #[test]
    fn commands_have_their_arguments_and_memory() {
        let mut words = kept(GL_TEX_PARAMETERIV, &[7, 0x5000]);
        words.extend(piece_head(Piece::Range, false, 2, 0x5000, 12));
        words.extend([5, 6]);
        words.extend(piece_head(Piece::Slot, true, 255, 0x9000, 40));
        words[0] = head(GL_TEX_PARAMETERIV, 16, words.len());
        words.extend(kept(GL_END, &[]));
        let found: Vec<_> = commands(&words).collect();
        assert_eq!(found.iter().map(|it| it.id).collect::<Vec<_>>(), [GL_TEX_PARAMETERIV, GL_END]);
        let pieces: Vec<_> = found[0].pieces().collect();
        assert_eq!((pieces[0].piece, pieces[0].param, pieces[0].bytes), (Piece::Range, 2, 12));
        assert_eq!(pieces[0].words, Some(&[5, 6][..]));
        assert_eq!((pieces[1].piece, pieces[1].words), (Piece::Slot, None));
        let mut read = [0; 4];
        assert!(found[0].read(0x5008, &mut read) && read == [6, 0, 0, 0]);
        assert!(!found[0].read(0x5009, &mut read) && !found[0].read(0x9000, &mut read));
    }

    #[test]
    fn called_list_changes_what_its_commands_change_and_so_do_lists_in_it() {
        let mut thread = compatibility();
        define(&mut thread, 3, kept(GL_ACTIVE_TEXTURE, &[GL_TEXTURE1.into()]));
        define(&mut thread, 4, kept(GL_CALL_LIST, &[3]));
        call_list(&mut thread, &Nothing, 9);
        assert_eq!(active(&thread), 0);
        call_list(&mut thread, &Nothing, 4);
        assert_eq!(active(&thread), 1);
    }

    #[test]
    fn lists_are_called_in_lists_by_the_base_that_is_set_then() {
        let mut thread = compatibility();
        let call = |base: u64| {
            let mut words = kept(GL_LIST_BASE, &[base]);
            let numbers = [1 | u64::from(GL_UNSIGNED_BYTE) << 32, 0x5000];
            let pieces = piece_head(Piece::Slot, false, 2, 0x5000, 1).into_iter().chain([4]);
            let mut called = kept(GL_CALL_LISTS, &numbers);
            called.extend(pieces);
            called[0] = head(GL_CALL_LISTS, 16, called.len());
            words.extend(called);
            words
        };
        define(&mut thread, 12, kept(GL_ACTIVE_TEXTURE, &[GL_TEXTURE1.into()]));
        define(&mut thread, 13, call(6));
        define(&mut thread, 14, call(8));
        call_list(&mut thread, &Nothing, 13);
        assert_eq!(active(&thread), 0);
        call_list(&mut thread, &Nothing, 14);
        assert_eq!(active(&thread), 1);
    }

    #[test]
    fn list_that_calls_itself_ends() {
        let mut thread = compatibility();
        define(&mut thread, 3, kept(GL_CALL_LIST, &[3]));
        call_list(&mut thread, &Nothing, 3);
        assert_eq!(thread.context.as_deref().unwrap().list_depth, 0);
    }

    #[test]
    fn lists_are_called_by_numbers_of_any_width() {
        let bytes = Bytes(0x1000, vec![0x00, 0x03, 0x7f, 0x00]);
        let check = |kind, at, expected| assert_eq!(number(&bytes, kind, 0x1000, at), expected);
        check(GL_UNSIGNED_BYTE, 1, 3);
        check(GL_2_BYTES, 0, 3);
        check(GL_UNSIGNED_SHORT, 1, 0x7f);
        check(GL_3_BYTES, 0, 0x37f);
        check(GL_4_BYTES, 0, 0x37f00);
    }

    #[test]
    fn whole_primitive_does_not_act_and_a_part_of_one_does() {
        let mut words = kept(GL_BEGIN, &[4]);
        words.extend(kept(GL_VERTEX3F, &[0, 0]));
        words.extend(kept(GL_END, &[]));
        assert_eq!(acting(&words), []);
        words.extend(kept(GL_BEGIN, &[4]));
        assert_eq!(acting(&words), [6]);
    }

    #[test]
    fn compiled_commands_change_nothing_until_the_list_ends() {
        let mut thread = compatibility();
        crate::commands::glNewList::enter(&mut thread, &Nothing, &mut Ignore, 1, GL_COMPILE);
        crate::commands::glActiveTexture::enter(&mut thread, &Nothing, &mut Ignore, GL_TEXTURE1);
        assert_eq!(active(&thread), 0);
        crate::commands::glActiveTexture::enter(&mut thread, &Nothing, &mut Executed, GL_TEXTURE1);
        assert_eq!(active(&thread), 1);
        crate::commands::glEndList::enter(&mut thread, &Nothing, &mut Ignore);
        crate::commands::glActiveTexture::enter(
            &mut thread,
            &Nothing,
            &mut Ignore,
            GL_TEXTURE1 - 1,
        );
        assert_eq!(active(&thread), 0);
    }
}
