//! The survey's reading of GLX: replay plays GLX through EGL, so attributes of contexts and configurations become those of
//! EGL. A configuration is known by the handle of a `GLXFBConfig` or the number of a visual, which differ: handles are
//! addresses. A window of X that becomes current without a command that makes a surface of it gets the context's
//! configuration. Values that a choice leaves open (`GLX_DONT_CARE`) and names without one in EGL are left out.

use gapii_commands::CommandId;
use gapii_commands::constants::{self, *};
use gapii_trace::Command;

use super::super::lists::Attributes;
use super::super::look::Glx;
use super::{NewContext, OBJECTS_MAX, Surveyor, arg, observed, result_of, size_in};

/// Attributes of configurations: GLX's name and EGL's.
const OF_CONFIGS: [(u32, u32); 7] = [
    (GLX_RED_SIZE, EGL_RED_SIZE),
    (GLX_GREEN_SIZE, EGL_GREEN_SIZE),
    (GLX_BLUE_SIZE, EGL_BLUE_SIZE),
    (GLX_ALPHA_SIZE, EGL_ALPHA_SIZE),
    (GLX_DEPTH_SIZE, EGL_DEPTH_SIZE),
    (GLX_STENCIL_SIZE, EGL_STENCIL_SIZE),
    (GLX_SAMPLES, EGL_SAMPLES),
];
/// Attributes of contexts: GLX's name and EGL's.
const OF_CONTEXTS: [(u32, u32); 6] = [
    (GLX_CONTEXT_MAJOR_VERSION_ARB, EGL_CONTEXT_MAJOR_VERSION),
    (GLX_CONTEXT_MINOR_VERSION_ARB, EGL_CONTEXT_MINOR_VERSION),
    (GLX_CONTEXT_FLAGS_ARB, EGL_CONTEXT_FLAGS_KHR),
    (GLX_CONTEXT_PROFILE_MASK_ARB, EGL_CONTEXT_OPENGL_PROFILE_MASK),
    (GLX_CONTEXT_OPENGL_NO_ERROR_ARB, EGL_CONTEXT_OPENGL_NO_ERROR_KHR),
    (GLX_CONTEXT_RESET_NOTIFICATION_STRATEGY_ARB, EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY),
];
/// Names of a list of glXChooseVisual that have no value.
const WITHOUT_VALUE: [u32; 4] = [GLX_USE_GL, GLX_RGBA, GLX_DOUBLEBUFFER, GLX_STEREO];

impl Surveyor {
    pub(super) fn look_at_glx(&mut self, command: &Command<'_>, look: Glx) {
        let process = command.process;
        match look {
            Glx::ChooseVisual => {
                let list = observed_range(command, arg(command, 2));
                let asked = translated(&visual_pairs(&words(&list)), &OF_CONFIGS);
                let visual = visual_id(&result_memory(command));
                self.chosen(process, &visual.to_le_bytes(), &asked);
            }
            Glx::ChooseConfig => {
                let asked = translated(&pairs(&words(&observed(command, 2))), &OF_CONFIGS);
                self.chosen(process, &result_memory(command), &asked);
            }
            Glx::VisualAttribute => {
                let visual = visual_id(&observed_range(command, arg(command, 1)));
                self.told(command, visual);
            }
            Glx::ConfigAttribute => self.told(command, arg(command, 1)),
            Glx::VisualOfConfig => {
                let visual = visual_id(&result_memory(command));
                let number = self.config_number(process, arg(command, 1));
                if visual != 0 && number != 0 && self.config_numbers.len() < OBJECTS_MAX {
                    self.config_numbers.insert((process, visual), number);
                }
            }
            Glx::Context => {
                let attributes = match command.known() {
                    Some(CommandId::GLX_CREATE_CONTEXT_ATTRIBS_ARB) => observed(command, 4),
                    _ => Vec::new(),
                };
                let (is_desktop, attributes) = of_context(&pairs(&words(&attributes)));
                let (config, share) = match command.known() {
                    Some(CommandId::GLX_CREATE_CONTEXT) => {
                        (visual_id(&observed_range(command, arg(command, 1))), 2)
                    }
                    Some(CommandId::GLX_CREATE_CONTEXT_ATTRIBS_ARB) => (arg(command, 1), 2),
                    _ => (arg(command, 1), 3),
                };
                let share = arg(command, share);
                self.note_context(command, NewContext { is_desktop, config, share, attributes });
            }
            Glx::Drawable => self.drawable(command),
            Glx::MakeCurrent => self.make_drawables_current(command),
            Glx::QueryDrawable => {
                if let Some(&drawable) = self.surfaces.get(&(process, arg(command, 1))) {
                    let sides = (i64::from(GLX_WIDTH), i64::from(GLX_HEIGHT));
                    self.told_side(command, drawable, sides);
                }
            }
        }
    }

    /// Notes the value of an attribute, the parameter at index 2, that the program queried of a configuration.
    fn told(&mut self, command: &Command<'_>, config: u64) {
        let value = observed(command, 3);
        let Some(value) = value.first_chunk().map(|value| i32::from_le_bytes(*value)) else {
            return;
        };
        let told = translated(&[(arg(command, 2) as u32, value)], &OF_CONFIGS);
        // The result is 0 if the query succeeded.
        if result_of(command) == Some(0)
            && let Some(facts) = self.config(command.process, config)
        {
            facts.told.extend(told);
        }
    }

    fn drawable(&mut self, command: &Command<'_>) {
        let (Some(handle), Some(seq)) = (result_of(command).filter(|it| *it != 0), command.seq)
        else {
            return;
        };
        if self.survey.surfaces.len() >= OBJECTS_MAX {
            return;
        }
        let (config, size) = match command.known() {
            Some(CommandId::GLX_CREATE_GLX_PIXMAP | CommandId::GLX_CREATE_GLX_PIXMAP_MESA) => {
                (visual_id(&observed_range(command, arg(command, 1))), None)
            }
            Some(CommandId::GLX_CREATE_PBUFFER) => {
                let attributes = pairs(&words(&observed(command, 2)));
                let wide = attributes.iter().map(|(name, value)| ((*name).into(), (*value).into()));
                let sides = (i64::from(GLX_PBUFFER_WIDTH), i64::from(GLX_PBUFFER_HEIGHT));
                (arg(command, 1), Some(size_in(&wide.collect::<Vec<_>>(), sides)))
            }
            Some(CommandId::GLX_CREATE_GLX_PBUFFER_SGIX) => {
                (arg(command, 1), Some((arg(command, 2) as u32, arg(command, 3) as u32)))
            }
            _ => (arg(command, 1), None),
        };
        let at = self.note_surface((command.process, handle), config, size);
        self.survey.surface_at.insert(seq, at);
    }

    fn make_drawables_current(&mut self, command: &Command<'_>) {
        if result_of(command) == Some(0) {
            return;
        }
        let process = command.process;
        let (drawables, context) = match command.known() {
            Some(CommandId::GLX_MAKE_CURRENT) => (vec![arg(command, 1)], arg(command, 2)),
            _ => (vec![arg(command, 1), arg(command, 2)], arg(command, 3)),
        };
        let known = self.contexts.get(&(process, context));
        let config = known.map_or(0, |at| self.survey.contexts[*at].config);
        for window in drawables.iter().copied().filter(|drawable| *drawable != 0) {
            let is_known = self.surfaces.contains_key(&(process, window));
            if context != 0 && !is_known && self.survey.surfaces.len() < OBJECTS_MAX {
                let at = self.push_surface((process, window), config, None);
                self.survey.window_at.insert((process, window), at);
            }
        }
        self.note_current(command, drawables[0], context);
    }
}

/// Whether a list asks for a context of desktop OpenGL, and the list with EGL's names.
fn of_context(list: &[(u32, i32)]) -> (bool, Attributes) {
    let mask = list.iter().find(|(name, _)| *name == GLX_CONTEXT_PROFILE_MASK_ARB);
    let mask = mask.map_or(0, |(_, value)| value.cast_unsigned());
    let is_desktop = mask & GLX_CONTEXT_ES2_PROFILE_BIT_EXT == 0;
    let mut attributes = translated(list, &OF_CONTEXTS);
    for (name, value) in &mut attributes {
        if *name == i64::from(EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY) {
            *value = match *value as u32 {
                GLX_LOSE_CONTEXT_ON_RESET_ARB => EGL_LOSE_CONTEXT_ON_RESET.into(),
                _ => EGL_NO_RESET_NOTIFICATION.into(),
            };
        }
    }
    let profile = i64::from(constants::EGL_CONTEXT_OPENGL_PROFILE_MASK);
    attributes.retain(|(name, _)| is_desktop || *name != profile);
    (is_desktop, attributes)
}

/// The attributes that EGL has, with EGL's names.
fn translated(list: &[(u32, i32)], names: &[(u32, u32)]) -> Attributes {
    let of_egl = |(name, value): &(u32, i32)| {
        let (_, egl) = names.iter().find(|(glx, _)| glx == name)?;
        (*value >= 0).then_some((i64::from(*egl), i64::from(*value)))
    };
    list.iter().filter_map(of_egl).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Pairs of attribute and value in a list that ends with 0.
fn pairs(words: &[u32]) -> Vec<(u32, i32)> {
    let (pairs, _) = words.as_chunks::<2>();
    let pairs = pairs.iter().take_while(|[name, _]| *name != 0);
    pairs.map(|[name, value]| (*name, value.cast_signed())).collect()
}

/// Pairs of attribute and value in a list of glXChooseVisual.
fn visual_pairs(words: &[u32]) -> Vec<(u32, i32)> {
    let mut words = words.iter().copied();
    let mut pairs = Vec::new();
    while let Some(name) = words.next().filter(|name| *name != 0) {
        if !WITHOUT_VALUE.contains(&name) {
            pairs.push((name, words.next().unwrap_or(0).cast_signed()));
        }
    }
    pairs
}

/// The number of the visual in the bytes of an XVisualInfo; 0 without it.
fn visual_id(info: &[u8]) -> u64 {
    info.get(8..16).and_then(<[u8]>::first_chunk).map_or(0, |id| u64::from_le_bytes(*id))
}

/// Memory that the command read at an address.
fn observed_range(command: &Command<'_>, address: u64) -> Vec<u8> {
    let mut ranges = command.ranges_read();
    let range = ranges.find(|range| address != 0 && range.address == address);
    let bytes = range.and_then(|range| command.bytes_of(range.observation));
    bytes.map(|bytes| bytes.to_vec()).unwrap_or_default()
}

/// Memory at the address that the command returned.
fn result_memory(command: &Command<'_>) -> Vec<u8> {
    let address = result_of(command).unwrap_or(0);
    let mut ranges = command.ranges_written();
    let range = ranges.find(|range| address != 0 && range.address == address);
    let bytes = range.and_then(|range| command.bytes_of(range.observation));
    bytes.map(|bytes| bytes.to_vec()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_glx_become_those_of_egl() {
        let list = [GLX_RGBA, GLX_RED_SIZE, 8, GLX_DOUBLEBUFFER, GLX_DEPTH_SIZE, 1, 0, 7];
        let asked = translated(&visual_pairs(&list), &OF_CONFIGS);
        assert_eq!(asked, [(EGL_RED_SIZE.into(), 8), (EGL_DEPTH_SIZE.into(), 1)]);
        let list = [GLX_DOUBLEBUFFER, 1, GLX_ALPHA_SIZE, u32::MAX, GLX_SAMPLES, 4, 0];
        assert_eq!(translated(&pairs(&list), &OF_CONFIGS), [(EGL_SAMPLES.into(), 4)]);
    }

    #[test]
    fn list_for_a_context_says_the_api() {
        let check = |list: &[(u32, i32)], is_desktop: bool, expected: &[(u32, i64)]| {
            let expected: Attributes =
                expected.iter().map(|(name, value)| ((*name).into(), *value)).collect();
            assert_eq!(of_context(list), (is_desktop, expected), "{list:x?}");
        };
        let (major, profile) = (GLX_CONTEXT_MAJOR_VERSION_ARB, GLX_CONTEXT_PROFILE_MASK_ARB);
        check(&[], true, &[]);
        check(
            &[(major, 3), (profile, 1)],
            true,
            &[(EGL_CONTEXT_MAJOR_VERSION, 3), (EGL_CONTEXT_OPENGL_PROFILE_MASK, 1)],
        );
        check(&[(major, 2), (profile, 4)], false, &[(EGL_CONTEXT_MAJOR_VERSION, 2)]);
        let reset = GLX_CONTEXT_RESET_NOTIFICATION_STRATEGY_ARB;
        check(
            &[(reset, GLX_LOSE_CONTEXT_ON_RESET_ARB as i32)],
            true,
            &[(
                EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY,
                i64::from(EGL_LOSE_CONTEXT_ON_RESET),
            )],
        );
    }
}
