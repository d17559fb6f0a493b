//! `Parked`: a context that holds nothing any more, and that the driver keeps although it is destroyed. What it alone held were
//! textures and programs that have lost their names.
//!
//! Mesa 22.3 keeps with a texture and with an executable what each context has made of it. A context that is destroyed takes
//! its part away from objects that have names, and not from others. When the last context lets go of the object, Mesa uses
//! the destroyed one. So contexts that share objects are emptied before the first of them is destroyed.

use std::sync::mpsc::{self, Sender};
use std::thread::{Builder, JoinHandle};

use super::display::Real;
use super::egl_functions::{Handle, call};
use gapii_commands::constants::{
    GL_COLOR_ATTACHMENT0, GL_FRAGMENT_SHADER, GL_FRAMEBUFFER, GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS,
    GL_MAX_IMAGE_UNITS, GL_MAX_TEXTURE_UNITS, GL_POINTS, GL_RASTERIZER_DISCARD, GL_READ_ONLY,
    GL_RENDERBUFFER, GL_RGBA4, GL_RGBA8, GL_TEXTURE_1D, GL_TEXTURE_1D_ARRAY, GL_TEXTURE_2D,
    GL_TEXTURE_2D_ARRAY, GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_3D,
    GL_TEXTURE_BUFFER, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_EXTERNAL_OES,
    GL_TEXTURE_RECTANGLE, GL_TEXTURE0, GL_TRANSFORM_FEEDBACK, GL_VERTEX_SHADER,
};

/// Targets of textures in all APIs. A context refuses those that it does not have.
const TARGETS: [u32; 12] = [
    GL_TEXTURE_2D,
    GL_TEXTURE_CUBE_MAP,
    GL_TEXTURE_3D,
    GL_TEXTURE_2D_ARRAY,
    GL_TEXTURE_2D_MULTISAMPLE,
    GL_TEXTURE_CUBE_MAP_ARRAY,
    GL_TEXTURE_2D_MULTISAMPLE_ARRAY,
    GL_TEXTURE_EXTERNAL_OES,
    GL_TEXTURE_BUFFER,
    GL_TEXTURE_1D,
    GL_TEXTURE_1D_ARRAY,
    GL_TEXTURE_RECTANGLE,
];

/// Most units of textures and of images that are looked at. Mesa has 192.
const UNITS_MAX: u32 = 1024;

/// A context that is to be destroyed, and the names of its objects that hold programs.
pub struct Ending {
    pub context: Handle,
    pub pipelines: Vec<u32>,
    pub transform_feedbacks: Vec<u32>,
}

/// A context that holds no textures and programs any more, and is current on a thread of the player's own until this is dropped. As
/// long as it is, the driver keeps the context, also if it is destroyed.
///
/// The program of its last glDispatchCompute stays: Mesa lets go of it at the next dispatch.
pub struct Parked {
    /// The thread ends when this is gone.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Parked {
    /// Parks a context that will never draw again. `None` if the driver does not make it current: it is current elsewhere, or the
    /// display has no `EGL_KHR_surfaceless_context`.
    ///
    /// It has a thread of its own, because the caller's context or surface may be destroyed, and could not become current again.
    pub fn new(real: &Real, ending: Ending) -> Option<Self> {
        if !real.has_extension("EGL_KHR_surfaceless_context") {
            return None;
        }
        let own = real.unheard();
        let (end, ended) = mpsc::channel();
        let (said, heard) = mpsc::channel();
        let thread = Builder::new().spawn(move || {
            let is_current = own.make_current(0, 0, ending.context);
            if is_current {
                own.let_go_of_programs(&ending);
                own.let_go_of_textures();
                own.draw_nothing();
            }
            if said.send(is_current).is_ok() && is_current {
                // An error says that `Parked` is dropped.
                let _ = ended.recv();
            }
            own.release_thread();
        });
        let thread = thread.ok()?;
        match heard.recv() {
            Ok(true) => Some(Self { end: Some(end), thread: Some(thread) }),
            _ => None,
        }
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked has released nothing, and the driver keeps the context.
            let _ = thread.join();
        }
    }
}

impl Real {
    fn let_go_of_programs(&self, ending: &Ending) {
        call!(self.own.end_transform_feedback());
        for name in &ending.transform_feedbacks {
            call!(self.own.bind_transform_feedback(GL_TRANSFORM_FEEDBACK, *name));
            call!(self.own.end_transform_feedback());
        }
        call!(self.own.use_program(0));
        call!(self.own.bind_program_pipeline(0));
        let count = ending.pipelines.len() as i32;
        call!(self.own.delete_program_pipelines(count, ending.pipelines.as_ptr()));
    }

    fn let_go_of_textures(&self) {
        let number = |name| {
            let mut number = 0;
            call!(self.own.get_integer(name, &raw mut number));
            u32::try_from(number).unwrap_or(0).min(UNITS_MAX)
        };
        // OpenGL ES 1 has only the second.
        let units = number(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS).max(number(GL_MAX_TEXTURE_UNITS));
        for unit in 0..units {
            call!(self.own.active_texture(GL_TEXTURE0 + unit));
            for target in TARGETS {
                call!(self.own.bind_texture(target, 0));
            }
        }
        for unit in 0..number(GL_MAX_IMAGE_UNITS) {
            call!(self.own.bind_image_texture(unit, 0, 0, 0, 0, GL_READ_ONLY, GL_RGBA8));
        }
    }

    /// Draws without a program to a framebuffer of its own. Mesa keeps the program of a context's last draw, and what a deleted
    /// framebuffer holds that is still bound. The draw may be refused for a reason that matters no more.
    ///
    /// It comes after a draw with another program. If another context has linked a program again, a flush of Mesa 22.3 unbinds all
    /// shaders of this context, and a draw with the program of the last draw would use none.
    fn draw_nothing(&self) {
        let (mut framebuffer, mut renderbuffer, mut array) = (0, 0, 0);
        call!(self.own.gen_vertex_arrays(1, &raw mut array));
        call!(self.own.bind_vertex_array(array));
        call!(self.own.gen_renderbuffers(1, &raw mut renderbuffer));
        call!(self.own.bind_renderbuffer(GL_RENDERBUFFER, renderbuffer));
        call!(self.own.renderbuffer_storage(GL_RENDERBUFFER, GL_RGBA4, 1, 1));
        call!(self.own.gen_framebuffers(1, &raw mut framebuffer));
        call!(self.own.bind_framebuffer(GL_FRAMEBUFFER, framebuffer));
        call!(self.own.framebuffer_renderbuffer(
            GL_FRAMEBUFFER,
            GL_COLOR_ATTACHMENT0,
            GL_RENDERBUFFER,
            renderbuffer
        ));
        call!(self.own.enable(GL_RASTERIZER_DISCARD));
        if let Some(program) = self.plain_program() {
            call!(self.own.use_program(program));
            call!(self.own.draw_arrays(GL_POINTS, 0, 1));
            call!(self.own.use_program(0));
            call!(self.own.delete_program(program));
        }
        call!(self.own.draw_arrays(GL_POINTS, 0, 1));
        // Other contexts have the names, too.
        call!(self.own.delete_framebuffers(1, &raw const framebuffer));
        call!(self.own.delete_renderbuffers(1, &raw const renderbuffer));
    }

    /// Links a program that draws a black point. What it is if a shader is refused does not matter. `None` if the context has no
    /// programs.
    fn plain_program(&self) -> Option<u32> {
        let program = Some(call!(self.own.create_program())).filter(|program| *program != 0)?;
        let sources = [
            (GL_VERTEX_SHADER, c"#version 100\nvoid main() { gl_Position = vec4(0.0); }"),
            (GL_FRAGMENT_SHADER, c"#version 100\nvoid main() { gl_FragColor = vec4(0.0); }"),
        ];
        for (stage, source) in sources {
            let shader = call!(self.own.create_shader(stage));
            call!(self.own.shader_source(shader, 1, &source.as_ptr(), std::ptr::null()));
            call!(self.own.compile_shader(shader));
            call!(self.own.attach_shader(program, shader));
            call!(self.own.delete_shader(shader));
        }
        call!(self.own.link_program(program));
        Some(program)
    }
}
