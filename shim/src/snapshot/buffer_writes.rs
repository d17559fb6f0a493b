//! Commands of a replay that write bytes to the data store of a buffer.

use gapii_abi::spare_names;
use gapii_commands::constants::{GL_COPY_READ_BUFFER, GL_DYNAMIC_DRAW, GL_DYNAMIC_STORAGE_BIT_EXT};

use super::emit::Emitter;
use super::spare;
use crate::generated::ids::*;

/// How a data store takes bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// By glBufferSubData.
    Written,
    /// By a copy alone: it is immutable without GL_DYNAMIC_STORAGE_BIT_EXT (GL_EXT_buffer_storage).
    Copied,
}

impl Way {
    /// `usage` is the storage flags of an immutable data store.
    pub fn of(is_immutable: bool, usage: u32) -> Self {
        match is_immutable && usage & GL_DYNAMIC_STORAGE_BIT_EXT == 0 {
            true => Self::Copied,
            false => Self::Written,
        }
    }
}

/// Writes bytes to the buffer that is bound to `target`, from byte `at` on. A copy leaves nothing bound to
/// GL_COPY_READ_BUFFER, which is not the target then.
pub fn write(emitter: &mut Emitter, way: Way, target: u32, at: usize, bytes: &[u8]) {
    let (at, len) = (at as i64, bytes.len() as i64);
    if way == Way::Written {
        let command = emitter.command(GL_BUFFER_SUB_DATA).arg(target).arg(at).arg(len);
        return command.arg(bytes.as_ptr()).range(3, bytes).done();
    }
    let from = GL_COPY_READ_BUFFER;
    emitter.make(GL_GEN_BUFFERS, spare_names::FIRST);
    emitter.command(GL_BIND_BUFFER).arg(from).arg(spare_names::FIRST).done();
    let command = emitter.command(GL_BUFFER_DATA).arg(from).arg(len);
    command.arg(bytes.as_ptr()).arg(GL_DYNAMIC_DRAW).range(2, bytes).done();
    let command = emitter.command(GL_COPY_BUFFER_SUB_DATA).arg(from).arg(target);
    command.arg(0_i64).arg(at).arg(len).done();
    spare::delete(emitter, GL_DELETE_BUFFERS, &[spare_names::FIRST]);
}
