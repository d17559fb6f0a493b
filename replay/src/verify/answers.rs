//! Answers that are compared by their meaning (names, queries, waits, polls), and texts for answers that differ, of up
//! to 8 values from the first difference on. A query that a snapshot began may differ; a wait may differ unless it
//! failed on one side; work that was not done in the recording may be done here, not the reverse.

use std::fmt::Write;

use gapii_commands::CommandId;
use gapii_commands::constants;
use gapii_commands::constants::{
    GL_ANY_SAMPLES_PASSED, GL_ANY_SAMPLES_PASSED_CONSERVATIVE, GL_PRIMITIVES_GENERATED,
    GL_TIME_ELAPSED_EXT, GL_TIMESTAMP_EXT, GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN,
};
use gapii_follow::Context;
use gapii_state::generated::functions::bound_texture;
use gapii_state::gl::packed_rows;
use gapii_trace::Command;
use gapii_trace::description::{Kind as Meaning, Repr, Type};

use super::differences::{Differences, Maker};
use super::pixels::Pixels;
use super::replayed::Replayed;
use super::verdict::{Verdict, key_of};
use super::why::Why;
use crate::names::Kind;

const GL_WAIT_FAILED: u64 = constants::GL_WAIT_FAILED as u64;
const EGL_FALSE: u64 = constants::EGL_FALSE as u64;
const ZE_RESULT_SUCCESS: u64 = constants::ZE_RESULT_SUCCESS as u64;
const ZE_RESULT_NOT_READY: u64 = constants::ZE_RESULT_NOT_READY as u64;
const WORDS_MAX: usize = 8;

/// Whether `here` is the replay's name of an object that the recording calls `there`. If the object is
/// unknown: whether both are 0, or neither is.
pub(super) fn same_name(kind: Kind, there: u64, here: u64, replayed: &dyn Replayed) -> bool {
    let name = u32::try_from(there).ok().filter(|name| *name != 0);
    let is_same = name.and_then(|name| replayed.is_named(kind, name, here));
    is_same.unwrap_or((there == 0) == (here == 0))
}

/// Notes which queries began in the recording, and which a snapshot began.
pub(super) fn note_query(command: &Command<'_>, found: &mut Differences) {
    let index = match command.known() {
        Some(CommandId::GL_BEGIN_QUERY | CommandId::GL_BEGIN_QUERY_EXT) => 1,
        Some(CommandId::GL_QUERY_COUNTER_EXT) => 0,
        _ => return,
    };
    let id = command.args().nth(index).map_or(0, |arg| arg.value.bits());
    found.query_begins(key_of(command), id, command.is_setup);
}

/// Verdict on query results that differ.
pub(super) fn query_result(
    command: &Command<'_>,
    context: Option<&Context>,
    found: &Differences,
) -> Verdict {
    let id = command.args().next().map_or(0, |arg| arg.value.bits());
    if found.query_began_before(key_of(command), id) {
        return Verdict::Tolerated(Why::BeforeRecording);
    }
    let query = context.and_then(|context| context.queries.get(context.queries.find(id)));
    match query.map(|query| query.target) {
        Some(
            GL_ANY_SAMPLES_PASSED
            | GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN
            | GL_PRIMITIVES_GENERATED,
        ) => Verdict::Different,
        Some(GL_TIME_ELAPSED_EXT | GL_TIMESTAMP_EXT) => Verdict::Tolerated(Why::Time),
        Some(GL_ANY_SAMPLES_PASSED_CONSERVATIVE) => Verdict::Tolerated(Why::Counter),
        // glQueryCounterEXT records a time and begins no query, so the target is 0.
        Some(0) => Verdict::Tolerated(Why::Time),
        Some(_) => Verdict::Tolerated(Why::Counter),
        None => Verdict::Different,
    }
}

/// Verdict on results of a wait that differ.
pub(super) fn waited(there: u64, here: u64) -> Verdict {
    let failed = |result: u64| matches!(result, GL_WAIT_FAILED | EGL_FALSE);
    match failed(there) || failed(here) {
        true => Verdict::Different,
        false => Verdict::Tolerated(Why::Time),
    }
}

/// Verdict on differing results of a Level Zero command that asks whether work is done.
pub(super) fn polled(there: u64, here: u64) -> Verdict {
    match (there, here) {
        (ZE_RESULT_NOT_READY, ZE_RESULT_SUCCESS) => Verdict::Tolerated(Why::Time),
        _ => Verdict::Different,
    }
}

/// Whether the command's own result says that it failed in the recording; `None` for EGL and OpenGL
/// ES, where the program has to ask for errors.
pub(super) fn had_failed(command: &Command<'_>) -> Option<bool> {
    if Maker::of(command) == Maker::Graphics {
        return None;
    }
    let function = command.function?;
    let is_status = function.result.kind != Meaning::Handle && !function.result.is_void();
    let result = command.result().filter(|_| is_status);
    Some(result.is_some_and(|(result, _)| result.bits() != ZE_RESULT_SUCCESS))
}

/// Whether a command waits for one of several commands that may be running.
pub(super) fn waits_for_a_part(command: Option<CommandId>) -> bool {
    matches!(command, Some(CommandId::ZE_EVENT_HOST_SYNCHRONIZE | CommandId::ZE_EVENT_QUERY_STATUS))
}

/// Whether the command reads pixels back.
pub(super) fn reads_pixels(command: &Command<'_>) -> bool {
    matches!(
        command.known(),
        Some(
            CommandId::GL_READ_PIXELS
                | CommandId::GL_READN_PIXELS
                | CommandId::GL_READN_PIXELS_EXT
                | CommandId::GL_READN_PIXELS_KHR
        )
    )
}

/// Layout of the pixels of a read-back in memory; `None` if the command is no read-back or its format is
/// unknown.
pub(super) fn pixels(command: &Command<'_>, replayed: &dyn Replayed) -> Option<Pixels> {
    let argument = |index: usize| command.args().nth(index).map_or(0, |arg| arg.value.bits());
    let number = |index: usize| argument(index) as u32;
    match command.known()? {
        CommandId::GL_GET_TEXTURE_SUB_IMAGE => {
            let (width, format, ty) = (number(5) as i32, number(8), number(9));
            let rows = packed_rows(replayed.context()?, width, format, ty);
            return rows.and_then(Pixels::of_image);
        }
        CommandId::GL_GET_TEX_IMAGE
        | CommandId::GL_GETN_TEX_IMAGE
        | CommandId::GL_GETN_TEX_IMAGE_ARB => {
            let (target, level, format, ty) = (number(0), number(1) as i32, number(2), number(3));
            let context = replayed.context()?;
            let texture = bound_texture(context, target);
            let group = context.group.lock();
            let image = group.textures.get(texture)?.images.get(&target)?.get(&level)?;
            let rows = packed_rows(context, image.width, format, ty);
            return rows.and_then(Pixels::of_image);
        }
        _ => {}
    }
    let context = replayed.context().filter(|_| reads_pixels(command))?;
    let (width, format, ty) = (argument(2) as i32, argument(4) as u32, argument(5) as u32);
    let (row, stride) = packed_rows(context, width, format, ty)?;
    let (row, stride) = (usize::try_from(row).ok()?, usize::try_from(stride).ok()?);
    let texel = row.checked_div(usize::try_from(width).ok()?).filter(|texel| *texel > 0)?;
    let (x, y) = (i64::from(argument(0) as i32), i64::from(argument(1) as i32));
    let size = replayed.read_size();
    let size = size.map(|(width, height)| (i64::from(width), i64::from(height)));
    Some(Pixels { x, y, texel, row, stride, size })
}

/// A little-endian number of up to eight bytes.
pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Both values as text, from the first difference on.
pub(super) fn texts(element: Option<Type>, there: &[u8], here: &[u8]) -> (String, String) {
    let repr = element.and_then(|ty| ty.repr).filter(|repr| repr.size() > 0).unwrap_or(Repr::U8);
    let size = usize::from(repr.size());
    let differs = there.iter().zip(here).position(|(there, here)| there != here).unwrap_or(0);
    let first = differs / size;
    let text = |bytes: &[u8]| {
        let mut text = String::new();
        if bytes.len() > size {
            let _ = write!(text, "[{first}] of {}:", bytes.len().div_ceil(size));
        }
        let elements = bytes.chunks_exact(size).skip(first);
        for element in elements.take(WORDS_MAX) {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&word(repr, element));
        }
        text
    };
    (text(there), text(here))
}

fn word(repr: Repr, bytes: &[u8]) -> String {
    let number = number(bytes);
    match repr {
        Repr::F32 => f32::from_bits(number as u32).to_string(),
        Repr::F64 => f64::from_bits(number).to_string(),
        Repr::I8 => (number as i8).to_string(),
        Repr::I16 => (number as i16).to_string(),
        Repr::I32 => (number as i32).to_string(),
        Repr::I64 => (number as i64).to_string(),
        Repr::U8 => format!("{number:02x}"),
        Repr::Pointer => format!("{number:#x}"),
        _ => number.to_string(),
    }
}
