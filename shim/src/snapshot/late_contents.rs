//! Contents of the buffers of [`late_buffers`], once they are not mapped any more.

use gapii_commands::constants::GL_COPY_READ_BUFFER;
use gapii_state::{Context, Process};

use super::buffer_writes::Way;
use super::data_store::DataStore;
use super::emit::Emitter;
use super::identity::{self, Kind};
use super::late_buffers::Late;
use super::sibling::Sibling;
use super::{buffer_writes, held_buffers};
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
    let way = Way::of(store.is_immutable, store.usage);
    let copied_from = {
        let group = context.group.lock();
        let bound = context.copy_read_buffer;
        identity::described_name(context, Kind::Buffer, &group.buffers, bound)
    };
    if way == Way::Copied && copied_from.is_none() {
        return None;
    }
    let (to, bound) = held_buffers::target_for_copies(context, GL_COPY_READ_BUFFER)?;
    let mut done = None;
    sibling.with_buffer(name, size, |bytes| {
        let parts = [0..begin.min(size), end.min(size)..size];
        emitter.command(GL_BIND_BUFFER).arg(to).arg(name).done();
        done = parts.into_iter().filter(|part| !part.is_empty()).try_for_each(|part| {
            buffer_writes::write(emitter, way, to, part.start, bytes.get(part)?);
            Some(())
        });
        if let (Way::Copied, Some(bound)) = (way, copied_from) {
            emitter.command(GL_BIND_BUFFER).arg(GL_COPY_READ_BUFFER).arg(bound).done();
        }
        emitter.command(GL_BIND_BUFFER).arg(to).arg(bound).done();
    })?;
    done
}
