//! `Kind`: what a command of EGL or OpenGL ES means for times on the GPU. The commands that are measured have the role `works_on_gpu` in `apis/`.

use gapii_commands::FRAME_ENDS;
use gapii_commands::constants::{GL_GPU_DISJOINT_EXT, GL_TIME_ELAPSED_EXT, GL_TIMESTAMP_EXT};
use gapii_recorder::Timed;

use crate::generated::gpu_work::GPU_WORK;
use crate::generated::ids;

/// Meaning of a command for times on the GPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The GPU executes it: it is measured.
    Work,
    /// It ends a frame.
    FrameEnd,
    /// It returns when the GPU has executed everything.
    Finish,
    /// The thread gives up its context. `for_good`: perhaps no thread has the context any more.
    Leaves { for_good: bool },
    /// With it the program measures times on the GPU itself.
    TimerQuery,
    /// Nothing.
    Other,
}

/// By id: whether the GPU executes the command.
static IS_WORK: [bool; ids::COUNT] = table_of(GPU_WORK);
/// By id: whether the command ends a frame.
static ENDS_FRAME: [bool; ids::COUNT] = table_of(FRAME_ENDS);

const fn table_of(list: &[u16]) -> [bool; ids::COUNT] {
    let mut table = [false; ids::COUNT];
    let mut at = 0;
    while at < list.len() {
        table[list[at] as usize] = true;
        at += 1;
    }
    table
}

impl Kind {
    /// Returns the kind of a command in a thread whose current context is `current`.
    pub fn of(command: &Timed, current: u64) -> Kind {
        let [first, second, third, fourth, ..] = command.arguments;
        match command.id {
            ids::GL_FINISH => Kind::Finish,
            ids::EGL_MAKE_CURRENT
            | ids::GLX_MAKE_CONTEXT_CURRENT
            | ids::GLX_MAKE_CURRENT_READ_SGI
                if fourth != current =>
            {
                Kind::Leaves { for_good: fourth == 0 }
            }
            ids::GLX_MAKE_CURRENT if third != current => Kind::Leaves { for_good: third == 0 },
            ids::EGL_DESTROY_CONTEXT | ids::GLX_DESTROY_CONTEXT if second == current => {
                Kind::Leaves { for_good: true }
            }
            ids::EGL_RELEASE_THREAD | ids::EGL_TERMINATE => Kind::Leaves { for_good: true },
            ids::GL_QUERY_COUNTER_EXT => Kind::TimerQuery,
            ids::GL_BEGIN_QUERY
            | ids::GL_BEGIN_QUERY_EXT
            | ids::GL_GET_QUERYIV
            | ids::GL_GET_QUERYIV_EXT
                if [GL_TIME_ELAPSED_EXT, GL_TIMESTAMP_EXT].contains(&(first as u32)) =>
            {
                Kind::TimerQuery
            }
            ids::GL_GET_BOOLEANV
            | ids::GL_GET_FLOATV
            | ids::GL_GET_INTEGERV
            | ids::GL_GET_INTEGER64V
            | ids::GL_GET_INTEGER64V_APPLE
            | ids::GL_GET_INTEGER64V_EXT
                if first as u32 == GL_GPU_DISJOINT_EXT =>
            {
                Kind::TimerQuery
            }
            id if is_work(id) => Kind::Work,
            id if ends_frame(id) => Kind::FrameEnd,
            _ => Kind::Other,
        }
    }
}

/// Whether the GPU executes the command.
pub fn is_work(id: u16) -> bool {
    is_in(&IS_WORK, id)
}

/// Whether the command ends a frame.
pub fn ends_frame(id: u16) -> bool {
    is_in(&ENDS_FRAME, id)
}

fn is_in(table: &[bool; ids::COUNT], id: u16) -> bool {
    table.get(usize::from(id)) == Some(&true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gapii_recorder::ARGUMENT_WORDS;

    use gapii_commands::constants::{GL_ANY_SAMPLES_PASSED, GL_MAX_TEXTURE_SIZE};

    #[test]
    fn command_and_its_arguments_tell_the_kind() {
        let check = |id, first: [u64; 4], expected| {
            let mut arguments = [0; ARGUMENT_WORDS];
            arguments[..4].copy_from_slice(&first);
            let command = Timed { id, arguments, called_ns: 0 };
            assert_eq!(Kind::of(&command, 7), expected, "{id} {first:?}");
        };
        check(ids::GL_DRAW_ARRAYS, [0; 4], Kind::Work);
        check(ids::GL_CLEAR, [0; 4], Kind::Work);
        check(ids::GL_CLEAR_COLOR, [0; 4], Kind::Other);
        check(ids::EGL_SWAP_BUFFERS, [0; 4], Kind::FrameEnd);
        check(ids::EGL_SWAP_BUFFERS_WITH_DAMAGE_KHR, [0; 4], Kind::FrameEnd);
        check(ids::EGL_MAKE_CURRENT, [1, 2, 2, 7], Kind::Other);
        check(ids::EGL_MAKE_CURRENT, [1, 2, 2, 8], Kind::Leaves { for_good: false });
        check(ids::EGL_MAKE_CURRENT, [1, 0, 0, 0], Kind::Leaves { for_good: true });
        check(ids::GLX_MAKE_CURRENT, [1, 2, 7, 0], Kind::Other);
        check(ids::GLX_MAKE_CURRENT, [1, 2, 8, 0], Kind::Leaves { for_good: false });
        check(ids::GLX_MAKE_CURRENT, [1, 0, 0, 0], Kind::Leaves { for_good: true });
        check(ids::GLX_MAKE_CONTEXT_CURRENT, [1, 2, 2, 8], Kind::Leaves { for_good: false });
        check(ids::GLX_DESTROY_CONTEXT, [1, 7, 0, 0], Kind::Leaves { for_good: true });
        check(ids::EGL_DESTROY_CONTEXT, [1, 7, 0, 0], Kind::Leaves { for_good: true });
        check(ids::EGL_DESTROY_CONTEXT, [1, 8, 0, 0], Kind::Other);
        check(ids::GL_QUERY_COUNTER_EXT, [0; 4], Kind::TimerQuery);
        check(ids::GL_GET_QUERYIV_EXT, [u64::from(GL_TIMESTAMP_EXT), 0, 0, 0], Kind::TimerQuery);
        check(ids::GL_FINISH, [0; 4], Kind::Finish);
        // The name of the query lies in the same word as the target.
        let with_name = |target: u32| [u64::from(target) | 3 << 32, 0, 0, 0];
        check(ids::GL_BEGIN_QUERY_EXT, with_name(GL_TIME_ELAPSED_EXT), Kind::TimerQuery);
        check(ids::GL_BEGIN_QUERY, with_name(GL_ANY_SAMPLES_PASSED), Kind::Other);
        check(ids::GL_GET_INTEGERV, with_name(GL_GPU_DISJOINT_EXT), Kind::TimerQuery);
        check(ids::GL_GET_INTEGERV, with_name(GL_MAX_TEXTURE_SIZE), Kind::Other);
    }
}
