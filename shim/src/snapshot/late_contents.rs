//! Contents of the buffers of [`late_buffers`], once they are not mapped any more.

use gapii_commands::constants;
use gapii_commands::constants::{GL_COPY_READ_BUFFER, GL_DYNAMIC_DRAW};
use gapii_state::{Context, Process};

use super::data_store::DataStore;
use super::emit::Emitter;
use super::identity::{self, Kind};
use super::late_buffers::Late;
use super::sibling::Sibling;
use super::{held_buffers, spare};
use crate::generated::ids::*;

/// Describes what is still to be described of these buffers of the context's share group. Returns those of which nothing
/// is left: the driver may have refused the command that ended a mapping in the state. The caller is the only thread that
/// describes anything.
pub fn describe(
    emitter: &mut Emitter,
    process: &Process,
    context: &Context,
    due: Vec<Late>,
) -> Vec<Late> {
    let mut sibling = None;
    let mut done = due;
    done.retain(|Late { buffer, mapped, .. }| {
        let (buffer, mapped) = (*buffer, *mapped);
        let (exists, has_name) = {
            let group = context.group.lock();
            let exists = group.buffers.get(buffer).is_some();
            (exists, identity::has_name(&group.buffers, buffer))
        };
        // A buffer that is gone shows its contents to nobody.
        if !exists {
            return true;
        }
        if !has_name {
            if held_buffers::may_be_held(context, buffer) {
                let what =
                    "the contents outside of the mapped part of a deleted buffer, once called";
                emitter.leave_out_of(what, buffer.name() as u32);
            }
            return true;
        }
        let sibling = sibling.get_or_insert_with(|| Sibling::begin(process, context.handle));
        let name = buffer.name() as u32;
        let store = sibling.as_ref().and_then(|it| DataStore::of(name, it));
        if let Some(still) = store.as_ref().and_then(|store| store.mapping) {
            still.note(context, buffer);
            return false;
        }
        let described = sibling
            .as_ref()
            .zip(store)
            .and_then(|(sibling, store)| rest(emitter, context, sibling, (name, &store), mapped));
        if described.is_none() {
            emitter.leave_out_of("the contents outside of the mapped part of buffer", name);
        }
        true
    });
    done
}

/// Uploads what lies before and behind the part that was mapped, in bytes.
fn rest(
    emitter: &mut Emitter,
    context: &Context,
    sibling: &Sibling,
    (name, store): (u32, &DataStore),
    [begin, end]: [usize; 2],
) -> Option<()> {
    let size = usize::try_from(store.size).ok()?;
    if size == 0 {
        return Some(());
    }
    let is_written =
        !store.is_immutable || store.usage & constants::GL_DYNAMIC_STORAGE_BIT_EXT != 0;
    let (to, bound) = held_buffers::target_for_copies(context, GL_COPY_READ_BUFFER)?;
    let mut done = None;
    sibling.with_buffer(name, size, |bytes| {
        let parts = [0..begin.min(size), end.min(size)..size];
        emitter.command(GL_BIND_BUFFER).arg(to).arg(name).done();
        done = parts.into_iter().filter(|part| !part.is_empty()).try_for_each(|part| {
            let (at, bytes) = (part.start, bytes.get(part)?);
            match is_written {
                true => write(emitter, to, at, bytes),
                false => copy(emitter, context, to, at, bytes)?,
            }
            Some(())
        });
        emitter.command(GL_BIND_BUFFER).arg(to).arg(bound).done();
    })?;
    done
}

fn write(emitter: &mut Emitter, target: u32, at: usize, bytes: &[u8]) {
    let command = emitter.command(GL_BUFFER_SUB_DATA).arg(target).arg(at as i64);
    let command = command.arg(bytes.len() as i64).arg(bytes.as_ptr());
    command.range(3, bytes).done();
}

/// Storage that the program cannot write by a command is copied to.
fn copy(
    emitter: &mut Emitter,
    context: &Context,
    target: u32,
    at: usize,
    bytes: &[u8],
) -> Option<()> {
    let from = GL_COPY_READ_BUFFER;
    let bound = {
        let group = context.group.lock();
        identity::described_name(context, Kind::Buffer, &group.buffers, context.copy_read_buffer)?
    };
    let name = spare::NAME;
    emitter.make(GL_GEN_BUFFERS, name);
    emitter.command(GL_BIND_BUFFER).arg(from).arg(name).done();
    let command = emitter.command(GL_BUFFER_DATA).arg(from).arg(bytes.len() as i64);
    command.arg(bytes.as_ptr()).arg(GL_DYNAMIC_DRAW).range(2, bytes).done();
    let command = emitter.command(GL_COPY_BUFFER_SUB_DATA).arg(from).arg(target);
    command.arg(0_i64).arg(at as i64).arg(bytes.len() as i64).done();
    emitter.command(GL_BIND_BUFFER).arg(from).arg(bound).done();
    spare::delete(emitter, GL_DELETE_BUFFERS, &[name]);
    Some(())
}
