//! Debug output: messages in the driver's log, and labels of objects. `label_object` says which identifier stands for
//! which kind of object; a label of another kind is not kept.

use crate::{Memory, Observer, Scope, Thread, Whole};

/// Observes `count` NUL-terminated strings, one after the other, with their NULs, in a buffer of `size` bytes. Ends before
/// the first string that is not readable: a wild count would otherwise cost minutes.
pub fn messages<S: Scope, M: Memory + ?Sized, O: Observer + ?Sized>(
    _thread: &mut Thread<S>,
    memory: &M,
    seen: &mut O,
    param: u8,
    pointer: u64,
    count: u32,
    size: i32,
) {
    let room = u64::try_from(size).unwrap_or(0);
    let mut len = 0;
    for _ in 0..count {
        let text = pointer.wrapping_add(len);
        if len >= room || pointer == 0 || !memory.read(text, &mut [0]) {
            break;
        }
        len += memory.text_len(text, room - len) + 1;
    }
    let len = len.min(room);
    if pointer != 0 && len != 0 {
        seen.range(param, pointer, len);
    }
}

/// Ends the innermost debug group.
pub fn pop_debug_group<M: Memory + ?Sized>(thread: &mut Thread<Whole>, _memory: &M) {
    if let Some(context) = thread.context.as_deref_mut() {
        context.debug_groups.pop();
    }
}

/// Sets the label of an object; `identifier` is the kind of object, such as GL_BUFFER.
pub fn label_object<M: Memory + ?Sized>(
    thread: &mut Thread<Whole>,
    _memory: &M,
    identifier: u32,
    name: u32,
    label: String,
) {
    use gapii_commands::constants::*;
    let Some(context) = thread.context.as_deref_mut() else { return };
    let name = u64::from(name);
    macro_rules! label {
        ($table:expr) => {{
            let found = $table.find(name);
            if let Some(object) = $table.get_mut(found) {
                object.label = label;
            }
        }};
    }
    let mut group = context.group.lock();
    match identifier {
        GL_BUFFER => label!(group.buffers),
        GL_SHADER => label!(group.shaders),
        GL_PROGRAM => label!(group.programs),
        GL_TEXTURE => label!(group.textures),
        GL_RENDERBUFFER => label!(group.renderbuffers),
        GL_SAMPLER => label!(group.samplers),
        GL_VERTEX_ARRAY => label!(context.vertex_arrays),
        GL_QUERY => label!(context.queries),
        GL_PROGRAM_PIPELINE => label!(context.pipelines),
        GL_TRANSFORM_FEEDBACK => label!(context.transform_feedbacks),
        GL_FRAMEBUFFER => label!(context.framebuffers),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Seen, thread};
    use super::*;
    use crate::memory::tests::Bytes;

    #[test]
    fn messages_are_observed_with_their_zero_bytes_within_the_buffer() {
        let check = |count, size, expected: &[(u8, u64, u64)]| {
            let memory = Bytes(0x1000, b"one\0three\0rest".to_vec());
            let mut seen = Seen::default();
            messages(&mut thread((3, 2)), &memory, &mut seen, 7, 0x1000, count, size);
            assert_eq!(seen.0, expected, "{count} {size}");
        };
        check(0, 64, &[]);
        check(1, 64, &[(7, 0x1000, 4)]);
        check(2, 64, &[(7, 0x1000, 10)]);
        check(2, 6, &[(7, 0x1000, 6)]);
        check(2, -1, &[]);
        check(u32::MAX, i32::MAX, &[(7, 0x1000, 15)]);
    }
}
