//! Graphics of a program: names of its drivers and sizes of its surfaces, as far as the trace has them. Drivers come
//! from contexts' limits, and in older traces from answers to `glGetString`; sizes come from contexts' limits, answers to `eglQuerySurface` and observed frames. Keeps
//! at most 16 drivers and 64 sizes, and tells 256 contexts and 256 surfaces apart. An answer of more than 4,096 bytes is
//! left out. Guesses nothing: without an answer there is no entry.

use std::collections::BTreeMap;

use gapii_commands::CommandId;
use gapii_commands::constants::{EGL_HEIGHT, EGL_WIDTH, GL_RENDERER, GL_VERSION};
use gapii_trace::value::Observation;
use gapii_trace::{Command, Untrusted};
use schemars::JsonSchema;
use serde::Serialize;

/// Largest number of drivers.
const DRIVERS_MAX: usize = 16;
/// Longest answer of a driver that is kept, in bytes.
const ANSWER_BYTES_MAX: u64 = 4096;
/// Largest number of sizes.
const SIZES_MAX: usize = 64;
/// Largest number of contexts and of surfaces that are told apart.
const OBJECTS_MAX: usize = 256;

/// The drivers and sizes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Graphics {
    /// Drivers, each once, in the order of the first answer.
    pub drivers: Vec<Driver>,
    /// Sizes of surfaces, each once, in the order in which they became known.
    pub surface_sizes: Vec<Size>,
}

/// Answers of a driver in a context.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Driver {
    /// `GL_RENDERER`; `None` if the trace does not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renderer: Option<Untrusted>,
    /// `GL_VERSION`; `None` if the trace does not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Untrusted>,
}

/// Size of a surface, in pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Size {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

/// Looks at commands in the order in which they took effect.
#[derive(Default)]
pub struct Viewer {
    /// Answers by process and context.
    drivers: Vec<((u32, u64), Driver)>,
    sizes: Vec<Size>,
    /// By process and surface: width and height since the last size that was complete.
    asked: BTreeMap<(u32, u64), (Option<u32>, Option<u32>)>,
    /// Process and context whose limits were looked at last.
    limits_of: Option<(u32, u64)>,
}

impl Viewer {
    /// Looks at the next command.
    pub fn look(&mut self, command: &Command<'_>) {
        let context = (command.process, command.context);
        if let Some(limits) = command.limits.filter(|_| self.limits_of != Some(context)) {
            self.limits_of = Some(context);
            let framebuffer = limits.default_framebuffer;
            let size = [framebuffer.width, framebuffer.height];
            let [width, height] = size.map(|pixels| u32::try_from(pixels).unwrap_or(0));
            self.learn(Size { width, height });
            for (name, text) in
                [(GL_RENDERER, &limits.renderer), (GL_VERSION, &limits.version_string)]
            {
                if !text.is_empty() {
                    self.answer(context, name, text.clone());
                }
            }
        }
        if let Some(frame) = command.observed_frame {
            self.learn(Size { width: frame.width, height: frame.height });
        }
        match command.known() {
            Some(CommandId::GL_GET_STRING) => self.get_string(command),
            Some(CommandId::EGL_QUERY_SURFACE) => self.query_surface(command),
            _ => {}
        }
    }

    /// Returns the drivers and sizes.
    pub fn finish(self) -> Graphics {
        let mut graphics = Graphics { surface_sizes: self.sizes, ..Graphics::default() };
        for (_, driver) in self.drivers {
            if !graphics.drivers.contains(&driver) && graphics.drivers.len() < DRIVERS_MAX {
                graphics.drivers.push(driver);
            }
        }
        graphics
    }

    fn get_string(&mut self, command: &Command<'_>) {
        let name = bits(command, 0) as u32;
        if name != GL_RENDERER && name != GL_VERSION {
            return;
        }
        let Some((_, text)) = command.result() else { return };
        if matches!(text, Observation::Blob { size, .. } if size > ANSWER_BYTES_MAX) {
            return;
        }
        let Some(text) = command.bytes_of(text) else { return };
        let text = Untrusted::from(String::from_utf8_lossy(&text).as_ref());
        self.answer((command.process, command.context), name, text);
    }

    /// Notes what a driver answered in a context, named by its process and handle.
    fn answer(&mut self, key: (u32, u64), name: u32, text: Untrusted) {
        let at = match self.drivers.iter().position(|(known, _)| *known == key) {
            Some(at) => at,
            None if self.drivers.len() >= OBJECTS_MAX => return,
            None => {
                self.drivers.push((key, Driver::default()));
                self.drivers.len() - 1
            }
        };
        let driver = &mut self.drivers[at].1;
        let answer = if name == GL_RENDERER { &mut driver.renderer } else { &mut driver.version };
        *answer = Some(text);
    }

    /// A program asks for width and height, one after the other. A surface has a size when both are answered.
    fn query_surface(&mut self, command: &Command<'_>) {
        if command.result().is_none_or(|(done, _)| done.bits() == 0) {
            return;
        }
        let value = command.args().nth(3).and_then(|arg| match arg.observation {
            Observation::Bytes(bytes) => bytes.first_chunk().copied().map(u32::from_le_bytes),
            _ => None,
        });
        let key = (command.process, bits(command, 1));
        if self.asked.len() >= OBJECTS_MAX && !self.asked.contains_key(&key) {
            return;
        }
        let (width, height) = self.asked.entry(key).or_default();
        match bits(command, 2) as u32 {
            EGL_WIDTH => *width = value,
            EGL_HEIGHT => *height = value,
            _ => {}
        }
        if let (Some(known_width), Some(known_height)) = (*width, *height) {
            (*width, *height) = (None, None);
            self.learn(Size { width: known_width, height: known_height });
        }
    }

    /// Notes a size. A size without area is none.
    fn learn(&mut self, size: Size) {
        let has_area = size.width > 0 && size.height > 0;
        if has_area && !self.sizes.contains(&size) && self.sizes.len() < SIZES_MAX {
            self.sizes.push(size);
        }
    }
}

/// Bits of an argument; 0 if the command lacks it.
fn bits(command: &Command<'_>, index: usize) -> u64 {
    command.args().nth(index).map_or(0, |arg| arg.value.bits())
}
