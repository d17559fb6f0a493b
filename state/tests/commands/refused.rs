//! Commands of OpenGL ES that the driver refuses change nothing.

use std::sync::Arc;

use gapii_commands::constants::*;
use gapii_state::commands::*;
use gapii_state::{Ignore, Nothing};

use crate::program::{Context, Group, Thread, thread};

/// A thread with a context of OpenGL ES 3.2.
fn es32() -> Thread {
    let mut thread = thread();
    thread.context = Some(Box::new(Context::new(1, Arc::<Group>::default(), (3, 2))));
    thread
}

#[test]
fn framebuffer_keeps_its_attachment() {
    const POINT: u32 = GL_COLOR_ATTACHMENT0;
    /// No name, and no enumerant.
    const NONE: u32 = 0x1234;
    let (mut thread, seen) = (es32(), &mut Ignore);
    let [kept, other] = [1, 2].map(|name| {
        glBindTexture::enter(&mut thread, &Nothing, seen, GL_TEXTURE_2D, name);
        thread.context.as_deref().unwrap().group.lock().textures.find(u64::from(name))
    });
    glBindRenderbuffer::enter(&mut thread, &Nothing, seen, GL_RENDERBUFFER, 1);
    glBindFramebuffer::enter(&mut thread, &Nothing, seen, GL_FRAMEBUFFER, 1);
    let attached = |thread: &mut Thread| {
        let context = thread.context.as_deref().unwrap();
        let framebuffer = context.framebuffers.get(context.draw_framebuffer).unwrap();
        framebuffer.attachments.get(&POINT).map(|it| it.texture)
    };
    let mut attach = |[target, textarget, name]: [u32; 3], level| {
        let (thread, memory) = (&mut thread, &Nothing);
        glFramebufferTexture2D::enter(thread, memory, seen, target, POINT, textarget, name, level);
        attached(thread)
    };
    assert_eq!(attach([GL_FRAMEBUFFER, GL_TEXTURE_2D, 1], 0), Some(kept));
    assert_eq!(attach([NONE, GL_TEXTURE_2D, 2], 0), Some(kept));
    assert_eq!(attach([GL_FRAMEBUFFER, NONE, 2], 0), Some(kept));
    assert_eq!(attach([GL_FRAMEBUFFER, GL_TEXTURE_2D, NONE], 0), Some(kept));
    assert_eq!(attach([GL_FRAMEBUFFER, GL_TEXTURE_2D, 2], -1), Some(kept));
    for (kind, name) in [(NONE, 1), (GL_RENDERBUFFER, NONE)] {
        let (memory, all) = (&Nothing, GL_FRAMEBUFFER);
        glFramebufferRenderbuffer::enter(&mut thread, memory, seen, all, POINT, kind, name);
        assert_eq!(attached(&mut thread), Some(kept));
    }
    for (name, level) in [(NONE, 0), (2, -1)] {
        let (memory, all) = (&Nothing, GL_FRAMEBUFFER);
        glFramebufferTexture::enter(&mut thread, memory, seen, all, POINT, name, level);
        assert_eq!(attached(&mut thread), Some(kept));
        glFramebufferTextureLayer::enter(&mut thread, memory, seen, all, POINT, name, level, 0);
        assert_eq!(attached(&mut thread), Some(kept));
    }
    glFramebufferTexture::enter(&mut thread, &Nothing, seen, GL_FRAMEBUFFER, POINT, 2, 0);
    assert_eq!(attached(&mut thread), Some(other));
}
