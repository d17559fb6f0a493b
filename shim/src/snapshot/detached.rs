//! Attachments that are taken off a framebuffer of the program while nameless ones are read through it: `Detached`.

use gapii_commands::constants::{GL_FRAMEBUFFER, GL_FRAMEBUFFER_COMPLETE, GL_RENDERBUFFER};
use gapii_state::Context;

use super::attachments::{Attached, Part, UNKNOWN_SIZE, has_layer_command, layered};
use super::gl;

/// Attachments of the bound framebuffer that are taken off while nameless ones are read, because the framebuffer is not
/// complete with them, or because their images are smaller: a framebuffer shows what all its images have (OpenGL ES 3.2,
/// 9.2). Dropping this attaches them again.
pub struct Detached<'a> {
    attached: Vec<&'a Attached>,
}

impl<'a> Detached<'a> {
    /// Takes off what has a name, if the framebuffer has something nameless of which it does not show all.
    pub fn detach(attached: &'a [Attached], context: &Context) -> Self {
        let shown = smallest(attached.iter());
        let mut nameless = attached.iter().filter(|it| it.nameless.is_some());
        let has_nameless = nameless.clone().next().is_some();
        if !context.has((2, 0), (3, 0))
            || !has_nameless
            || nameless.all(|it| it.fits(shown))
                && gl::check_framebuffer(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE
        {
            return Self { attached: Vec::new() };
        }
        let attached: Vec<&Attached> = attached.iter().filter(|it| it.nameless.is_none()).collect();
        for it in &attached {
            gl::framebuffer_renderbuffer(GL_FRAMEBUFFER, it.point, GL_RENDERBUFFER, 0);
        }
        Self { attached }
    }

    /// Width and height of what the framebuffer shows of its images, `all`, meanwhile.
    pub fn shown(&self, all: &[Attached]) -> [i32; 2] {
        let is_detached = |it: &Attached| self.attached.iter().any(|off| off.point == it.point);
        smallest(all.iter().filter(|it| !is_detached(it)))
    }
}

/// The width and the height that all these images have.
fn smallest<'a>(all: impl Iterator<Item = &'a Attached>) -> [i32; 2] {
    all.fold(UNKNOWN_SIZE, |[width, height], it| [width.min(it.size[0]), height.min(it.size[1])])
}

impl Attached {
    /// Whether a framebuffer that shows so much shows all of the image.
    pub fn fits(&self, [width, height]: [i32; 2]) -> bool {
        self.size[0] <= width && self.size[1] <= height
    }
}

impl Drop for Detached<'_> {
    fn drop(&mut self) {
        let target = GL_FRAMEBUFFER;
        for Attached { point, name, part, .. } in self.attached.iter().copied() {
            match *part {
                Part::Renderbuffer => {
                    gl::framebuffer_renderbuffer(target, *point, GL_RENDERBUFFER, *name);
                }
                Part::Layered { level } => layered().1(target, *point, *name, level),
                Part::Layer { level, layer, .. } if has_layer_command() => {
                    gl::framebuffer_texture_layer(target, *point, *name, level, layer);
                }
                Part::Layer { target: kind, level, layer } => {
                    gl::framebuffer_texture_3d_oes(target, *point, kind, *name, level, layer);
                }
                Part::Views { level, samples: 0, first, count } => {
                    gl::framebuffer_texture_multiview(target, *point, *name, level, first, count);
                }
                Part::Views { level, samples, first, count } => {
                    gl::framebuffer_texture_multisample_multiview(
                        target, *point, *name, level, samples, first, count,
                    );
                }
                Part::Flat { face, level, samples: 0 } => {
                    gl::framebuffer_texture_2d(target, *point, face, *name, level);
                }
                Part::Flat { face, level, samples } => {
                    let (kind, name) = (face, *name);
                    gl::framebuffer_texture_2d_multisample_ext(
                        target, *point, kind, name, level, samples,
                    );
                }
            }
        }
    }
}
