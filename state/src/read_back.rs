//! Saves and restores the settings that affect a read-back of the default framebuffer (`SETTINGS`: debug output, pixel
//! packing, pixel pack buffer, framebuffer, read buffer; `TRANSFERS`: pixel transfer), or any read of pixels. Gives up, with all settings as before, if one could not be
//! restored (a deleted pack buffer, a missing function) or while shader pixel local storage is enabled.
//!
//! Only settings that the context's version and extensions have are queried and set, so that the read-back causes no
//! GL error and a pending error stays pending. The caller provides the driver.

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_ALPHA_BIAS, GL_ALPHA_SCALE, GL_BACK, GL_BLUE_BIAS, GL_BLUE_SCALE, GL_DEBUG_OUTPUT,
    GL_DEPTH_BIAS, GL_DEPTH_SCALE, GL_DRAW_FRAMEBUFFER, GL_DRAW_FRAMEBUFFER_BINDING,
    GL_FRAMEBUFFER, GL_FRAMEBUFFER_BINDING, GL_FRONT, GL_GREEN_BIAS, GL_GREEN_SCALE,
    GL_INDEX_OFFSET, GL_INDEX_SHIFT, GL_MAP_COLOR, GL_MAP_STENCIL, GL_PACK_ALIGNMENT,
    GL_PACK_IMAGE_HEIGHT, GL_PACK_LSB_FIRST, GL_PACK_ROW_LENGTH, GL_PACK_SKIP_IMAGES,
    GL_PACK_SKIP_PIXELS, GL_PACK_SKIP_ROWS, GL_PACK_SWAP_BYTES, GL_PIXEL_PACK_BUFFER,
    GL_PIXEL_PACK_BUFFER_BINDING, GL_READ_BUFFER, GL_READ_FRAMEBUFFER, GL_READ_FRAMEBUFFER_BINDING,
    GL_RED_BIAS, GL_RED_SCALE,
};

const GL_SHADER_PIXEL_LOCAL_STORAGE_EXT: u32 = constants::GL_SHADER_PIXEL_LOCAL_STORAGE_EXT;
const GL_PACK_REVERSE_ROW_ORDER_ANGLE: u32 = constants::GL_PACK_REVERSE_ROW_ORDER_ANGLE;

/// A driver with a current context.
pub trait Driver {
    /// Whether the context has at least version `es` of OpenGL ES, or version `desktop` of desktop OpenGL.
    fn is_at_least(&self, es: (u8, u8), desktop: (u8, u8)) -> bool;
    /// Whether the context has an extension.
    fn has(&self, extension: &str) -> bool;
    /// The buffer of the surface that a context of desktop OpenGL shows, or draws to: `GL_FRONT` if it is the only one. `None`
    /// in OpenGL ES, whose `GL_BACK` is either.
    fn own_buffer(&self) -> Option<u32>;
    /// Whether the context has glPixelTransfer, as the compatibility profile of desktop OpenGL does.
    fn has_pixel_transfer(&self) -> bool;
    /// `glGetIntegerv` for a state variable with one value.
    fn integer(&self, name: u32) -> u32;
    /// `glGetFloatv` for a state variable with one value.
    fn float(&self, name: u32) -> f32;
    /// `glIsEnabled`
    fn is_enabled(&self, capability: u32) -> bool;
    /// `glEnable`, `glDisable`
    fn enable(&self, capability: u32, is_on: bool);
    /// `glPixelStorei`
    fn pixel_store(&self, name: u32, value: u32);
    /// `glPixelTransferf`
    fn pixel_transfer(&self, name: u32, value: f32);
    /// Has the driver look at what glPixelTransfer has set, where a command might use what an earlier one has found.
    fn settle_pixel_transfer(&self) {}
    /// `glBindBuffer`. False if the driver has no such function.
    fn bind_buffer(&self, target: u32, buffer: u32) -> bool;
    /// `glIsBuffer`
    fn is_buffer(&self, buffer: u32) -> bool;
    /// `glBindFramebuffer`, with or without a suffix. False if the driver has no such function.
    fn bind_framebuffer(&self, target: u32, framebuffer: u32) -> bool;
    /// `glReadBuffer`, with or without a suffix. False if the driver has no such function.
    fn read_buffer(&self, buffer: u32) -> bool;
}

/// The saved settings. Dropping this restores them, the last one first.
pub struct Aside<'d, D: Driver> {
    driver: &'d D,
    taken: [Option<(Setting, u32)>; TAKEN_MAX],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Setting {
    /// Debug messages: a driver may report a slow read-back, and the program would receive the message.
    DebugOutput,
    Pack(u32, u32),
    PackBuffer,
    /// A parameter of glPixelTransfer, and the bits of its initial value.
    Transfer(u32, u32),
    /// The query of a binding, and the target that sets it.
    Framebuffer(u32, u32),
    ReadBuffer,
}

/// Settings in the order in which they are saved: a read buffer belongs to the framebuffer that is bound.
const SETTINGS: [Setting; 11] = [
    Setting::DebugOutput,
    Setting::Pack(GL_PACK_ALIGNMENT, 4),
    Setting::Pack(GL_PACK_ROW_LENGTH, 0),
    Setting::Pack(GL_PACK_SKIP_ROWS, 0),
    Setting::Pack(GL_PACK_SKIP_PIXELS, 0),
    Setting::Pack(GL_PACK_REVERSE_ROW_ORDER_ANGLE, 0),
    Setting::PackBuffer,
    Setting::Framebuffer(GL_READ_FRAMEBUFFER_BINDING, GL_READ_FRAMEBUFFER),
    // A read makes Mesa 22.3 look at the framebuffer for drawing, too, and changes what it answers about that one.
    Setting::Framebuffer(GL_DRAW_FRAMEBUFFER_BINDING, GL_DRAW_FRAMEBUFFER),
    Setting::Framebuffer(GL_FRAMEBUFFER_BINDING, GL_FRAMEBUFFER),
    Setting::ReadBuffer,
];

/// What affects how pixels are written to memory, for rows without gaps.
const OF_PIXELS: [Setting; 10] = [
    Setting::Pack(GL_PACK_ALIGNMENT, 1),
    Setting::Pack(GL_PACK_ROW_LENGTH, 0),
    Setting::Pack(GL_PACK_SKIP_ROWS, 0),
    Setting::Pack(GL_PACK_SKIP_PIXELS, 0),
    Setting::Pack(GL_PACK_SKIP_IMAGES, 0),
    Setting::Pack(GL_PACK_IMAGE_HEIGHT, 0),
    Setting::Pack(GL_PACK_SWAP_BYTES, 0),
    Setting::Pack(GL_PACK_LSB_FIRST, 0),
    Setting::Pack(GL_PACK_REVERSE_ROW_ORDER_ANGLE, 0),
    Setting::PackBuffer,
];

/// Parameters of glPixelTransfer, and their initial values, with which pixels stay as they are.
pub const TRANSFERS: [(u32, f32); 14] = [
    (GL_MAP_COLOR, 0.0),
    (GL_MAP_STENCIL, 0.0),
    (GL_INDEX_SHIFT, 0.0),
    (GL_INDEX_OFFSET, 0.0),
    (GL_RED_SCALE, 1.0),
    (GL_RED_BIAS, 0.0),
    (GL_GREEN_SCALE, 1.0),
    (GL_GREEN_BIAS, 0.0),
    (GL_BLUE_SCALE, 1.0),
    (GL_BLUE_BIAS, 0.0),
    (GL_ALPHA_SCALE, 1.0),
    (GL_ALPHA_BIAS, 0.0),
    (GL_DEPTH_SCALE, 1.0),
    (GL_DEPTH_BIAS, 0.0),
];

/// `SETTINGS` is the longer list.
const TAKEN_MAX: usize = SETTINGS.len() + TRANSFERS.len();

/// Extensions that give a context of OpenGL ES 2.0 separate framebuffers for reading and drawing.
const READ_FRAMEBUFFERS: [&str; 3] =
    ["GL_NV_framebuffer_blit", "GL_ANGLE_framebuffer_blit", "GL_APPLE_framebuffer_multisample"];

/// A version that no context of an API has.
pub const NEVER: (u8, u8) = (u8::MAX, 0);

/// Returns the bindings of framebuffers that a context has: each query with the target that sets it. None in OpenGL ES 1
/// without `GL_OES_framebuffer_object`.
pub fn framebuffer_bindings(driver: &impl Driver) -> impl Iterator<Item = (u32, u32)> {
    SETTINGS.into_iter().filter(|setting| setting.exists(driver)).filter_map(|it| match it {
        Setting::Framebuffer(binding, target) => Some((binding, target)),
        _ => None,
    })
}

impl<'d, D: Driver> Aside<'d, D> {
    /// Sets up a read-back of the draw surface's back buffer: RGBA rows of four bytes per pixel, from the bottom up
    /// and without gaps. `None` if a setting cannot be restored later; all settings are then unchanged.
    pub fn put(driver: &'d D) -> Option<Self> {
        if driver.has("GL_EXT_shader_pixel_local_storage")
            && driver.is_enabled(GL_SHADER_PIXEL_LOCAL_STORAGE_EXT)
        {
            return None;
        }
        Self::put_all(driver, &SETTINGS)
    }

    /// Sets up a read of any pixels to memory, as they are and without gaps. `None` as in [`Self::put`].
    pub fn put_of_pixels(driver: &'d D) -> Option<Self> {
        Self::put_all(driver, &OF_PIXELS)
    }

    fn put_all(driver: &'d D, settings: &[Setting]) -> Option<Self> {
        let mut aside = Self { driver, taken: [None; TAKEN_MAX] };
        let transfers = TRANSFERS.map(|(name, plain)| Setting::Transfer(name, plain.to_bits()));
        let all = settings.iter().copied().chain(transfers);
        for (setting, taken) in all.zip(&mut aside.taken) {
            if !setting.exists(driver) {
                continue;
            }
            let value = setting.value(driver);
            let plain = setting.plain(driver, value);
            if value == plain {
                continue;
            }
            // A setting that could not be restored is not changed.
            if setting == Setting::PackBuffer && !driver.is_buffer(value)
                || !setting.set(driver, plain)
            {
                return None;
            }
            *taken = Some((setting, value));
        }
        Some(aside)
    }
}

impl<D: Driver> Drop for Aside<'_, D> {
    fn drop(&mut self) {
        let all = || self.taken.iter().rev().flatten();
        let is_transfer = |setting: &Setting| matches!(setting, Setting::Transfer(..));
        // They were put aside last, so nothing else is restored before.
        for (setting, value) in all().filter(|(setting, _)| is_transfer(setting)) {
            setting.set(self.driver, *value);
        }
        if all().any(|(setting, _)| is_transfer(setting)) {
            self.driver.settle_pixel_transfer();
        }
        for (setting, value) in all().filter(|(setting, _)| !is_transfer(setting)) {
            setting.set(self.driver, *value);
        }
    }
}

impl Setting {
    /// Whether contexts of this version and with these extensions have the setting.
    fn exists(self, driver: &impl Driver) -> bool {
        let is_es2 = || driver.is_at_least((2, 0), NEVER);
        let is_es3 = || driver.is_at_least((3, 0), NEVER);
        let is_desktop = || driver.is_at_least(NEVER, (1, 0));
        let has_read_framebuffer = || match is_desktop() {
            true => driver.is_at_least(NEVER, (3, 0)) || driver.has("GL_ARB_framebuffer_object"),
            false => is_es3() || is_es2() && READ_FRAMEBUFFERS.iter().any(|name| driver.has(name)),
        };
        match self {
            Self::DebugOutput => driver.is_at_least((3, 2), (4, 3)) || driver.has("GL_KHR_debug"),
            Self::Pack(GL_PACK_ALIGNMENT, _) => true,
            Self::Pack(GL_PACK_REVERSE_ROW_ORDER_ANGLE, _) => {
                driver.has("GL_ANGLE_pack_reverse_row_order")
            }
            Self::Pack(GL_PACK_SKIP_IMAGES | GL_PACK_IMAGE_HEIGHT, _) => {
                driver.is_at_least(NEVER, (1, 2))
            }
            Self::Pack(GL_PACK_SWAP_BYTES | GL_PACK_LSB_FIRST, _) => is_desktop(),
            Self::Pack(..) => {
                driver.is_at_least((3, 0), (1, 0)) || driver.has("GL_NV_pack_subimage")
            }
            Self::Transfer(..) => driver.has_pixel_transfer(),
            Self::PackBuffer => {
                driver.is_at_least((3, 0), (2, 1))
                    || driver.has("GL_NV_pixel_buffer_object")
                    || driver.has("GL_ARB_pixel_buffer_object")
            }
            Self::Framebuffer(_, GL_READ_FRAMEBUFFER | GL_DRAW_FRAMEBUFFER) => {
                has_read_framebuffer()
            }
            Self::Framebuffer(..) => match is_es2() {
                true => !has_read_framebuffer(),
                false => driver.has("GL_OES_framebuffer_object"),
            },
            Self::ReadBuffer => {
                is_es3() || is_desktop() || is_es2() && driver.has("GL_NV_read_buffer")
            }
        }
    }

    fn value(self, driver: &impl Driver) -> u32 {
        match self {
            Self::DebugOutput => u32::from(driver.is_enabled(GL_DEBUG_OUTPUT)),
            Self::Pack(name, _) => driver.integer(name),
            Self::Transfer(name, _) => driver.float(name).to_bits(),
            Self::PackBuffer => driver.integer(GL_PIXEL_PACK_BUFFER_BINDING),
            Self::Framebuffer(binding, _) => driver.integer(binding),
            Self::ReadBuffer => driver.integer(GL_READ_BUFFER),
        }
    }

    /// Returns the value for the read-back, if the current value is `value`.
    fn plain(self, driver: &impl Driver, value: u32) -> u32 {
        match self {
            // Rows of four bytes per pixel fit any of the three alignments.
            Self::Pack(GL_PACK_ALIGNMENT, plain) if value <= plain => value,
            Self::Pack(_, plain) | Self::Transfer(_, plain) => plain,
            // The only buffer of a single-buffered surface may be reported as GL_FRONT, which cannot be set.
            Self::ReadBuffer => driver.own_buffer().unwrap_or_else(|| {
                match value == GL_FRONT && !driver.has("GL_NV_read_buffer_front") {
                    true => value,
                    false => GL_BACK,
                }
            }),
            Self::DebugOutput | Self::PackBuffer | Self::Framebuffer(..) => 0,
        }
    }

    fn set(self, driver: &impl Driver, value: u32) -> bool {
        match self {
            Self::DebugOutput => driver.enable(GL_DEBUG_OUTPUT, value != 0),
            Self::Pack(name, _) => driver.pixel_store(name, value),
            Self::Transfer(name, _) => driver.pixel_transfer(name, f32::from_bits(value)),
            Self::PackBuffer => return driver.bind_buffer(GL_PIXEL_PACK_BUFFER, value),
            Self::Framebuffer(_, target) => return driver.bind_framebuffer(target, value),
            Self::ReadBuffer => return driver.read_buffer(value),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;

    use super::*;
    use crate::ContextApi;

    /// Set in the values of a [`Model`] whose surface has one buffer.
    const SINGLE: u32 = 1;

    /// A driver that panics on queries that a context of its version does not have.
    struct Model {
        api: ContextApi,
        version: (u8, u8),
        extensions: Vec<&'static str>,
        values: RefCell<BTreeMap<u32, u32>>,
        /// The read buffer of the default framebuffer.
        back: Cell<u32>,
        /// A scale of glPixelTransfer, as the driver has looked at it.
        settled: Cell<f32>,
    }

    impl Model {
        fn new(version: (u8, u8), extensions: &[&'static str], values: &[(u32, u32)]) -> Self {
            let values = RefCell::new(values.iter().copied().collect());
            let extensions = extensions.to_vec();
            let api = ContextApi::Es;
            let (back, settled) = (Cell::new(GL_BACK), Cell::new(0.0));
            Self { api, version, extensions, values, back, settled }
        }

        /// A context of desktop OpenGL.
        fn desktop(version: (u8, u8), extensions: &[&'static str], values: &[(u32, u32)]) -> Self {
            Self { api: ContextApi::Compatibility, ..Self::new(version, extensions, values) }
        }

        fn get(&self, name: u32) -> u32 {
            let of_transfer = TRANSFERS.iter().find(|(it, _)| *it == name);
            let default = match of_transfer {
                Some((_, plain)) => plain.to_bits(),
                None if name == GL_PACK_ALIGNMENT => 4,
                None => 0,
            };
            self.values.borrow().get(&name).copied().unwrap_or(default)
        }

        #[track_caller]
        fn knows(&self, name: u32) {
            let since = |es, desktop| self.is_at_least(es, desktop);
            let is_known = match name {
                GL_PACK_ALIGNMENT => true,
                GL_DEBUG_OUTPUT => since((3, 2), (4, 3)) || self.has("GL_KHR_debug"),
                GL_PACK_ROW_LENGTH | GL_PACK_SKIP_ROWS | GL_PACK_SKIP_PIXELS => {
                    since((3, 0), (1, 0)) || self.has("GL_NV_pack_subimage")
                }
                GL_FRAMEBUFFER_BINDING => {
                    since((2, 0), (3, 0))
                        || self.has("GL_OES_framebuffer_object")
                        || self.has("GL_ARB_framebuffer_object")
                }
                GL_PACK_REVERSE_ROW_ORDER_ANGLE => self.has("GL_ANGLE_pack_reverse_row_order"),
                GL_READ_FRAMEBUFFER_BINDING => {
                    since((3, 0), (3, 0))
                        || self.has("GL_NV_framebuffer_blit")
                        || self.has("GL_ARB_framebuffer_object")
                }
                GL_PIXEL_PACK_BUFFER_BINDING => {
                    since((3, 0), (2, 1))
                        || self.has("GL_NV_pixel_buffer_object")
                        || self.has("GL_ARB_pixel_buffer_object")
                }
                GL_READ_BUFFER => since((3, 0), (1, 0)) || self.has("GL_NV_read_buffer"),
                GL_PACK_SKIP_IMAGES | GL_PACK_IMAGE_HEIGHT => since(NEVER, (1, 2)),
                GL_PACK_SWAP_BYTES | GL_PACK_LSB_FIRST => since(NEVER, (1, 0)),
                _ => TRANSFERS.iter().any(|(it, _)| *it == name) && self.has_pixel_transfer(),
            };
            assert!(is_known, "{name:#x} in a context of {:?} {:?}", self.api, self.version);
        }

        fn set(&self, name: u32, value: u32) {
            self.knows(name);
            self.values.borrow_mut().insert(name, value);
        }
    }

    impl Driver for Model {
        fn is_at_least(&self, es: (u8, u8), desktop: (u8, u8)) -> bool {
            self.api.is_es(self.version, es) || self.api.is_desktop(self.version, desktop)
        }
        fn own_buffer(&self) -> Option<u32> {
            let is_single = self.get(SINGLE) != 0;
            (self.api != ContextApi::Es).then_some(if is_single { GL_FRONT } else { GL_BACK })
        }
        fn has(&self, extension: &str) -> bool {
            self.extensions.contains(&extension)
        }
        fn integer(&self, name: u32) -> u32 {
            self.knows(name);
            match name {
                GL_READ_BUFFER if self.get(GL_READ_FRAMEBUFFER_BINDING) == 0 => self.back.get(),
                name => self.get(name),
            }
        }
        fn has_pixel_transfer(&self) -> bool {
            self.api == ContextApi::Compatibility
        }
        fn float(&self, name: u32) -> f32 {
            self.knows(name);
            f32::from_bits(self.get(name))
        }
        fn pixel_transfer(&self, name: u32, value: f32) {
            self.set(name, value.to_bits());
        }
        fn settle_pixel_transfer(&self) {
            self.settled.set(self.float(GL_RED_SCALE));
        }
        fn is_enabled(&self, capability: u32) -> bool {
            self.knows(capability);
            self.get(capability) != 0
        }
        fn enable(&self, capability: u32, is_on: bool) {
            self.set(capability, u32::from(is_on));
        }
        fn pixel_store(&self, name: u32, value: u32) {
            self.set(name, value);
        }
        fn bind_buffer(&self, target: u32, buffer: u32) -> bool {
            assert_eq!(target, GL_PIXEL_PACK_BUFFER);
            self.set(GL_PIXEL_PACK_BUFFER_BINDING, buffer);
            true
        }
        fn is_buffer(&self, buffer: u32) -> bool {
            buffer != 99
        }
        fn bind_framebuffer(&self, target: u32, framebuffer: u32) -> bool {
            let binding = match target {
                GL_READ_FRAMEBUFFER => GL_READ_FRAMEBUFFER_BINDING,
                _ => GL_FRAMEBUFFER_BINDING,
            };
            self.set(binding, framebuffer);
            true
        }
        fn read_buffer(&self, buffer: u32) -> bool {
            self.knows(GL_READ_BUFFER);
            assert_eq!(self.get(GL_READ_FRAMEBUFFER_BINDING), 0, "of the default framebuffer");
            assert!(self.api != ContextApi::Es || buffer != GL_FRONT);
            self.back.set(buffer);
            true
        }
    }

    const BENT: [(u32, u32); 8] = [
        (GL_PACK_ALIGNMENT, 8),
        (GL_PACK_ROW_LENGTH, 7),
        (GL_PACK_SKIP_ROWS, 1),
        (GL_PACK_SKIP_PIXELS, 2),
        (GL_PIXEL_PACK_BUFFER_BINDING, 5),
        (GL_READ_FRAMEBUFFER_BINDING, 6),
        (GL_DRAW_FRAMEBUFFER_BINDING, 4),
        (GL_DEBUG_OUTPUT, 1),
    ];

    #[test]
    fn settings_are_changed_for_the_read_back_and_then_restored() {
        let model = Model::new((3, 2), &[], &BENT);
        model.back.set(0);
        let aside = Aside::put(&model).unwrap();
        for (name, _) in BENT {
            assert_eq!(model.get(name), if name == GL_PACK_ALIGNMENT { 4 } else { 0 }, "{name:#x}");
        }
        assert_eq!(model.back.get(), GL_BACK);
        drop(aside);
        for (name, value) in BENT {
            assert_eq!(model.get(name), value, "{name:#x}");
        }
        assert_eq!(model.back.get(), 0);
    }

    #[test]
    fn framebuffers_for_reading_are_of_newer_contexts_and_of_extensions() {
        let check = |version, extensions: &[&'static str], targets: &[u32]| {
            let model = Model::new(version, extensions, &[]);
            let bindings = framebuffer_bindings(&model).map(|(_, target)| target);
            assert_eq!(bindings.collect::<Vec<_>>(), targets, "{version:?}");
        };
        check((1, 1), &[], &[]);
        check((1, 1), &["GL_OES_framebuffer_object"], &[GL_FRAMEBUFFER]);
        check((2, 0), &[], &[GL_FRAMEBUFFER]);
        let both = [GL_READ_FRAMEBUFFER, GL_DRAW_FRAMEBUFFER];
        check((2, 0), &["GL_NV_framebuffer_blit"], &both);
        check((3, 0), &[], &both);
    }

    #[test]
    fn only_settings_of_the_context_are_queried() {
        let check = |version, extensions: &[&'static str], values: &[(u32, u32)]| {
            let model = Model::new(version, extensions, values);
            drop(Aside::put(&model).unwrap());
            for (name, value) in values {
                assert_eq!(model.get(*name), *value, "{name:#x} in {version:?}");
            }
        };
        check((1, 1), &[], &[(GL_PACK_ALIGNMENT, 8)]);
        check((1, 1), &["GL_OES_framebuffer_object"], &[(GL_FRAMEBUFFER_BINDING, 3)]);
        check((2, 0), &[], &[(GL_FRAMEBUFFER_BINDING, 3)]);
        check((2, 0), &["GL_KHR_debug"], &[(GL_DEBUG_OUTPUT, 1)]);
        check((2, 0), &["GL_NV_framebuffer_blit"], &[(GL_READ_FRAMEBUFFER_BINDING, 3)]);
        check((2, 0), &["GL_NV_pack_subimage"], &[(GL_PACK_ROW_LENGTH, 3)]);
        check((2, 0), &["GL_NV_pixel_buffer_object"], &[(GL_PIXEL_PACK_BUFFER_BINDING, 3)]);
        check((2, 0), &["GL_NV_read_buffer"], &[]);
        check(
            (2, 0),
            &["GL_ANGLE_pack_reverse_row_order"],
            &[(GL_PACK_REVERSE_ROW_ORDER_ANGLE, 1)],
        );
        check((3, 0), &[], &[(GL_READ_FRAMEBUFFER_BINDING, 3)]);
    }

    #[test]
    fn only_settings_of_a_context_of_desktop_opengl_are_queried() {
        let check = |version, extensions: &[&'static str], values: &[(u32, u32)]| {
            let model = Model::desktop(version, extensions, values);
            let aside = Aside::put(&model).unwrap();
            for (name, _) in values {
                assert_eq!(model.get(*name), 0, "{name:#x} in {version:?}");
            }
            drop(aside);
            for (name, value) in values {
                assert_eq!(model.get(*name), *value, "{name:#x} in {version:?}");
            }
        };
        check((1, 4), &[], &[(GL_PACK_ROW_LENGTH, 3)]);
        check((2, 0), &["GL_ARB_pixel_buffer_object"], &[(GL_PIXEL_PACK_BUFFER_BINDING, 3)]);
        check((2, 1), &[], &[(GL_PIXEL_PACK_BUFFER_BINDING, 3)]);
        check((2, 1), &["GL_ARB_framebuffer_object"], &[(GL_READ_FRAMEBUFFER_BINDING, 3)]);
        check((3, 0), &[], &[(GL_READ_FRAMEBUFFER_BINDING, 3)]);
        check((4, 2), &["GL_KHR_debug"], &[(GL_DEBUG_OUTPUT, 1)]);
        check((4, 3), &[], &[(GL_DEBUG_OUTPUT, 1)]);
    }

    #[test]
    fn pixels_are_read_as_they_are_whatever_their_transfer() {
        let bent: Vec<(u32, u32)> =
            TRANSFERS.iter().map(|(name, plain)| (*name, (plain + 0.25).to_bits())).collect();
        let check = |put: fn(&Model) -> Option<Aside<'_, Model>>| {
            let model = Model::desktop((2, 1), &[], &bent);
            let aside = put(&model).unwrap();
            for (name, plain) in TRANSFERS {
                assert_eq!(model.float(name).to_bits(), plain.to_bits(), "{name:#x}");
            }
            drop(aside);
            for (name, value) in &bent {
                assert_eq!(model.get(*name), *value, "{name:#x}");
            }
            assert_eq!(model.settled.get().to_bits(), 1.25_f32.to_bits(), "the driver has looked");
        };
        check(|model| Aside::put(model));
        check(|model| Aside::put_of_pixels(model));
        let core = Model { api: ContextApi::Core, ..Model::desktop((3, 2), &[], &[]) };
        assert!(Aside::put(&core).is_some(), "a core profile has no such parameters to ask for");
    }

    #[test]
    fn rows_of_any_pixels_have_no_gaps() {
        let bent = [
            (GL_PACK_ALIGNMENT, 2),
            (GL_PACK_IMAGE_HEIGHT, 9),
            (GL_PACK_SWAP_BYTES, 1),
            (GL_PIXEL_PACK_BUFFER_BINDING, 5),
            (GL_READ_FRAMEBUFFER_BINDING, 6),
        ];
        let model = Model::desktop((4, 5), &[], &bent);
        let aside = Aside::put_of_pixels(&model).unwrap();
        assert_eq!(bent.map(|(name, _)| model.get(name)), [1, 0, 0, 0, 6]);
        drop(aside);
        assert_eq!(bent.map(|(name, _)| model.get(name)), bent.map(|(_, value)| value));
    }

    #[test]
    fn only_buffer_of_a_surface_is_the_front_in_desktop_opengl() {
        let check = |is_single: u32, expected: u32| {
            let model = Model::desktop((4, 5), &[], &[(SINGLE, is_single)]);
            model.back.set(0);
            let aside = Aside::put(&model).unwrap();
            assert_eq!(model.back.get(), expected);
            drop(aside);
            assert_eq!(model.back.get(), 0);
        };
        check(0, GL_BACK);
        check(1, GL_FRONT);
    }

    #[test]
    fn buffer_that_another_context_deleted_stays_bound() {
        let model = Model::new((3, 0), &[], &[(GL_PIXEL_PACK_BUFFER_BINDING, 99), BENT[1]]);
        assert!(Aside::put(&model).is_none());
        assert_eq!(model.get(GL_PIXEL_PACK_BUFFER_BINDING), 99);
        assert_eq!(model.get(GL_PACK_ROW_LENGTH), 7);
    }

    #[test]
    fn single_buffer_of_a_surface_is_read_under_its_reported_name() {
        let model = Model::new((3, 0), &[], &[]);
        model.back.set(GL_FRONT);
        drop(Aside::put(&model).unwrap());
        assert_eq!(model.back.get(), GL_FRONT);
    }
}
