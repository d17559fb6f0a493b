//! Contexts, surfaces and threads.

use crate::search::world::{Context, Group, VertexArray, World};

/// The first contexts: one or two, made and current on the first thread.
pub fn begin(world: &mut World) {
    create(world, None);
    if world.chance(40) {
        make(world);
    }
}

/// Makes another context, in a group of its own or sharing with another, and makes it current.
pub fn make(world: &mut World) -> bool {
    if world.contexts.len() >= 3 || is_busy(world) {
        return false;
    }
    let share = world.chance(60).then(|| world.below(world.contexts.len()));
    create(world, share);
    true
}

fn create(world: &mut World, share: Option<usize>) {
    let group = match share {
        Some(other) => world.contexts[other].group,
        None => {
            world.groups.push(Group { chosen_names: 4000, ..Group::default() });
            world.groups.len() - 1
        }
    };
    let version = world.one_of(&[(2, 0), (3, 0), (3, 1), (3, 1), (3, 2), (3, 2), (3, 2)]);
    let (number, surface) = (world.count('c'), world.count('s'));
    let (major, minor) = version;
    let other = share.map_or("0".to_owned(), |other| format!("c{}", other + 1));
    world.step(format!(
        "c{number}= eglCreateContext display config {other} ints:EGL_CONTEXT_MAJOR_VERSION,{major},EGL_CONTEXT_MINOR_VERSION,{minor},EGL_NONE"
    ));
    world.step(format!(
        "s{surface}= eglCreatePbufferSurface display config ints:EGL_WIDTH,32,EGL_HEIGHT,32,EGL_NONE"
    ));
    world.vertex_arrays.push(VertexArray::new());
    let default_array = world.vertex_arrays.len() - 1;
    world.contexts.push(Context {
        group,
        surface,
        version,
        buffers: Default::default(),
        blocks: Default::default(),
        blocks_bound: Default::default(),
        default_array,
        array: default_array,
        array_bound: 0,
        named_arrays: Vec::new(),
        unit: 0,
        textures: Default::default(),
        framebuffer: None,
        named_framebuffers: Vec::new(),
        program: None,
        executable: Default::default(),
        drawn: Default::default(),
        has_lost_shaders: false,
        pipelines: Vec::new(),
        pipeline: None,
        feedbacks: Vec::new(),
        feedback_active: false,
        feedback_paused: false,
        feedback_buffer: None,
        queries: Vec::new(),
        active_query: None,
        is_conditional: false,
        debug_groups: 0,
        sampled_framebuffers: Vec::new(),
    });
    make_current(world, number - 1);
    world.step("glDisable GL_DITHER");
    world.step("glClearColor 0.25f 0.5f 0.75f 1f");
    world.step("glClear GL_COLOR_BUFFER_BIT|GL_DEPTH_BUFFER_BIT|GL_STENCIL_BUFFER_BIT");
}

/// Makes a context current on the thread; one that another thread has is released there first.
pub fn make_current(world: &mut World, context: usize) {
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
    let surface = world.contexts[context].surface;
    world.step(format!("?8 eglMakeCurrent display s{surface} s{surface} c{}", context + 1));
    world.current[thread] = Some(context);
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
    let context = world.below(world.contexts.len());
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
    if is_busy(world) {
        return false;
    }
    let surface = world.here().surface;
    world.step(format!("?8 eglSwapBuffers display s{surface}"));
    true
}

fn is_busy(world: &World) -> bool {
    world.current[world.thread].is_some() && world.is_feeding_back()
}
