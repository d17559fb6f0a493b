//! The trampoline of traced calls, which brings a command's arguments to [`traced::call`] and its result back to the
//! program.
//!
//! Each command has a stub, which loads the address of the command's [`Signature`] and jumps to the trampoline. The
//! trampoline stores the argument registers below the stack arguments, so that both are words of one
//! [`Frame`](crate::frame::Frame), and calls the function in the signature. That function either makes the call and
//! returns the result, or returns code. The trampoline jumps to this code with all arguments where the program put
//! them.
//!
//! Stubs and trampoline are one symbol, `gapii_traced_stubs`, with unwind information for every instruction.
//!
//! The instructions are in one module per machine.

use core::ffi::{c_char, c_void};
use core::mem::offset_of;

use gapii_tool_api::{for_each_command, params};

use crate::generated::ids;
use crate::shape::{Argument, Parameters, Passed, Structure};
use crate::signature::Signature;
use crate::traced;

#[cfg(target_arch = "aarch64")]
#[path = "trampoline/aarch64.rs"]
mod instructions;
#[cfg(target_arch = "x86_64")]
#[path = "trampoline/x86_64.rs"]
mod instructions;

macro_rules! signatures {
    ($($name:ident($($field:ident: $ty:ty $(=> $by_value:ident)?),*) $(-> $result:ty)?;)*) => {
        /// The commands' signatures, by id.
        static SIGNATURES: [Signature; ids::COUNT] = {
            let mut id = 0;
            [$({
                type Types = ($(argument!($ty $(=> $by_value)?),)*);
                assert_layout::<Types>(&[$(offset_of!(params::$name, $field)),*]);
                id += 1;
                Signature::new::<Types>(id - 1, class!($($result)?), traced::call::<Types, returned!($($result)?)>)
            }),*]
        };
    };
}

/// Returns the signature of command `id`.
pub fn signature(id: usize) -> Option<&'static Signature> {
    SIGNATURES.get(id)
}

macro_rules! argument {
    ($ty:ty) => {
        <$ty as Passed>::Alike
    };
    ($ty:ty => $by_value:ident) => {
        Structure<gapii_ze_api::types::$by_value>
    };
}

macro_rules! class {
    () => {
        None
    };
    ($result:ty) => {
        Some(<<$result as Passed>::Alike as Argument>::CLASS)
    };
}

macro_rules! returned {
    () => {
        u64
    };
    ($result:ty) => {
        <<$result as Passed>::Alike as Argument>::Returned
    };
}

for_each_command!(signatures);

/// Asserts that the parameters are where tools expect them.
const fn assert_layout<P: Parameters>(offsets: &[usize]) {
    let mut at = 0;
    while at < offsets.len() {
        assert!(P::PLACES[at].offset as usize == offsets[at]);
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use core::ffi::{c_int, c_void};
    use std::cell::RefCell;
    use std::sync::PoisonError;

    use gapii_tool_api::gapii_call;
    use gapii_tracers::{Callback, Moment, TracerId};
    use gapii_ze_api::types::{ze_group_count_t, ze_group_size_t, ze_ipc_mem_handle_t};

    use crate::code::Code;
    use crate::frame::traced_stub;
    use crate::generated::ids;
    use crate::shape::Class;
    use crate::simulation::ALONE;
    use crate::table::{self, Hooks};
    use crate::traced::{Passing, TRACERS};

    thread_local! {
        /// The parameters as the prologue found them, and the arguments that the driver received.
        static SEEN: RefCell<[Vec<u64>; 2]> = const { RefCell::new([Vec::new(), Vec::new()]) };
    }

    fn note(who: usize, values: Vec<u64>) {
        SEEN.with_borrow_mut(|seen| seen[who] = values);
    }

    /// A value as a number, for comparisons.
    trait Value {
        fn number(self) -> u64;
    }

    macro_rules! values {
        ($($ty:ty: $number:expr;)*) => {
            $(impl Value for $ty {
                fn number(self) -> u64 {
                    let number: fn(Self) -> u64 = $number;
                    number(self)
                }
            })*
        };
    }
    values! {
        (): |()| 0;
        u8: |it| it.into();
        i16: |it| it as u16 as u64;
        u32: |it| it.into();
        i32: |it| it as u32 as u64;
        u64: |it| it;
        f32: |it| it.to_bits().into();
        f64: |it| it.to_bits();
        *mut c_void: |it| it as u64;
        ze_group_count_t: |it| it.groupCountX as u64 + 3 * it.groupCountY as u64 + 5 * it.groupCountZ as u64;
        ze_group_size_t: |it| it.groupSizeX as u64 + 3 * it.groupSizeY as u64 + 5 * it.groupSizeZ as u64;
        ze_ipc_mem_handle_t: |it| it.data.iter().fold(1, |sum, byte| sum * 3 % 1_000_003 + *byte as u64);
    }

    /// Notes the parameters, and adds `add` to the first byte of the first one.
    unsafe extern "C" fn prologue(call: *mut gapii_call, add: *mut c_void, _: *mut *mut c_void) {
        // SAFETY: a callback receives the call that it belongs to.
        let passing = unsafe { &mut *call.cast::<Passing>() };
        let places = passing.signature.places();
        let params = passing.params();
        let numbers = places.iter().map(|place| {
            // SAFETY: the structure has a parameter there.
            let param = unsafe { params.add(place.offset.into()) };
            let mut number = [0; 8];
            // SAFETY: the parameter has this many bytes.
            let bytes = unsafe { core::slice::from_raw_parts(param, place.bytes.into()) };
            number[..bytes.len()].copy_from_slice(bytes);
            let number = u64::from_le_bytes(number);
            let structure = number as *const c_void;
            match place.class {
                Class::Structure { bytes: 12 } => {
                    let structure = structure.cast::<ze_group_count_t>();
                    // SAFETY: the parameter is the address of a structure of 12 bytes.
                    unsafe { structure.read() }.number()
                }
                Class::Structure { .. } => {
                    let structure = structure.cast::<ze_ipc_mem_handle_t>();
                    // SAFETY: the parameter is the address of the other structure that is passed by value.
                    unsafe { structure.read() }.number()
                }
                _ => number,
            }
        });
        note(0, numbers.collect());
        if let Some(first) = places.first() {
            // SAFETY: as above.
            let first = unsafe { params.add(first.offset.into()) };
            // SAFETY: as above.
            let byte = unsafe { first.read() };
            // SAFETY: as above.
            unsafe { first.write(byte.wrapping_add(add as u8)) };
        }
    }

    /// A callback of a tool.
    type Tool = unsafe extern "C" fn(*mut gapii_call, *mut c_void, *mut *mut c_void);

    /// Makes `driver` the driver's function for command `id`, and traces the command with [`prologue`], which adds `add`.
    fn trace(id: u16, driver: Code, add: u8) -> TracerId {
        table::switch(Hooks::None);
        table::note_set_up();
        table::set_driver(id.into(), driver);
        let tracer = TRACERS.create(core::ptr::without_provenance_mut(add.into()));
        // SAFETY: `traced` gives it its type back.
        let callback = unsafe { core::mem::transmute::<Tool, Callback>(prologue) };
        TRACERS.register(tracer, id.into(), Moment::Prologue, Some(callback)).expect("disabled");
        TRACERS.set_enabled(tracer, true).expect("known");
        tracer
    }

    /// Calls a command through its stub: traced, then traced with a changed parameter, each followed by a call that is
    /// not traced.
    macro_rules! check {
        ($id:ident, ($($name:ident: $ty:ty = $value:expr),*), $result:ty = $returned:expr) => {{
            type Function = unsafe extern "C" fn($($ty),*) -> $result;
            unsafe extern "C" fn driver($($name: $ty),*) -> $result {
                note(1, vec![$($name.number()),*]);
                $returned
            }
            let passed: Vec<u64> = vec![$({ let value: $ty = $value; value.number() }),*];
            let mut changed = passed.clone();
            changed.iter_mut().take(1).for_each(|first| *first += 1);
            // SAFETY: a stub of a command that the driver has.
            let stub = unsafe { core::mem::transmute::<Code, Function>(traced_stub(ids::$id.into())) };
            let call = || {
                SEEN.take();
                // SAFETY: as above.
                let returned = unsafe { stub($($value),*) };
                assert_eq!(returned.number(), ($returned as $result).number(), stringify!($id));
                SEEN.take()
            };
            for (add, got) in [(0, &passed), (1, &changed)] {
                let tracer = trace(ids::$id, driver as Function as Code, add);
                assert_eq!(call(), [passed.clone(), got.clone()], stringify!($id));
                TRACERS.set_enabled(tracer, false).expect("known");
                assert_eq!(call(), [Vec::new(), passed.clone()], stringify!($id));
                TRACERS.destroy(tracer).expect("disabled");
            }
        }};
    }

    fn pointer(address: usize) -> *mut c_void {
        core::ptr::without_provenance_mut(address)
    }

    /// One test for all commands, because tracers are shared by all threads of the process.
    #[test]
    fn traced_call_passes_arguments_and_result_in_registers_and_on_the_stack() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        check!(GL_IS_BUFFER, (buffer: u32 = 0xfedc_ba98), u8 = 0xfe);
        check!(GL_COLOR_MASK, (red: u8 = 1, green: u8 = 0xff, blue: u8 = 0, alpha: u8 = 0x80), () = ());
        check!(GL_DRAW_TEXS_OES, (x: i16 = 1, y: i16 = -2, z: i16 = i16::MIN, w: i16 = 4, h: i16 = -5), () = ());
        check!(EGL_WAIT_GL, (), u32 = 0x8000_0001);
        check!(EGL_CLIENT_WAIT_SYNC, (
            dpy: *mut c_void = pointer(0x1234_5678_9abc_def0), sync: *mut c_void = pointer(2),
            flags: i32 = -3, timeout: u64 = u64::MAX
        ), i32 = -8);
        check!(GL_VERTEX_ATTRIB4F, (index: u32 = 3, x: f32 = 0.5, y: f32 = -1.5, z: f32 = 2.5, w: f32 = 3.5), () = ());
        check!(GL_MATRIX_FRUSTUM_EXT, (
            mode: u32 = 1, left: f64 = 0.1, right: f64 = 0.2, bottom: f64 = 0.3, top: f64 = 0.4,
            near: f64 = 0.5, far: f64 = 0.6
        ), () = ());
        check!(GL_GET_PATH_LENGTH_NV, (path: u32 = 1, start: i32 = -2, segments: i32 = 3), f32 = -0.75);
        // Nine floating-point numbers, one of them on the stack.
        check!(GL_DRAW_VK_IMAGE_NV, (
            image: u64 = 1, sampler: u32 = 2, x0: f32 = 0.1, y0: f32 = 0.2, x1: f32 = 0.3, y1: f32 = 0.4,
            z: f32 = 0.5, s0: f32 = 0.6, t0: f32 = 0.7, s1: f32 = 0.8, t1: f32 = 0.9
        ), () = ());
        check!(GL_COPY_IMAGE_SUB_DATA, (
            a: u32 = 1, b: u32 = 2, c: i32 = -3, d: i32 = -4, e: i32 = -5, f: i32 = -6, g: u32 = 7, h: u32 = 8,
            i: i32 = -9, j: i32 = -10, k: i32 = -11, l: i32 = -12, m: i32 = -13, n: i32 = -14, o: i32 = -15
        ), () = ());
        // Structures by value: small ones in registers, a large one on the stack or passed by its address.
        check!(ZE_COMMAND_LIST_APPEND_LAUNCH_KERNEL_WITH_ARGUMENTS, (
            list: *mut c_void = pointer(1), kernel: *mut c_void = pointer(2),
            counts: ze_group_count_t = ze_group_count_t { groupCountX: 3, groupCountY: 4, groupCountZ: 5 },
            sizes: ze_group_size_t = ze_group_size_t { groupSizeX: 6, groupSizeY: 7, groupSizeZ: 8 },
            arguments: *mut c_void = pointer(9), next: *mut c_void = pointer(10),
            event: *mut c_void = pointer(11), waits: u32 = 12, events: *mut c_void = pointer(13)
        ), u32 = 0x7800_0001);
        check!(ZE_MEM_OPEN_IPC_HANDLE, (
            context: *mut c_void = pointer(1), device: *mut c_void = pointer(2),
            handle: ze_ipc_mem_handle_t = ze_ipc_mem_handle_t { data: core::array::from_fn(|at| at as _) },
            flags: u32 = 3, at: *mut c_void = pointer(4)
        ), u32 = 0);
    }

    #[repr(C)]
    struct UnwindContext {
        _opaque: [u8; 0],
    }

    type Visit = unsafe extern "C" fn(*mut UnwindContext, *mut c_void) -> c_int;

    // The unwinder that the standard library uses.
    unsafe extern "C" {
        fn _Unwind_Backtrace(visit: Visit, data: *mut c_void) -> c_int;
        fn _Unwind_GetIP(context: *mut UnwindContext) -> usize;
        fn _Unwind_FindEnclosingFunction(address: *mut c_void) -> *mut c_void;
    }

    /// Returns the addresses of the functions that are being called, the innermost first.
    fn functions_on_the_stack() -> Vec<usize> {
        unsafe extern "C" fn visit(context: *mut UnwindContext, functions: *mut c_void) -> c_int {
            // SAFETY: the unwinder passes its context.
            let address = unsafe { _Unwind_GetIP(context) };
            // An instruction of the caller, not the next function's first.
            let address = core::ptr::without_provenance_mut(address.saturating_sub(1));
            // SAFETY: any address has an answer.
            let function = unsafe { _Unwind_FindEnclosingFunction(address) };
            // SAFETY: what was passed to _Unwind_Backtrace.
            unsafe { &mut *functions.cast::<Vec<usize>>() }.push(function.addr());
            0
        }
        let mut functions = Vec::new();
        // SAFETY: `visit` takes a vector.
        unsafe { _Unwind_Backtrace(visit, (&raw mut functions).cast()) };
        functions
    }

    thread_local! {
        /// The functions on the stack in the prologue, in the driver and in the epilogue of a call.
        static STACKS: RefCell<Vec<Vec<usize>>> = const { RefCell::new(Vec::new()) };
    }

    unsafe extern "C" fn note_stack_in_callback(
        _: *mut gapii_call,
        _: *mut c_void,
        _: *mut *mut c_void,
    ) {
        STACKS.with_borrow_mut(|stacks| stacks.push(functions_on_the_stack()));
    }

    unsafe extern "C" fn note_stack_in_driver() {
        STACKS.with_borrow_mut(|stacks| stacks.push(functions_on_the_stack()));
    }

    /// Calls a command; not inlined, so that it has a frame of its own.
    #[inline(never)]
    extern "C" fn program(command: unsafe extern "C" fn()) {
        // SAFETY: a command without parameters and result.
        unsafe { command() };
        // The call above is not the last instruction.
        core::hint::black_box(());
    }

    #[test]
    fn stack_of_a_traced_call_leads_to_the_program() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        table::switch(Hooks::None);
        table::note_set_up();
        table::set_driver(ids::GL_FINISH.into(), note_stack_in_driver as Code);
        let tracer = TRACERS.create(core::ptr::null_mut());
        for moment in [Moment::Prologue, Moment::Epilogue] {
            // SAFETY: `traced` gives it its type back.
            let callback =
                unsafe { core::mem::transmute::<Tool, Callback>(note_stack_in_callback) };
            TRACERS
                .register(tracer, ids::GL_FINISH.into(), moment, Some(callback))
                .expect("disabled");
        }
        TRACERS.set_enabled(tracer, true).expect("known");
        let stub = traced_stub(ids::GL_FINISH.into());
        // SAFETY: the stub of a command without parameters and result.
        program(unsafe { core::mem::transmute::<Code, unsafe extern "C" fn()>(stub) });
        TRACERS.set_enabled(tracer, false).expect("known");
        TRACERS.destroy(tracer).expect("disabled");
        let stacks = STACKS.take();
        assert_eq!(stacks.len(), 3, "prologue, driver, epilogue");
        let trampoline = traced_stub(0).addr();
        for stack in stacks {
            let stubs = stack.iter().position(|function| *function == trampoline);
            let caller = stubs.and_then(|at| stack.get(at + 1));
            assert_eq!(caller, Some(&(program as *const () as usize)), "{stack:x?}");
        }
    }
}
