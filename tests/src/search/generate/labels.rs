//! Labels of objects, and debug groups.

use crate::search::world::World;

/// Groups that a context may have begun: the driver allows 64.
const GROUPS_MAX: usize = 3;

/// Identifiers of kinds of objects, and those of GL_EXT_debug_label.
const KINDS_EXT: &[(&str, &str)] = &[
    ("GL_BUFFER", "GL_BUFFER_OBJECT_EXT"),
    ("GL_TEXTURE", "GL_TEXTURE"),
    ("GL_RENDERBUFFER", "GL_RENDERBUFFER"),
    ("GL_PROGRAM", "GL_PROGRAM_OBJECT_EXT"),
    ("GL_SHADER", "GL_SHADER_OBJECT_EXT"),
    ("GL_FRAMEBUFFER", "GL_FRAMEBUFFER"),
    ("GL_VERTEX_ARRAY", "GL_VERTEX_ARRAY_OBJECT_EXT"),
    ("GL_SAMPLER", "GL_SAMPLER"),
    ("GL_TRANSFORM_FEEDBACK", "GL_TRANSFORM_FEEDBACK"),
    ("GL_QUERY", "GL_QUERY_OBJECT_EXT"),
    ("GL_PROGRAM_PIPELINE", "GL_PROGRAM_PIPELINE_OBJECT_EXT"),
];

/// Commands and identifiers have a suffix where debugging is an extension (GL_KHR_debug).
fn suffix(world: &World) -> &'static str {
    if world.version() >= (3, 2) { "" } else { "KHR" }
}

/// Objects that can have a label: the identifier of the kind, and the object.
pub fn objects(world: &World) -> Vec<(&'static str, String)> {
    let (names, here) = (world.names(), world.here());
    let mut all = Vec::new();
    let mut add = |kind: &'static str, letter: char, numbers: &[usize]| {
        all.extend(numbers.iter().map(|number| (kind, format!("{letter}{number}"))));
    };
    add("GL_BUFFER", 'b', &names.buffers);
    add("GL_TEXTURE", 't', &names.textures);
    add("GL_RENDERBUFFER", 'r', &names.renderbuffers);
    add("GL_PROGRAM", 'g', &names.programs);
    add("GL_SHADER", 'h', &names.shaders.iter().map(|(shader, _)| *shader).collect::<Vec<_>>());
    add("GL_FRAMEBUFFER", 'f', &here.named_framebuffers);
    if here.version >= (3, 0) {
        let arrays: Vec<usize> = here
            .named_arrays
            .iter()
            .filter_map(|array| world.array_names.get(array).copied())
            .collect();
        add("GL_VERTEX_ARRAY", 'v', &arrays);
        add("GL_SAMPLER", 'm', &names.samplers);
        add("GL_TRANSFORM_FEEDBACK", 'x', &here.feedbacks);
        add("GL_QUERY", 'q', &here.queries.iter().map(|(query, _)| *query).collect::<Vec<_>>());
    }
    add("GL_PROGRAM_PIPELINE", 'l', &here.pipelines);
    all
}

/// Gives an object a label, or takes it away.
pub fn label(world: &mut World) -> bool {
    let (all, syncs) = (objects(world), world.names().syncs.clone());
    if let Some(sync) = world.some_of(&syncs).filter(|_| world.version() >= (3, 2)) {
        world.step(format!("glObjectPtrLabel y{sync} -1 text:fence"));
        return true;
    }
    if all.is_empty() {
        return false;
    }
    let (kind, object) = all[world.below(all.len())].clone();
    if let Some((_, kind)) = KINDS_EXT.iter().find(|(known, _)| *known == kind)
        && world.chance(20)
    {
        let text = world.one_of(&["0 text:of_extension", "3 text:cut_off", "0 0"]);
        world.step(format!("glLabelObjectEXT {kind} {object} {text}"));
        return true;
    }
    let suffix = suffix(world);
    let text = world.one_of(&["-1 text:first", "-1 text:another_one", "3 text:cut_off", "0 0"]);
    world.step(format!("glObjectLabel{suffix} {kind} {object} {text}"));
    true
}

/// Begins or ends a debug group.
pub fn group(world: &mut World) -> bool {
    let suffix = suffix(world);
    let groups = world.here().debug_groups;
    if groups > 0 && (groups == GROUPS_MAX || world.chance(50)) {
        world.step(format!("glPopDebugGroup{suffix}"));
        world.context().debug_groups -= 1;
    } else {
        let id = world.below(9);
        world.step(format!(
            "glPushDebugGroup{suffix} GL_DEBUG_SOURCE_APPLICATION {id} -1 text:group"
        ));
        world.context().debug_groups += 1;
    }
    true
}

/// Asks for all labels, and for the number of groups.
pub fn ask(world: &mut World) {
    let suffix = suffix(world);
    for (kind, object) in objects(world) {
        world.step(format!("glGetObjectLabel{suffix} {kind} {object} 16 out:4 out:16"));
    }
    if world.version() >= (3, 2) {
        for sync in world.names().syncs.clone() {
            world.step(format!("glGetObjectPtrLabel y{sync} 16 out:4 out:16"));
        }
    }
    world.step("glGetIntegerv GL_DEBUG_GROUP_STACK_DEPTH out:4");
    world.step("? glGetError");
}
