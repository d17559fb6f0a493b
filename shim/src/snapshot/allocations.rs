//! Contents of memory of Level Zero. Memory that the host can read, and memory of the program that submitted lists wrote,
//! is memory of a command that only asks for the context's status. Memory that only devices can read is copied through an
//! immediate list of the shim's own, 1 MiB (`CHUNK_BYTES`) at a time; the setup commands copy it back.
//!
//! Contents of images are not described; they are listed as missing.

use std::collections::BTreeMap;

use gapii_recorder::observe;
use gapii_state::Process;
use gapii_ze_api::types::ze_command_queue_desc_t;

use super::emit::Emitter;
use super::level_zero_calls::OwnList;
use crate::generated::ids;
use crate::kept::facts::Kind;
use crate::kept::journal;

const SUCCESS: u32 = 0;
/// Device memory that is copied at once, in bytes.
const CHUNK_BYTES: u64 = 1 << 20;

/// Its address is the handle of the list that copies contents back. No driver has it.
static COPYING_LIST: u8 = 0;

/// Writes the contents of all memory.
pub fn describe(emitter: &mut Emitter, process: &Process) {
    let (host, device, images) = {
        let journal = journal::lock();
        let of = |wanted: Kind| {
            let found = journal.objects(|kind| kind == wanted).into_iter();
            let found = found.map(|it| (journal.place_of(&it.made), it.handle, it.bytes));
            found.collect::<Vec<_>>()
        };
        (of(Kind::HostMemory), of(Kind::DeviceMemory), of(Kind::Image))
    };
    let places = host.iter().chain(&device).map(|((context, _), ..)| *context);
    let any_context = places.chain(contexts()).find(|context| *context != 0);
    for ((context, _), address, bytes) in host {
        host_memory(emitter, context, address, bytes);
    }
    let written = process.lock().written_memory.clone();
    for (address, bytes) in written {
        host_memory(emitter, any_context.unwrap_or(0), address, bytes.unsigned_abs());
    }
    device_memory(emitter, device);
    if !images.is_empty() {
        emitter.leave_out(&format!("Level Zero: the contents of {} images", images.len()));
    }
}

/// Contexts of the process' queues.
fn contexts() -> Vec<u64> {
    let queues = journal::lock().objects(|kind| kind == Kind::Queue);
    queues.iter().map(|queue| queue.made.arg(0)).collect()
}

/// Writes the contents of memory that the host can read.
fn host_memory(emitter: &mut Emitter, context: u64, address: u64, bytes: u64) {
    emitter
        .command(ids::ZE_CONTEXT_GET_STATUS)
        .arg(context)
        .memory(address, bytes)
        .returns(SUCCESS, []);
}

/// Writes copies into memory that only devices can read: place, address and size in bytes of each allocation.
fn device_memory(emitter: &mut Emitter, allocations: Vec<((u64, u64), u64, u64)>) {
    let mut by_place: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    for (place, address, bytes) in allocations {
        by_place.entry(place).or_default().push((address, bytes));
    }
    let mut unread = 0;
    for ((context, device), allocations) in by_place {
        let Some(own) = OwnList::new(context, device) else {
            unread += allocations.len();
            continue;
        };
        let list = &raw const COPYING_LIST as u64;
        create_list(emitter, (context, device), &own.desc, list);
        let mut staging = vec![0; CHUNK_BYTES as usize];
        for (address, bytes) in allocations {
            let mut is_whole = true;
            let mut done = 0;
            while done < bytes {
                let len = CHUNK_BYTES.min(bytes - done);
                let chunk = &mut staging[..len as usize];
                if own.read(address + done, chunk) {
                    copy(emitter, list, address + done, chunk);
                } else {
                    is_whole = false;
                }
                done += len;
            }
            unread += usize::from(!is_whole);
        }
        emitter.command(ids::ZE_COMMAND_LIST_DESTROY).arg(list).returns(SUCCESS, []);
    }
    if unread > 0 {
        emitter.leave_out(&format!(
            "Level Zero: the contents of {unread} device allocations, which the driver did not copy"
        ));
    }
}

fn create_list(
    emitter: &mut Emitter,
    (context, device): (u64, u64),
    desc: &ze_command_queue_desc_t,
    list: u64,
) {
    let (at, size) = (&raw const *desc as u64, size_of_val(desc) as u64);
    let at_list = &raw const list;
    emitter
        .command(ids::ZE_COMMAND_LIST_CREATE_IMMEDIATE)
        .arg(context)
        .arg(device)
        .arg(at)
        .arg(at_list)
        .range_at(2, at, size)
        .returns(SUCCESS, [observe::array(at_list, 1, 8)]);
}

/// Writes a copy of these bytes to `address`.
fn copy(emitter: &mut Emitter, list: u64, address: u64, bytes: &[u8]) {
    emitter
        .command(ids::ZE_COMMAND_LIST_APPEND_MEMORY_COPY)
        .arg(list)
        .arg(address)
        .arg(bytes.as_ptr())
        .arg(bytes.len() as u64)
        .arg(0_u64)
        .arg(0_u32)
        .arg(0_u64)
        .reads(observe::none())
        .range(2, bytes)
        .returns(SUCCESS, []);
}
