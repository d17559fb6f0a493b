//! Mapped buffers: the program's writes into a mapping become a fake `memcpy` to the mapping's address. Players stop at
//! an address that no mapping command returned, so only known mappings are written. A whole buffer, whose size is not
//! tracked, counts as 4 GiB; a new mapping replaces older ones that it overlaps.

use std::collections::HashMap;

use gapii_commands::CommandId;
use gapii_trace::Command;

use super::arguments::{argument, number};
use super::ranges::Range;

/// The currently mapped buffers, from the commands that map and unmap them.
#[derive(Default)]
pub struct Mappings {
    /// The bound buffer, by context and target.
    bound: HashMap<(u64, u64), u64>,
    /// The mappings.
    mapped: Vec<Mapping>,
}

struct Mapping {
    address: u64,
    /// Size in bytes; 2^32 for a whole buffer, whose size is not tracked.
    size: u64,
    buffer: u64,
}

const WHOLE_BUFFER_BYTES: u64 = 1 << 32;

/// Effect of a command on mappings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    None,
    Bind,
    Map,
    Unmap,
}

impl Role {
    /// Returns the role of a command.
    pub fn of(command: CommandId) -> Self {
        match command {
            CommandId::GL_BIND_BUFFER
            | CommandId::GL_BIND_BUFFER_BASE
            | CommandId::GL_BIND_BUFFER_RANGE => Self::Bind,
            CommandId::GL_MAP_BUFFER_RANGE
            | CommandId::GL_MAP_BUFFER_RANGE_EXT
            | CommandId::GL_MAP_BUFFER_OES => Self::Map,
            CommandId::GL_UNMAP_BUFFER | CommandId::GL_UNMAP_BUFFER_OES => Self::Unmap,
            _ => Self::None,
        }
    }
}

impl Mappings {
    /// Applies a command to the state. Call this after the command was written.
    pub fn follow(&mut self, role: Role, command: &Command<'_>) {
        let Some(target) = argument(command, "target") else { return };
        let place = (command.context, target);
        match role {
            Role::None => {}
            Role::Bind => {
                self.bound.insert(place, argument(command, "buffer").unwrap_or(0));
            }
            Role::Map => {
                let address = command.result().and_then(|(value, _)| number(value)).unwrap_or(0);
                let size = argument(command, "length").unwrap_or(WHOLE_BUFFER_BYTES);
                let buffer = self.bound.get(&place).copied().unwrap_or(0);
                if address != 0 {
                    // An older mapping that overlaps this one no longer exists.
                    self.mapped.retain(|other| !other.overlaps(address, size));
                    self.mapped.push(Mapping { address, size, buffer });
                }
            }
            Role::Unmap => {
                let buffer = self.bound.get(&place).copied().unwrap_or(0);
                self.mapped.retain(|other| other.buffer != buffer);
            }
        }
    }

    /// Returns true if `range` lies in a mapped buffer.
    pub fn has(&self, range: &Range<'_>) -> bool {
        self.mapped.iter().any(|mapping| {
            mapping.address <= range.address && range.end() <= mapping.address + mapping.size
        })
    }
}

impl Mapping {
    fn overlaps(&self, address: u64, size: u64) -> bool {
        self.address < address.saturating_add(size) && address < self.address + self.size
    }
}
