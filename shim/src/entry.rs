//! Entry points: the symbols that the program calls. Each is one indirect jump through [`TABLE`]. Until the shim is set
//! up, every slot leads to a stub of [`stubs`](crate::stubs).

use gapii_tool_api::for_each_command;

use crate::generated::{entries, ids};

macro_rules! entry_points {
    ($($name:ident $params:tt $(-> $result:ty)?;)*) => {
        /// Entry points by id.
        pub static ENTRY_POINTS: [unsafe extern "C" fn(); ids::COUNT] = [$(entries::$name),*];
    };
}
for_each_command!(entry_points);

/// Defines an entry point with an external name.
macro_rules! exported {
    ($name:ident, $id:ident) => {
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            $crate::entry::jump_through_table!($id)
        }
    };
}
pub(crate) use exported;

/// Defines an entry point that only `eglGetProcAddress` hands out.
macro_rules! entry {
    ($name:ident, $id:ident) => {
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            $crate::entry::jump_through_table!($id)
        }
    };
}
pub(crate) use entry;

#[cfg(target_arch = "x86_64")]
macro_rules! jump_through_table {
    ($id:ident) => {
        core::arch::naked_asm!(
            "jmp qword ptr [rip + {table} + {offset}]",
            table = sym $crate::table::TABLE,
            offset = const $crate::generated::ids::$id as usize * 8,
        )
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! jump_through_table {
    ($id:ident) => {
        core::arch::naked_asm!(
            "adrp x16, {table} + {offset}",
            "ldr x16, [x16, :lo12:{table} + {offset}]",
            "br x16",
            table = sym $crate::table::TABLE,
            offset = const $crate::generated::ids::$id as usize * 8,
        )
    };
}
pub(crate) use jump_through_table;
