//! What no replay can play: code and memory of other programs, and arguments that are not in a trace.

use gapii_commands::CommandId;

use crate::skip::{Outcome, Skip};

const CALLBACK: &str = "callbacks are code of the program, which is not there";
const IPC: &str = "memory and events of other programs are not played";
const ARGUMENTS: &str = "the kernel's arguments are not in a trace";
const GEOMETRIES: &str = "geometries of ray tracing are not in a trace";

/// Functions, and why.
#[rustfmt::skip]
const FUNCTIONS: &[(CommandId, &str)] = &[
    (CommandId::ZE_COMMAND_LIST_APPEND_HOST_FUNCTION, CALLBACK),
    (CommandId::ZE_GRAPH_SET_DESTRUCTION_CALLBACK_EXT, CALLBACK),
    (CommandId::ZE_COMMAND_LIST_APPEND_LAUNCH_KERNEL_WITH_ARGUMENTS, ARGUMENTS),
    (CommandId::ZE_EVENT_COUNTER_BASED_OPEN_IPC_HANDLE, IPC),
    (CommandId::ZE_EVENT_POOL_OPEN_IPC_HANDLE, IPC),
    (CommandId::ZE_EVENT_POOL_PUT_IPC_HANDLE, IPC),
    (CommandId::ZE_MEM_CLOSE_IPC_HANDLE, IPC),
    (CommandId::ZE_MEM_GET_FILE_DESCRIPTOR_FROM_IPC_HANDLE_EXP, IPC),
    (CommandId::ZE_MEM_GET_IPC_HANDLE_FROM_FILE_DESCRIPTOR_EXP, IPC),
    (CommandId::ZE_MEM_OPEN_IPC_HANDLE, IPC),
    (CommandId::ZE_MEM_PUT_IPC_HANDLE, IPC),
    (CommandId::ZE_RTAS_BUILDER_BUILD_EXP, GEOMETRIES),
    (CommandId::ZE_RTAS_BUILDER_BUILD_EXT, GEOMETRIES),
];

/// What is in the names of structures that have handles and addresses of the system's.
const FOREIGN: [&str; 4] = ["_import_", "external_semaphore", "memmap_sysmem", "win32"];

/// Refuses a command that no replay can play, with the reason.
pub fn function(command: CommandId) -> Outcome {
    match FUNCTIONS.iter().find(|(refused, _)| *refused == command) {
        Some((_, why)) => Err(Skip::from(*why)),
        None => Ok(()),
    }
}

/// A C struct, by its name.
pub fn structure(name: &str) -> Outcome {
    match FOREIGN.iter().any(|part| name.contains(part)) {
        true => Err(Skip::from(format!("{name} has a handle or an address of the system's"))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_that_import_are_refused() {
        assert!(structure("ze_external_memory_import_fd_t").is_err());
        assert!(structure("ze_external_memory_export_desc_t").is_ok());
        assert!(structure("ze_device_mem_alloc_desc_t").is_ok());
    }
}
