//! What the survey learns from a command, by its function.

use gapii_commands::CommandId;

use crate::driver::DisplayBy;

/// What the survey learns from a command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Nothing,
    BindApi,
    Display(DisplayBy),
    Initialize,
    Terminate,
    ChooseConfig,
    ConfigAttribute,
    Context,
    Surface { is_native: bool, wide: bool },
    MakeCurrent,
    ReleaseThread,
    Swap,
    QuerySurface,
    Glx(Glx),
    Viewport,
    BindFramebuffer,
    Link,
    LinkStatus,
    Attribute,
    ResourceLocation,
}

/// What the survey learns from a command of GLX.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Glx {
    ChooseVisual,
    ChooseConfig,
    VisualAttribute,
    ConfigAttribute,
    VisualOfConfig,
    Context,
    Drawable,
    MakeCurrent,
    QueryDrawable,
}

impl Glx {
    fn of(command: CommandId) -> Option<Self> {
        Some(match command {
            CommandId::GLX_CHOOSE_VISUAL => Self::ChooseVisual,
            CommandId::GLX_CHOOSE_FB_CONFIG | CommandId::GLX_CHOOSE_FB_CONFIG_SGIX => {
                Self::ChooseConfig
            }
            CommandId::GLX_GET_CONFIG => Self::VisualAttribute,
            CommandId::GLX_GET_FB_CONFIG_ATTRIB | CommandId::GLX_GET_FB_CONFIG_ATTRIB_SGIX => {
                Self::ConfigAttribute
            }
            CommandId::GLX_GET_VISUAL_FROM_FB_CONFIG
            | CommandId::GLX_GET_VISUAL_FROM_FB_CONFIG_SGIX => Self::VisualOfConfig,
            CommandId::GLX_CREATE_CONTEXT
            | CommandId::GLX_CREATE_CONTEXT_ATTRIBS_ARB
            | CommandId::GLX_CREATE_CONTEXT_WITH_CONFIG_SGIX
            | CommandId::GLX_CREATE_NEW_CONTEXT => Self::Context,
            CommandId::GLX_CREATE_GLX_PBUFFER_SGIX
            | CommandId::GLX_CREATE_GLX_PIXMAP
            | CommandId::GLX_CREATE_GLX_PIXMAP_MESA
            | CommandId::GLX_CREATE_GLX_PIXMAP_WITH_CONFIG_SGIX
            | CommandId::GLX_CREATE_PBUFFER
            | CommandId::GLX_CREATE_PIXMAP
            | CommandId::GLX_CREATE_WINDOW => Self::Drawable,
            CommandId::GLX_MAKE_CONTEXT_CURRENT
            | CommandId::GLX_MAKE_CURRENT
            | CommandId::GLX_MAKE_CURRENT_READ_SGI => Self::MakeCurrent,
            CommandId::GLX_QUERY_DRAWABLE => Self::QueryDrawable,
            _ => return None,
        })
    }
}

impl Look {
    pub(super) fn of(command: CommandId) -> Self {
        match command {
            CommandId::EGL_BIND_API => Self::BindApi,
            CommandId::EGL_GET_DISPLAY => Self::Display(DisplayBy::Default),
            CommandId::EGL_GET_PLATFORM_DISPLAY => Self::Display(DisplayBy::Platform),
            CommandId::EGL_GET_PLATFORM_DISPLAY_EXT => Self::Display(DisplayBy::Extension),
            CommandId::EGL_INITIALIZE => Self::Initialize,
            CommandId::EGL_TERMINATE => Self::Terminate,
            CommandId::EGL_CHOOSE_CONFIG => Self::ChooseConfig,
            CommandId::EGL_GET_CONFIG_ATTRIB => Self::ConfigAttribute,
            CommandId::EGL_CREATE_CONTEXT => Self::Context,
            CommandId::EGL_CREATE_WINDOW_SURFACE
            | CommandId::EGL_CREATE_PLATFORM_WINDOW_SURFACE_EXT
            | CommandId::EGL_CREATE_PIXMAP_SURFACE
            | CommandId::EGL_CREATE_PLATFORM_PIXMAP_SURFACE_EXT => {
                Self::Surface { is_native: true, wide: false }
            }
            CommandId::EGL_CREATE_PLATFORM_WINDOW_SURFACE
            | CommandId::EGL_CREATE_PLATFORM_PIXMAP_SURFACE => {
                Self::Surface { is_native: true, wide: true }
            }
            CommandId::EGL_CREATE_PBUFFER_SURFACE => {
                Self::Surface { is_native: false, wide: false }
            }
            CommandId::EGL_MAKE_CURRENT => Self::MakeCurrent,
            CommandId::EGL_RELEASE_THREAD => Self::ReleaseThread,
            CommandId::EGL_QUERY_SURFACE => Self::QuerySurface,
            CommandId::GL_VIEWPORT => Self::Viewport,
            CommandId::GL_BIND_FRAMEBUFFER | CommandId::GL_BIND_FRAMEBUFFER_OES => {
                Self::BindFramebuffer
            }
            CommandId::GL_LINK_PROGRAM
            | CommandId::GL_PROGRAM_BINARY
            | CommandId::GL_PROGRAM_BINARY_OES => Self::Link,
            CommandId::GL_GET_PROGRAMIV => Self::LinkStatus,
            CommandId::GL_GET_ATTRIB_LOCATION => Self::Attribute,
            CommandId::GL_GET_PROGRAM_RESOURCE_LOCATION => Self::ResourceLocation,
            CommandId::EGL_SWAP_BUFFERS
            | CommandId::EGL_SWAP_BUFFERS_REGION2_NOK
            | CommandId::EGL_SWAP_BUFFERS_REGION_NOK
            | CommandId::EGL_SWAP_BUFFERS_WITH_DAMAGE_EXT
            | CommandId::EGL_SWAP_BUFFERS_WITH_DAMAGE_KHR
            | CommandId::GLX_SWAP_BUFFERS
            | CommandId::GLX_SWAP_BUFFERS_MSC_OML => Self::Swap,
            command => Glx::of(command).map_or(Self::Nothing, Self::Glx),
        }
    }
}
