//! Acts of a command on objects that are bound when it is called, or that it names to act on them without a bind.

use gapii_commands::constants::GL_RENDERBUFFER;
use gapii_follow::{Context, Thread};
use gapii_state::generated::functions::bound_texture;
use gapii_state::{Buffer, Framebuffer, Object, Ref};
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
    let call = Arguments(command);
    let mut search = Search { wanted: Some((kind, name)), found: None };
    fill(&call, context, &mut search);
    if draws || Role::Clears.is_of(known) {
        targets(&call, context, thread, &mut search);
    }
    if draws || dispatches {
        resources(context, &mut search);
    }
    if dispatches && call.has("indirect") {
        search.see(context.dispatch_indirect_buffer, Act::DrawsWith);
    }
    if draws {
        vertices(&call, context, &mut search);
    }
    if Role::ReadsFramebuffer.is_of(known) {
        sources(&call, context, thread, &mut search);
    }
    if Role::ReadsPixels.is_of(known) {
        search.see(context.pixel_pack_buffer, Act::Fills);
    }
    search.found.map(|(object, act)| (object.serial, act))
}

/// Returns the object to which the command gives contents; `None` if the command gives none, or if no object is bound.
pub fn filled(command: &Command<'_>, thread: &Thread) -> Option<Bound> {
    let mut search = Search { wanted: None, found: None };
    fill(&Arguments(command), thread.context.as_deref()?, &mut search);
    search.found.filter(|(_, act)| *act == Act::Fills).map(|(object, _)| object)
}

/// An object that is bound.
#[derive(Clone, Copy)]
pub struct Bound {
    /// Kind of object, such as `Texture`.
    pub kind: &'static str,
    pub name: u64,
    /// Distinguishes objects that had the same name.
    pub serial: u32,
}

/// A search for a bound object.
struct Search<'a> {
    /// Its kind and name; any object if `None`.
    wanted: Option<(&'a str, u64)>,
    found: Option<(Bound, Act)>,
}

impl Search<'_> {
    /// Notes the act if this is the object.
    fn see<T: Object>(&mut self, object: Ref<T>, act: Act) {
        let (kind, name, serial) = (T::KIND, object.name(), object.serial());
        let is_it = object.is_some() && self.wanted.is_none_or(|wanted| wanted == (kind, name));
        if is_it && self.found.is_none_or(|(_, known)| act < known) {
            self.found = Some((Bound { kind, name, serial }, act));
        }
    }
}

/// The arguments of a command by name.
struct Arguments<'a>(&'a Command<'a>);

impl Arguments<'_> {
    fn has(&self, name: &str) -> bool {
        self.0.args().any(|arg| arg.param.name == name)
    }

    fn number(&self, name: &str) -> Option<u32> {
        let arg = self.0.args().find(|arg| arg.param.name == name)?;
        u32::try_from(arg.value.bits()).ok()
    }
}

/// The buffers, or the texture or renderbuffer, that the command fills, and those that it reads for that.
fn fill(call: &Arguments<'_>, context: &Context, search: &mut Search<'_>) {
    let known = call.0.known();
    if Role::FillsBuffer.is_of(known) {
        fill_buffer(call, context, search);
    }
    if Role::Fills.is_of(known) {
        fill_image(call, context, search);
    }
}

/// The buffers at the command's targets.
fn fill_buffer(call: &Arguments<'_>, context: &Context, search: &mut Search<'_>) {
    let targets = [("target", Act::Fills), ("writeTarget", Act::Fills), ("readTarget", Act::Reads)];
    for (param, act) in targets {
        if let Some(target) = call.number(param) {
            search.see(context.buffer_at(target), act);
        }
    }
    let named = [("buffer", Act::Fills), ("writeBuffer", Act::Fills), ("readBuffer", Act::Reads)];
    for (param, act) in named {
        if let Some(name) = call.number(param).map(u64::from) {
            search.see(context.group.lock().buffers.find(name), act);
        }
    }
}

/// The texture or renderbuffer that the command names, or otherwise the one at its target; the buffer that has its pixels.
fn fill_image(call: &Arguments<'_>, context: &Context, search: &mut Search<'_>) {
    let named = [
        ("texture", "target", Act::Fills),
        ("dstName", "dstTarget", Act::Fills),
        ("srcName", "srcTarget", Act::Reads),
    ];
    for (param, target, act) in named {
        let Some(name) = call.number(param).map(u64::from) else { continue };
        let group = context.group.lock();
        match call.number(target) {
            Some(GL_RENDERBUFFER) => search.see(group.renderbuffers.find(name), act),
            _ => search.see(group.textures.find(name), act),
        }
    }
    let is_elsewhere = call.has("texture") || call.has("texunit");
    match call.number("target").filter(|_| !is_elsewhere) {
        Some(GL_RENDERBUFFER) => search.see(context.renderbuffer, Act::Fills),
        Some(target) => search.see(bound_texture(context, target), Act::Fills),
        None => {}
    }
    if call.has("pixels") || call.has("data") || call.has("bits") {
        search.see(context.pixel_unpack_buffer, Act::Reads);
    }
}

/// The framebuffer for drawing, which the command may name, with what is attached to it.
fn targets(call: &Arguments<'_>, context: &Context, thread: &Thread, search: &mut Search<'_>) {
    let name = call.number("drawFramebuffer").or_else(|| call.number("framebuffer"));
    let target = name.map_or(context.draw_framebuffer, |name| named_framebuffer(context, name));
    framebuffer(context, target, Act::DrawsTo, search);
    if target.is_none() {
        search.see(thread.draw_surface, Act::DrawsTo);
    }
}

/// The framebuffer for reading, which the command may name, with what is attached to it.
fn sources(call: &Arguments<'_>, context: &Context, thread: &Thread, search: &mut Search<'_>) {
    let name = call.number("readFramebuffer");
    let source = name.map_or(context.read_framebuffer, |name| named_framebuffer(context, name));
    framebuffer(context, source, Act::Reads, search);
    if source.is_none() {
        search.see(thread.read_surface, Act::Reads);
    }
}

fn named_framebuffer(context: &Context, name: u32) -> Ref<Framebuffer> {
    context.framebuffers.find(u64::from(name))
}

fn framebuffer(
    context: &Context,
    framebuffer: Ref<Framebuffer>,
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
    if search.wanted.is_none_or(|(kind, _)| matches!(kind, "Texture" | "Sampler")) {
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

/// Whether a uniform of the programs may select a texture unit: one has its number, or a shader has bindings of its own (GLSL ES
/// 3.10, 4.4.5). Uniforms that the program never set select unit 0. Without programs (OpenGL ES 1) every unit counts.
fn selects(context: &Context, programs: &[Ref<gapii_state::Program>], unit: usize) -> bool {
    if unit == 0 || programs.is_empty() {
        return true;
    }
    let group = context.group.lock();
    let is_unit = |value: &i64| usize::try_from(*value).is_ok_and(|value| value == unit);
    programs.iter().filter_map(|program| group.programs.get(*program)).any(|program| {
        let mut stages = program.last_link.stages.iter();
        stages.any(|stage| stage.source.contains("binding"))
            || program.uniforms.values().any(|uniform| uniform.integers.iter().any(is_unit))
    })
}

/// Where vertices come from, and where they go.
fn vertices(call: &Arguments<'_>, context: &Context, search: &mut Search<'_>) {
    search.see(context.vertex_array, Act::DrawsWith);
    let arrays = context.arrays();
    let enabled = arrays.attribs.iter().enumerate().filter(|(_, attrib)| attrib.enabled);
    for (slot, _) in enabled {
        if let Some(binding) = arrays.binding_of(slot) {
            search.see(binding.buffer, Act::DrawsWith);
        }
    }
    if call.has("indices") || (call.has("indirect") && call.has("type")) {
        search.see(arrays.element_buffer, Act::DrawsWith);
    }
    if call.has("indirect") {
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
