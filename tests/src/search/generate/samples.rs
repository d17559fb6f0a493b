//! Images with several samples, each in a framebuffer of its own. Their samples show when they are resolved.

use crate::search::world::World;

const SIDE: usize = 16;
const KINDS: &[(&str, (u8, u8))] =
    &[("renderbuffer", (3, 0)), ("texture", (3, 1)), ("array", (3, 2))];

/// Makes an image, clears all and then a part of it, and attaches it.
pub fn make(world: &mut World) -> bool {
    let version = world.version();
    let known: Vec<_> = KINDS.iter().filter(|(_, since)| version >= *since).collect();
    let Some((kind, _)) = world.some_of(&known) else { return false };
    if world.is_feeding_back() {
        return false;
    }
    let framebuffer = world.count('f');
    world.step(format!("glGenFramebuffers 1 new:f{framebuffer}"));
    world.step(format!("glBindFramebuffer GL_FRAMEBUFFER f{framebuffer}"));
    let point = "GL_FRAMEBUFFER GL_COLOR_ATTACHMENT0";
    let image = match *kind {
        "renderbuffer" => {
            let number = world.count('r');
            world.step(format!("glGenRenderbuffers 1 new:r{number}"));
            world.step(format!("glBindRenderbuffer GL_RENDERBUFFER r{number}"));
            world.step(format!(
                "glRenderbufferStorageMultisample GL_RENDERBUFFER 4 GL_RGBA8 {SIDE} {SIDE}"
            ));
            world.step(format!("glFramebufferRenderbuffer {point} GL_RENDERBUFFER r{number}"));
            format!("glDeleteRenderbuffers 1 ints:r{number}")
        }
        _ => {
            let number = world.count('t');
            let target = match *kind {
                "array" => "GL_TEXTURE_2D_MULTISAMPLE_ARRAY",
                _ => "GL_TEXTURE_2D_MULTISAMPLE",
            };
            world.step(format!("glGenTextures 1 new:t{number}"));
            world.step(format!("glBindTexture {target} t{number}"));
            if *kind == "array" {
                world.step(format!(
                    "glTexStorage3DMultisample {target} 4 GL_RGBA8 {SIDE} {SIDE} 1 1"
                ));
                world.step(format!("glFramebufferTextureLayer {point} t{number} 0 0"));
            } else {
                world
                    .step(format!("glTexStorage2DMultisample {target} 4 GL_RGBA8 {SIDE} {SIDE} 1"));
                world.step(format!("glFramebufferTexture2D {point} {target} t{number} 0"));
            }
            format!("glDeleteTextures 1 ints:t{number}")
        }
    };
    world.step("? glCheckFramebufferStatus GL_FRAMEBUFFER");
    world.end_condition();
    for step in
        ["glColorMask 1 1 1 1", "glDisable GL_RASTERIZER_DISCARD", "glDisable GL_SCISSOR_TEST"]
    {
        world.step(step);
    }
    for (scissor, colour) in [("Disable", "0.25f 0.75f 0f 1f"), ("Enable", "1f 0f 0.5f 1f")] {
        world.step(format!("gl{scissor} GL_SCISSOR_TEST"));
        world.step("glScissor 3 3 7 5");
        world.step(format!("glClearColor {colour}"));
        world.step("glClear GL_COLOR_BUFFER_BIT");
    }
    let bound = world.here().framebuffer.map_or("0".to_owned(), |bound| format!("f{bound}"));
    world.step(format!("glBindFramebuffer GL_FRAMEBUFFER {bound}"));
    world.context().sampled_framebuffers.push(framebuffer);
    if world.chance(30) {
        // The framebuffer, which is not bound, keeps it.
        world.step(image);
    }
    true
}

/// Resolves the images and reads them.
pub fn read(world: &mut World) {
    let all = world.here().sampled_framebuffers.clone();
    if all.is_empty() {
        return;
    }
    let (framebuffer, renderbuffer) = (world.count('f'), world.count('r'));
    world.step(format!("glGenFramebuffers 1 new:f{framebuffer}"));
    world.step(format!("glGenRenderbuffers 1 new:r{renderbuffer}"));
    world.step(format!("glBindRenderbuffer GL_RENDERBUFFER r{renderbuffer}"));
    world.step(format!("glRenderbufferStorage GL_RENDERBUFFER GL_RGBA8 {SIDE} {SIDE}"));
    world.step("glDisable GL_SCISSOR_TEST");
    for sampled in all {
        world.step(format!("glBindFramebuffer GL_FRAMEBUFFER f{framebuffer}"));
        world.step(format!(
            "glFramebufferRenderbuffer GL_FRAMEBUFFER GL_COLOR_ATTACHMENT0 GL_RENDERBUFFER r{renderbuffer}"
        ));
        // A driver may refuse the blit.
        world.step("glClear GL_COLOR_BUFFER_BIT");
        world.step(format!("glBindFramebuffer GL_READ_FRAMEBUFFER f{sampled}"));
        world.step("? glCheckFramebufferStatus GL_READ_FRAMEBUFFER");
        world.step(format!(
            "glBlitFramebuffer 0 0 {SIDE} {SIDE} 0 0 {SIDE} {SIDE} GL_COLOR_BUFFER_BIT GL_NEAREST"
        ));
        world.step("? glGetError");
        world.step(format!("glBindFramebuffer GL_FRAMEBUFFER f{framebuffer}"));
        world.step(format!(
            "glReadPixels 0 0 {SIDE} {SIDE} GL_RGBA GL_UNSIGNED_BYTE out:{}",
            4 * SIDE * SIDE
        ));
        world.step("? glGetError");
    }
}
