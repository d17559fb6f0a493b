//! What no replay can play: code and memory of other programs, and arguments that are not in a trace.

use crate::call::{Outcome, Skip};

const CALLBACK: &str = "callbacks are code of the program, which is not there";
const IPC: &str = "memory and events of other programs are not played";
const ARGUMENTS: &str = "the kernel's arguments are not in a trace";
const GEOMETRIES: &str = "geometries of ray tracing are not in a trace";

/// Functions, and why.
#[rustfmt::skip]
const FUNCTIONS: &[(&str, &str)] = &[
    ("zeCommandListAppendHostFunction", CALLBACK),
    ("zeGraphSetDestructionCallbackExt", CALLBACK),
    ("zeCommandListAppendLaunchKernelWithArguments", ARGUMENTS),
    ("zeEventCounterBasedOpenIpcHandle", IPC),
    ("zeEventPoolOpenIpcHandle", IPC),
    ("zeEventPoolPutIpcHandle", IPC),
    ("zeMemCloseIpcHandle", IPC),
    ("zeMemGetFileDescriptorFromIpcHandleExp", IPC),
    ("zeMemGetIpcHandleFromFileDescriptorExp", IPC),
    ("zeMemOpenIpcHandle", IPC),
    ("zeMemPutIpcHandle", IPC),
    ("zeRTASBuilderBuildExp", GEOMETRIES),
    ("zeRTASBuilderBuildExt", GEOMETRIES),
];

/// What is in the names of structures that have handles and addresses of the system's.
const FOREIGN: [&str; 4] = ["_import_", "external_semaphore", "memmap_sysmem", "win32"];

pub fn function(name: &str) -> Outcome {
    match FUNCTIONS.iter().find(|(refused, _)| *refused == name) {
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
    use gapii_commands::CommandId;

    use super::*;

    #[test]
    fn every_refused_function_is_described() {
        for (name, _) in FUNCTIONS {
            assert!(CommandId::named(name).is_some(), "{name}");
        }
    }

    #[test]
    fn structures_that_import_are_refused() {
        assert!(structure("ze_external_memory_import_fd_t").is_err());
        assert!(structure("ze_external_memory_export_desc_t").is_ok());
        assert!(structure("ze_device_mem_alloc_desc_t").is_ok());
    }
}
