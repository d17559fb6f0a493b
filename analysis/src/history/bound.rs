//! What a command does to objects that are bound when it is called.

use gapii_follow::{Context, Thread};
use gapii_state::generated::functions::{bound_texture, is_buffer_target};
use gapii_state::{Buffer, Object, Ref};
use gapii_trace::Command;

use super::life::Act;
use crate::role::Role;

/// Returns what a command does to the bound object of this kind and name: its serial number, and the act. `None` if no such
/// object is bound, or if the command does nothing with it.
pub fn act(command: &Command<'_>, thread: &Thread, kind: &str, name: u64) -> Option<(u32, Act)> {
    let context = thread.context.as_deref()?;
    let known = command.known();
    let draws = Role::Draw.is_of(known);
    let dispatches = Role::Dispatch.is_of(known);
    let mut search = Search { kind, name, found: None };
    if Role::Fills.is_of(known) {
        fill(command, context, &mut search);
    }
    if draws || Role::Clears.is_of(known) {
        targets(context, thread, &mut search);
    }
    if draws || dispatches {
        resources(context, &mut search);
    }
    if draws {
        vertices(command, context, &mut search);
    }
    if Role::ReadsFramebuffer.is_of(known) {
        sources(context, thread, &mut search);
    }
    search.found
}

/// A search for a bound object.
struct Search<'a> {
    kind: &'a str,
    name: u64,
    found: Option<(u32, Act)>,
}

impl Search<'_> {
    /// Notes the act if this is the object.
    fn see<T: Object>(&mut self, object: Ref<T>, act: Act) {
        let is_it = object.is_some() && object.name() == self.name && T::KIND == self.kind;
        if is_it && self.found.is_none_or(|(_, known)| act < known) {
            self.found = Some((object.serial(), act));
        }
    }
}

/// The object at the command's target.
fn fill(command: &Command<'_>, context: &Context, search: &mut Search<'_>) {
    let number = |name: &str| {
        let arg = command.args().find(|arg| arg.param.name == name)?;
        u32::try_from(arg.value.bits()).ok()
    };
    if let Some(target) = number("target") {
        match is_buffer_target(target) {
            true => search.see(context.buffer_at(target), Act::Fills),
            false => search.see(bound_texture(context, target), Act::Fills),
        }
    }
    if let Some(target) = number("writeTarget") {
        search.see(context.buffer_at(target), Act::Fills);
    }
    if let Some(target) = number("readTarget") {
        search.see(context.buffer_at(target), Act::Reads);
    }
    // Pixels come from a buffer.
    if command.args().any(|arg| arg.param.name == "pixels" || arg.param.name == "data") {
        search.see(context.pixel_unpack_buffer, Act::Reads);
    }
}

/// The framebuffer for drawing, with what is attached to it.
fn targets(context: &Context, thread: &Thread, search: &mut Search<'_>) {
    framebuffer(context, context.draw_framebuffer, Act::DrawsTo, search);
    if context.draw_framebuffer.is_none() {
        search.see(thread.draw_surface, Act::DrawsTo);
    }
}

/// The framebuffer for reading, with what is attached to it, and the buffer for pixels.
fn sources(context: &Context, thread: &Thread, search: &mut Search<'_>) {
    framebuffer(context, context.read_framebuffer, Act::Reads, search);
    if context.read_framebuffer.is_none() {
        search.see(thread.read_surface, Act::Reads);
    }
    search.see(context.pixel_pack_buffer, Act::Fills);
}

fn framebuffer(
    context: &Context,
    framebuffer: Ref<gapii_state::Framebuffer>,
    act: Act,
    search: &mut Search<'_>,
) {
    search.see(framebuffer, act);
    let Some(state) = context.framebuffers.get(framebuffer) else { return };
    for attachment in state.attachments.values() {
        search.see(attachment.texture, act);
        search.see(attachment.renderbuffer, act);
    }
}

/// What shaders use.
fn resources(context: &Context, search: &mut Search<'_>) {
    search.see(context.program, Act::DrawsWith);
    let mut programs = vec![context.program];
    if context.program.is_none()
        && let Some(pipeline) = context.pipelines.get(context.pipeline)
    {
        search.see(context.pipeline, Act::DrawsWith);
        programs = pipeline.stages.iter().map(|(_, program)| *program).collect();
        programs.iter().for_each(|program| search.see(*program, Act::DrawsWith));
    }
    programs.retain(|program| program.is_some());
    if matches!(search.kind, "Texture" | "Sampler") {
        for (number, unit) in context.texture_units.iter().enumerate() {
            if selects(context, &programs, number) {
                unit.bindings.iter().for_each(|(_, it)| search.see(*it, Act::DrawsWith));
                search.see(unit.sampler, Act::DrawsWith);
            }
        }
        for image in &context.images {
            search.see(image.texture, Act::DrawsWith);
        }
    }
    let ranges = [
        &context.uniform_buffers,
        &context.shader_storage_buffers,
        &context.atomic_counter_buffers,
    ];
    for range in ranges.into_iter().flatten() {
        search.see(range.buffer, Act::DrawsWith);
    }
}

/// Whether a uniform of the programs has the number of a texture unit, as samplers have. Those that the program never set
/// are 0. Without programs (OpenGL ES 1) every unit counts.
fn selects(context: &Context, programs: &[Ref<gapii_state::Program>], unit: usize) -> bool {
    if unit == 0 || programs.is_empty() {
        return true;
    }
    let group = context.group.lock();
    let is_unit = |value: &i64| usize::try_from(*value).is_ok_and(|value| value == unit);
    programs.iter().filter_map(|program| group.programs.get(*program)).any(|program| {
        program.uniforms.values().any(|uniform| uniform.integers.iter().any(is_unit))
    })
}

/// Where vertices come from, and where they go.
fn vertices(command: &Command<'_>, context: &Context, search: &mut Search<'_>) {
    search.see(context.vertex_array, Act::DrawsWith);
    let has = |name: &str| command.args().any(|arg| arg.param.name == name);
    let arrays = context.arrays();
    let enabled = arrays.attribs.iter().enumerate().filter(|(_, attrib)| attrib.enabled);
    for (slot, _) in enabled {
        if let Some(binding) = arrays.binding_of(slot) {
            search.see(binding.buffer, Act::DrawsWith);
        }
    }
    if has("indices") || (has("indirect") && has("type")) {
        search.see(arrays.element_buffer, Act::DrawsWith);
    }
    if has("indirect") {
        search.see(context.draw_indirect_buffer, Act::DrawsWith);
    }
    context.active_queries.iter().for_each(|(_, query)| search.see(*query, Act::DrawsWith));
    let feedback = context.transform_feedbacks.get(context.transform_feedback);
    if let Some(feedback) = feedback.filter(|feedback| feedback.is_active) {
        search.see(context.transform_feedback, Act::DrawsWith);
        feedback.buffers.iter().for_each(|range| search.see(range.buffer, Act::Fills));
    } else if context.default_feedback_is_active {
        let buffers: &[_] = &context.default_feedback_buffers;
        buffers.iter().for_each(|range| search.see::<Buffer>(range.buffer, Act::Fills));
    }
}
