//! Contexts, surfaces and threads.

use crate::search::generate::pbuffers;
use crate::search::generate::vertices;
use crate::search::world::{Api, CONTEXTS, Context, Group, Kind, VertexArray, World};

/// The first contexts: one or two, made and current on the first thread.
pub fn begin(world: &mut World) {
    create(world, None);
    if world.chance(40) {
        make(world);
    }
}

/// Makes another context, in a group of its own or sharing with another, and makes it current.
pub fn make(world: &mut World) -> bool {
    if world.contexts.len() >= CONTEXTS || is_busy(world) {
        return false;
    }
    let living = living(world);
    let share = world.some_of(&living).filter(|_| world.chance(60));
    create(world, share);
    true
}

/// Contexts that can be made current.
fn living(world: &World) -> Vec<usize> {
    (0..world.contexts.len()).filter(|at| !world.contexts[*at].is_destroyed).collect()
}

/// Destroys a context that is the last one of its group. A thread on which it is current keeps it.
///
/// Others share shaders with the rest of their group: Mesa 22.3 frees them with the last of the contexts, and then waits
/// for a lock in memory of one that was destroyed before.
pub fn destroy(world: &mut World) -> bool {
    let living = living(world);
    let is_alone = |at: &usize| {
        let group = world.contexts[*at].group;
        world.contexts.iter().filter(|context| context.group == group).count() == 1
    };
    let here = world.current[world.thread];
    let is_elsewhere = |at: &usize| Some(*at) != here && world.current.contains(&Some(*at));
    let fitting: Vec<usize> =
        living.iter().filter(|at| is_alone(at) && !is_elsewhere(at)).copied().collect();
    let Some(context) = world.some_of(&fitting).filter(|_| living.len() > 1) else { return false };
    if world.contexts[context].feedback_active {
        return false;
    }
    world.step(format!("?8 eglDestroyContext display c{}", context + 1));
    world.step(format!("@name c{} 0", context + 1));
    world.contexts[context].is_destroyed = true;
    true
}

/// Versions of contexts of OpenGL ES, besides 1.1.
const ES: &[(u8, u8)] = &[(2, 0), (3, 0), (3, 1), (3, 1), (3, 2), (3, 2), (3, 2)];

/// Versions of contexts of OpenGL. Mesa makes one of the latest version of the profile, whatever it is asked for.
const DESKTOP: &[(Api, (u8, u8), &str)] = &[
    (Api::Compatibility, (2, 1), ""),
    (Api::Compatibility, (3, 0), ""),
    (Api::Compatibility, (3, 2), "EGL_CONTEXT_OPENGL_PROFILE_MASK,2,"),
    (Api::Compatibility, (4, 5), "EGL_CONTEXT_OPENGL_PROFILE_MASK,2,"),
    (Api::Core, (3, 2), "EGL_CONTEXT_OPENGL_PROFILE_MASK,1,"),
    (Api::Core, (3, 3), ""),
    (Api::Core, (4, 5), "EGL_CONTEXT_OPENGL_PROFILE_MASK,1,"),
    (Api::Core, (4, 3), "EGL_CONTEXT_OPENGL_FORWARD_COMPATIBLE,1,"),
];

/// Makes a context of a random version with a surface of its own, which is cleared, and makes both current.
fn create(world: &mut World, share: Option<usize>) {
    world.bind_api();
    let (api, asked, attributes) = match world.kind {
        Kind::Desktop => world.one_of(DESKTOP),
        Kind::Es => match world.chance(12) {
            true => (Api::Es, (1, 1), ""),
            false => (Api::Es, world.one_of(ES), ""),
        },
    };
    // Mesa's contexts of OpenGL have the commands of OpenGL ES.
    let version = if api == Api::Es { asked } else { (3, 2) };
    // The model does not know which commands of one generation show what those of the other have done.
    let is_alike = |other: &usize| world.contexts[*other].version.0.min(2) == version.0.min(2);
    let share = share.filter(|other| version.0 > 1 && is_alike(other));
    let group = match share {
        Some(other) => world.contexts[other].group,
        None => {
            world.groups.push(Group { chosen_names: 4000, ..Group::default() });
            world.groups.len() - 1
        }
    };
    let number = world.count('c');
    let (major, minor) = asked;
    let other = share.map_or("0".to_owned(), |other| format!("c{}", other + 1));
    world.step(format!(
        "c{number}= eglCreateContext display config {other} ints:EGL_CONTEXT_MAJOR_VERSION,{major},EGL_CONTEXT_MINOR_VERSION,{minor},{attributes}EGL_NONE"
    ));
    let surface = pbuffers::pbuffer(world, "");
    world.vertex_arrays.push(VertexArray::new());
    let default_array = world.vertex_arrays.len() - 1;
    let array = default_array;
    let made = Context { group, surface, api, version, default_array, array, ..<_>::default() };
    world.contexts.push(made);
    make_current(world, number - 1);
    world.step("glDisable GL_DITHER");
    world.step("glClearColor 0.25f 0.5f 0.75f 1f");
    world.step("glClear GL_COLOR_BUFFER_BIT|GL_DEPTH_BUFFER_BIT|GL_STENCIL_BUFFER_BIT");
    if api == Api::Core {
        // Nothing is drawn with the default vertex array.
        vertices::make_array(world);
    }
}

/// Makes a context current on the thread; one that another thread has is released there first.
pub fn make_current(world: &mut World, context: usize) {
    world.bind_api();
    if world.current[world.thread].is_some() {
        // Other contexts of the group see what this one has done.
        world.step("glFinish");
    }
    let thread = world.thread;
    for other in 0..world.current.len() {
        if other != thread && world.current[other] == Some(context) {
            world.thread = other;
            world.step("glFinish");
            world.step("?8 eglMakeCurrent display 0 0 0");
            world.current[other] = None;
        }
    }
    world.thread = thread;
    let needs_surface = std::mem::take(&mut world.contexts[context].has_lost_surface);
    if needs_surface {
        world.contexts[context].surface = pbuffers::pbuffer(world, "");
    }
    let Context { surface, reads_from, .. } = world.contexts[context];
    let read = reads_from.unwrap_or(surface);
    world.step(format!("?8 eglMakeCurrent display s{surface} s{read} c{}", context + 1));
    world.current[thread] = Some(context);
    if world.kind == Kind::Desktop {
        // Without a question like those of a snapshot, Mesa 22.3 reads what GL_FRAMEBUFFER_SRGB has converted as it was before.
        world.step("glGetIntegerv GL_SAMPLES out:4");
    }
    let had_none = std::mem::take(&mut world.contexts[context].has_no_surface);
    if had_none && world.here().framebuffer.is_some() && world.version() >= (3, 0) {
        // In Mesa it is GL_FRONT if the surface was first made current while a framebuffer was bound, as in a replay.
        world.step("glBindFramebuffer GL_FRAMEBUFFER 0");
        pbuffers::read_its_buffer(world);
    }
    if needs_surface {
        // The contents of a new surface are undefined.
        pbuffers::clear(world);
    }
    bind_framebuffer_again(world);
}

/// Goes on in another context or on another thread.
pub fn switch(world: &mut World) -> bool {
    let threads: Vec<usize> = (0..world.current.len()).collect();
    let thread = world.one_of(&threads);
    if world.current[thread].is_some() && thread != world.thread && world.chance(60) {
        world.step("glFinish");
        world.thread = thread;
        bind_framebuffer_again(world);
        return true;
    }
    if world.contexts.len() == 1 && world.chance(50) {
        return false;
    }
    let living = living(world);
    let Some(context) = world.some_of(&living) else { return false };
    if world.current[world.thread] == Some(context) && world.thread == thread {
        return false;
    }
    world.step("glFinish");
    world.thread = thread;
    make_current(world, context);
    true
}

/// Binds the framebuffer of the context again, so that the driver looks at its images anew.
///
/// Other contexts may have changed the images, which shows when the framebuffer is bound (OpenGL ES 3.2, 5.3.3). Mesa 22.3
/// also keeps a framebuffer incomplete whose missing level glGenerateMipmap makes, until a framebuffer is bound. A
/// snapshot binds framebuffers, too, so without this the program's errors would depend on it.
pub fn bind_framebuffer_again(world: &mut World) {
    if let Some(framebuffer) = world.here().framebuffer {
        world.step("glBindFramebuffer GL_FRAMEBUFFER 0");
        world.step(format!("glBindFramebuffer GL_FRAMEBUFFER f{framebuffer}"));
    }
}

pub fn swap(world: &mut World) -> bool {
    if is_busy(world) || world.here().has_lost_surface {
        return false;
    }
    let surface = world.here().surface;
    world.step(format!("?8 eglSwapBuffers display s{surface}"));
    true
}

fn is_busy(world: &World) -> bool {
    world.current[world.thread].is_some() && world.is_feeding_back()
}
