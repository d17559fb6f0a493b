//! Contents of memory and images of Level Zero. Memory that the host can read, and memory of the program that submitted
//! lists wrote, is memory of a command that only asks for the context's status. Memory that only devices can read, and
//! images, are copied through an immediate list of the shim's own; the setup commands copy them back. Memory is copied
//! 1 MiB (`CHUNK_BYTES`) at a time, an image as a whole.
//!
//! Not copied, and listed as missing: images of planar and subsampled layouts, with several mipmap levels, or of more
//! than 1 GiB (`IMAGE_BYTES_MAX`).

use core::mem::offset_of;
use std::collections::BTreeMap;

use gapii_recorder::observe;
use gapii_state::Process;
use gapii_state::generated::sizes::image_texel_bytes;
use gapii_ze_api::types::{ze_image_desc_t, ze_image_format_t};

use super::emit::{Command, Emitter};
use super::level_zero_calls::OwnList;
use super::owed::Uploaded;
use crate::generated::ids;
use crate::kept::entry::{Entry, Role};
use crate::kept::facts::Kind;
use crate::kept::registry::{self, Living};

const SUCCESS: u32 = 0;
/// Device memory that is copied at once, in bytes.
const CHUNK_BYTES: u64 = 1 << 20;
/// The largest image that is copied, in bytes.
const IMAGE_BYTES_MAX: u64 = 1 << 30;

/// Its address is the handle of the list that copies contents back. No driver has it.
static COPYING_LIST: u8 = 0;

/// Context and device.
type Place = (u64, u64);

/// Writes the contents of all memory and images.
pub fn describe(emitter: &mut Emitter, process: &Process) {
    let (host, device) = {
        let registry = registry::lock();
        let of = |is_wanted: fn(Kind) -> bool| {
            let found = registry.objects(is_wanted).into_iter();
            found.map(|living| (registry.place_of(&living.made), living)).collect::<Vec<_>>()
        };
        let device = of(|kind| matches!(kind, Kind::DeviceMemory | Kind::Image));
        (of(|kind| kind == Kind::HostMemory), device)
    };
    let places = host.iter().chain(&device).map(|((context, _), _)| *context);
    let any_context = places.chain(contexts()).find(|context| *context != 0);
    for ((context, _), memory) in host {
        host_memory(emitter, context, memory.handle, memory.bytes);
    }
    let written = process.lock().written_memory.clone();
    for (address, bytes) in written {
        host_memory(emitter, any_context.unwrap_or(0), address, bytes.unsigned_abs());
    }
    device_contents(emitter, device);
}

/// Contexts of the process' queues.
fn contexts() -> Vec<u64> {
    let queues = registry::lock().objects(|kind| kind == Kind::Queue);
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

/// Writes copies into memory that only devices can read, and into images.
fn device_contents(emitter: &mut Emitter, contents: Vec<(Place, Living)>) {
    let mut by_place: BTreeMap<Place, Vec<Living>> = BTreeMap::new();
    for (place, living) in contents {
        by_place.entry(place).or_default().push(living);
    }
    let (mut unread, mut unread_images) = (0, 0);
    let mut count = |living: &Living| match living.kind {
        Kind::Image => unread_images += 1,
        _ => unread += 1,
    };
    for (place, contents) in by_place {
        let Some(own) = OwnList::new(place.0, place.1) else {
            contents.iter().for_each(&mut count);
            continue;
        };
        let list = &raw const COPYING_LIST as u64;
        create_list(emitter, ids::ZE_COMMAND_LIST_CREATE_IMMEDIATE, place, &own.desc, list);
        for living in contents {
            let is_read = match living.kind {
                Kind::Image => image(emitter, &own, list, &living),
                _ => device_memory(emitter, &own, list, &living),
            };
            if !is_read {
                count(&living);
            }
        }
        emitter.command(ids::ZE_COMMAND_LIST_DESTROY).arg(list).returns(SUCCESS, []);
    }
    if unread > 0 {
        let which = "device allocations, which the driver did not copy";
        emitter.leave_out(&format!("Level Zero: the contents of {unread} {which}"));
    }
    if unread_images > 0 {
        emitter.leave_out(&format!("Level Zero: the contents of {unread_images} images"));
    }
}

/// Writes a command `id` that makes a list as `desc` says, with the handle `list`.
pub fn create_list<T>(
    emitter: &mut Emitter,
    id: u16,
    (context, device): Place,
    desc: &T,
    list: u64,
) {
    let (at, size) = (&raw const *desc as u64, size_of_val(desc) as u64);
    let at_list = &raw const list;
    emitter
        .command(id)
        .arg(context)
        .arg(device)
        .arg(at)
        .arg(at_list)
        .uploaded(2, Uploaded::at(at, size))
        .returns(SUCCESS, [observe::array(at_list, 1, 8)]);
}

/// Writes copies of all bytes of an allocation. Returns whether the driver copied them.
fn device_memory(emitter: &mut Emitter, own: &OwnList, list: u64, memory: &Living) -> bool {
    let mut staging = vec![0; CHUNK_BYTES.min(memory.bytes) as usize];
    let mut done = 0;
    while done < memory.bytes {
        let len = CHUNK_BYTES.min(memory.bytes - done);
        let chunk = &mut staging[..len as usize];
        if !own.read(memory.handle + done, chunk) {
            return false;
        }
        let copy = emitter
            .command(ids::ZE_COMMAND_LIST_APPEND_MEMORY_COPY)
            .arg(list)
            .arg(memory.handle + done)
            .arg(chunk.as_ptr())
            .arg(len);
        without_events(copy).range(2, chunk).returns(SUCCESS, []);
        done += len;
    }
    true
}

/// Writes a copy of all texels of an image. Returns whether the driver copied them.
fn image(emitter: &mut Emitter, own: &OwnList, list: u64, image: &Living) -> bool {
    let bytes = image_bytes(&image.made).filter(|bytes| (1..=IMAGE_BYTES_MAX).contains(bytes));
    let Some(bytes) = bytes else { return false };
    let mut texels = vec![0; bytes as usize];
    if !own.read_image(image.handle, &mut texels) {
        return false;
    }
    const WHOLE: u64 = 0;
    let copy = emitter
        .command(ids::ZE_COMMAND_LIST_APPEND_IMAGE_COPY_FROM_MEMORY)
        .arg(list)
        .arg(image.handle)
        .arg(texels.as_ptr())
        .arg(WHOLE)
        .reads(observe::none());
    without_events(copy).range(2, &texels).returns(SUCCESS, []);
    true
}

/// The last arguments of an append: no event to signal, none to wait for.
fn without_events(command: Command<'_>) -> Command<'_> {
    command.arg(0_u64).arg(0_u32).arg(0_u64).reads(observe::none())
}

/// Returns the size of an image without gaps between its rows. `None` if its layout has no texels of one size, or if it
/// has several mipmap levels.
fn image_bytes(made: &Entry) -> Option<u64> {
    let mut descs = made.pieces().filter(|piece| piece.role == Role::ReadRange);
    let desc = descs.find(|piece| piece.address == made.arg(2))?.bytes?;
    let number = |offset: usize| {
        let bytes = desc.get(offset..)?.first_chunk();
        bytes.map(|bytes| u32::from_le_bytes(*bytes))
    };
    let layout = offset_of!(ze_image_desc_t, format) + offset_of!(ze_image_format_t, layout);
    let texel_bytes = image_texel_bytes(number(layout)?.into());
    let width = desc.get(offset_of!(ze_image_desc_t, width)..)?.first_chunk();
    let width = width.map(|bytes| u64::from_le_bytes(*bytes))?;
    if number(offset_of!(ze_image_desc_t, miplevels))? > 1 {
        return None;
    }
    let counts = [
        number(offset_of!(ze_image_desc_t, height))?,
        number(offset_of!(ze_image_desc_t, depth))?,
        number(offset_of!(ze_image_desc_t, arraylevels))?,
    ];
    let texels =
        counts.iter().try_fold(width, |all, count| all.checked_mul((*count).max(1).into()));
    texels?.checked_mul(u64::try_from(texel_bytes).ok()?)
}
