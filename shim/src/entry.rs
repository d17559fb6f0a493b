//! Entry points: the symbols that the program calls. Each compares two words: if the daemon has given an order that the
//! process has not acted on, it calls [`watch`](crate::watch::watch) first. Then it jumps through
//! [`TABLE`](crate::table::TABLE). Until the shim is set up, every slot leads to a stub of [`stubs`](crate::stubs).

use gapii_tool_api::for_each_command;

use crate::generated::{entries, ids};

macro_rules! entry_points {
    ($($name:ident $params:tt $(-> $result:ty)?;)*) => {
        /// Entry points by id.
        pub static ENTRY_POINTS: [unsafe extern "C" fn(); ids::COUNT] = [$(entries::$name),*];
    };
}
for_each_command!(entry_points);

/// Defines an entry point with an external name. Unit tests leave the name out: their process keeps the system's
/// functions, and the compiler generates no code for handlers that no test reaches.
macro_rules! exported {
    ($name:ident, $id:ident) => {
        #[cfg_attr(not(test), unsafe(no_mangle))]
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
            "mov r11, [rip + {orders}]",
            "mov r11d, [r11]",
            "cmp r11d, [rip + {heard}]",
            "jne 2f",
            "jmp qword ptr [rip + {table} + 8 * {id}]",
            "2:",
            "mov r11d, {id}",
            "lea r10, [rip + {watch}]",
            "jmp gapii_call_aside",
            orders = sym $crate::orders::ORDERS,
            heard = sym $crate::orders::HEARD,
            table = sym $crate::table::TABLE,
            watch = sym $crate::watch::watch,
            id = const $crate::generated::ids::$id as usize,
        )
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! jump_through_table {
    ($id:ident) => {
        core::arch::naked_asm!(
            "adrp x16, {orders}",
            "ldr x16, [x16, :lo12:{orders}]",
            "ldr w16, [x16]",
            "adrp x17, {heard}",
            "ldr w17, [x17, :lo12:{heard}]",
            "cmp w16, w17",
            "b.ne 2f",
            "adrp x16, {table} + 8 * {id}",
            "add x16, x16, :lo12:{table} + 8 * {id}",
            // SETTLE: pairs with the exchange in Settled::set, before which the driver's function was stored.
            "ldar x16, [x16]",
            "br x16",
            "2:",
            "mov x16, #{id}",
            "adrp x17, {watch}",
            "add x17, x17, :lo12:{watch}",
            "b gapii_call_aside",
            orders = sym $crate::orders::ORDERS,
            heard = sym $crate::orders::HEARD,
            table = sym $crate::table::TABLE,
            watch = sym $crate::watch::watch,
            id = const $crate::generated::ids::$id as usize,
        )
    };
}
pub(crate) use jump_through_table;
