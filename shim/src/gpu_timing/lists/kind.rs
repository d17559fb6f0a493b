//! `Kind`: what a command of Level Zero means for times on the GPU. The commands that are measured have the role
//! `works_on_gpu` in `apis/`.

use gapii_commands::Api;
use gapii_recorder::Timed;

use crate::generated::ids;
use crate::gpu_timing::kind::is_work;

/// Meaning of a command for times on the GPU. Lists are handles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The device executes it when it executes the list: it is measured.
    Work { list: u64 },
    /// It executes lists, whose handles are an array of the program.
    Executes { count: u32, lists: u64 },
    /// It waits for work, or asks whether work is done.
    Waits,
    /// It empties a list.
    Empties { list: u64 },
    /// It destroys a list.
    Ends { list: u64 },
    /// It destroys a context.
    EndsContext { context: u64 },
    /// It gives the next command of a list a number.
    Numbers { list: u64 },
    /// It makes another list with the commands of a list.
    Clones { list: u64 },
    /// From here on, commands of immediate lists may become a graph.
    CapturesGraph,
    /// Nothing.
    Other,
}

impl Kind {
    /// Returns the kind of a command of Level Zero.
    pub fn of(command: &Timed) -> Kind {
        let [first, second, third, ..] = command.arguments;
        let list = first;
        match command.id {
            ids::ZE_COMMAND_QUEUE_EXECUTE_COMMAND_LISTS
            | ids::ZE_COMMAND_LIST_IMMEDIATE_APPEND_COMMAND_LISTS_EXP
            | ids::ZE_COMMAND_LIST_IMMEDIATE_APPEND_COMMAND_LISTS_WITH_PARAMETERS => {
                Kind::Executes { count: second as u32, lists: third }
            }
            ids::ZE_COMMAND_QUEUE_SYNCHRONIZE
            | ids::ZE_COMMAND_LIST_HOST_SYNCHRONIZE
            | ids::ZE_FENCE_HOST_SYNCHRONIZE
            | ids::ZE_FENCE_QUERY_STATUS
            | ids::ZE_EVENT_HOST_SYNCHRONIZE
            | ids::ZE_EVENT_QUERY_STATUS => Kind::Waits,
            ids::ZE_COMMAND_LIST_RESET => Kind::Empties { list },
            ids::ZE_COMMAND_LIST_DESTROY => Kind::Ends { list },
            ids::ZE_CONTEXT_DESTROY => Kind::EndsContext { context: first },
            ids::ZE_COMMAND_LIST_GET_NEXT_COMMAND_ID_EXP
            | ids::ZE_COMMAND_LIST_GET_NEXT_COMMAND_ID_WITH_KERNELS_EXP => Kind::Numbers { list },
            ids::ZE_COMMAND_LIST_CREATE_CLONE_EXP => Kind::Clones { list },
            ids::ZE_COMMAND_LIST_BEGIN_GRAPH_CAPTURE_EXT
            | ids::ZE_COMMAND_LIST_BEGIN_CAPTURE_INTO_GRAPH_EXT => Kind::CapturesGraph,
            id if is_work(id) => Kind::Work { list },
            _ => Kind::Other,
        }
    }
}

/// Whether a command is one of Level Zero.
pub fn is_level_zero(id: u16) -> bool {
    Api::LevelZero.ids().contains(&id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_and_its_arguments_tell_the_kind() {
        let check = |id, expected| {
            let mut arguments = Timed::default().arguments;
            // The count of lists lies in a word with other bytes.
            arguments[..3].copy_from_slice(&[7, 5 << 32 | 2, 9]);
            assert!(is_level_zero(id));
            assert_eq!(Kind::of(&Timed { id, arguments, called_ns: 0 }), expected, "{id}");
        };
        for id in [
            ids::ZE_COMMAND_LIST_APPEND_LAUNCH_KERNEL,
            ids::ZE_COMMAND_LIST_APPEND_LAUNCH_KERNEL_INDIRECT,
            ids::ZE_COMMAND_LIST_APPEND_MEMORY_COPY,
            ids::ZE_COMMAND_LIST_APPEND_MEMORY_COPY_REGION,
            ids::ZE_COMMAND_LIST_APPEND_MEMORY_FILL,
            ids::ZE_COMMAND_LIST_APPEND_IMAGE_COPY_TO_MEMORY,
        ] {
            check(id, Kind::Work { list: 7 });
        }
        for id in [
            ids::ZE_COMMAND_LIST_APPEND_BARRIER,
            ids::ZE_COMMAND_LIST_APPEND_SIGNAL_EVENT,
            ids::ZE_COMMAND_LIST_APPEND_WRITE_GLOBAL_TIMESTAMP,
            ids::ZE_COMMAND_LIST_CLOSE,
        ] {
            check(id, Kind::Other);
        }
        check(ids::ZE_COMMAND_QUEUE_EXECUTE_COMMAND_LISTS, Kind::Executes { count: 2, lists: 9 });
        check(ids::ZE_FENCE_HOST_SYNCHRONIZE, Kind::Waits);
        check(ids::ZE_COMMAND_LIST_RESET, Kind::Empties { list: 7 });
        check(ids::ZE_COMMAND_LIST_DESTROY, Kind::Ends { list: 7 });
        check(ids::ZE_CONTEXT_DESTROY, Kind::EndsContext { context: 7 });
        check(ids::ZE_COMMAND_LIST_GET_NEXT_COMMAND_ID_EXP, Kind::Numbers { list: 7 });
        check(ids::ZE_COMMAND_LIST_CREATE_CLONE_EXP, Kind::Clones { list: 7 });
        check(ids::ZE_COMMAND_LIST_BEGIN_GRAPH_CAPTURE_EXT, Kind::CapturesGraph);
        assert!(!is_level_zero(ids::GL_CLEAR) && !is_level_zero(ids::EGL_SWAP_BUFFERS));
    }
}
