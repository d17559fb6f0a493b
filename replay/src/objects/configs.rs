//! Configurations of the trace, and the driver's configurations that replace them. Colour bits and samples must be
//! equal, where the trace tells them, or pixels would differ; depth and stencil bits must suffice; surface type and
//! version must be there, and components be fixed-point. Of several the most similar one is taken, a slow one only if
//! no other fits; colours of which the trace has a lower bound alone count as 8 bits. If none fits, the replay does not begin. A configuration of which nothing is known becomes one of 8
//! bits per colour with depth and stencil and without samples.

use std::collections::HashMap;

use crate::driver::{
    EGL_ALPHA_SIZE, EGL_BIND_TO_TEXTURE_RGB, EGL_BIND_TO_TEXTURE_RGBA, EGL_BLUE_SIZE,
    EGL_COLOR_COMPONENT_TYPE_EXT, EGL_CONFIG_CAVEAT, EGL_DEPTH_SIZE, EGL_GREEN_SIZE, EGL_NONE,
    EGL_RED_SIZE, EGL_RENDERABLE_TYPE, EGL_SAMPLES, EGL_STENCIL_SIZE, EGL_SURFACE_TYPE, Handle,
    Real,
};
use crate::survey::{ConfigFacts, Survey};
use gapii_commands::constants;

/// Process index and handle in the trace.
pub type Key = (u32, u64);

const EGL_PBUFFER_BIT: i32 = constants::EGL_PBUFFER_BIT as i32;
const EGL_WINDOW_BIT: i32 = constants::EGL_WINDOW_BIT as i32;
const EGL_OPENGL_BIT: i32 = constants::EGL_OPENGL_BIT as i32;
const EGL_OPENGL_ES_BIT: i32 = constants::EGL_OPENGL_ES_BIT as i32;
const EGL_OPENGL_ES2_BIT: i32 = constants::EGL_OPENGL_ES2_BIT as i32;
const EGL_OPENGL_ES3_BIT: i32 = constants::EGL_OPENGL_ES3_BIT as i32;
const EGL_COLOR_COMPONENT_TYPE_FIXED_EXT: i32 =
    constants::EGL_COLOR_COMPONENT_TYPE_FIXED_EXT as i32;

/// The driver's configurations for those of the trace.
#[derive(Default)]
pub struct Configs {
    chosen: HashMap<Key, Handle>,
    /// Configuration for those of which no attribute is known.
    any: Handle,
    /// The driver's configuration for each that the program received from a query.
    told: HashMap<Key, Handle>,
}

/// Largest number of entries in `told`.
const TOLD_MAX: usize = 1 << 14;

impl Configs {
    /// Notes that the driver returned `real` where the program received `handle`.
    pub fn told(&mut self, handle: Key, real: Handle) {
        if self.told.len() < TOLD_MAX {
            self.told.insert(handle, real);
        }
    }

    /// Configuration for a query about a configuration.
    pub fn asked_about(&self, handle: Key) -> Handle {
        self.told.get(&handle).copied().unwrap_or(self.any)
    }

    /// Configuration for a surface or context of the trace.
    pub fn find(&self, key: Key) -> Handle {
        self.chosen.get(&key).copied().unwrap_or(self.any)
    }
}

/// One value per attribute, in the order of [`SIZES`].
type Sizes<T> = [T; 7];

/// Red, green, blue, alpha, depth and stencil bits, and samples.
const SIZES: Sizes<i32> = [
    EGL_RED_SIZE,
    EGL_GREEN_SIZE,
    EGL_BLUE_SIZE,
    EGL_ALPHA_SIZE,
    EGL_DEPTH_SIZE,
    EGL_STENCIL_SIZE,
    EGL_SAMPLES,
];

/// A configuration of the driver.
#[derive(Clone, Debug)]
struct Offered {
    handle: Handle,
    sizes: Sizes<i32>,
    surfaces: i32,
    renderable: i32,
    textures: (bool, bool),
    is_slow: bool,
    is_fixed: bool,
}

/// Requirements of the trace on a configuration.
#[derive(Clone, Debug, Default)]
struct Wanted {
    /// Values that the recorded configuration is known to have had.
    exact: Sizes<Option<i32>>,
    /// Lower bounds of values, from `eglChooseConfig`.
    least: Sizes<i32>,
    surfaces: i32,
    renderable: i32,
    textures: (bool, bool),
    /// Nothing is known of the recorded configuration.
    is_unknown: bool,
}

/// Chooses a configuration of the driver for each that the trace uses. The error names the
/// attributes for which the driver has none.
pub fn choose(real: &Real, survey: &Survey, window: bool) -> Result<Configs, String> {
    let offered: Vec<Offered> =
        real.configs().into_iter().map(|handle| Offered::of(real, handle)).collect();
    let surfaces = if window { EGL_WINDOW_BIT | EGL_PBUFFER_BIT } else { EGL_PBUFFER_BIT };
    let any = Wanted {
        surfaces,
        exact: [Some(8), Some(8), Some(8), None, None, None, Some(0)],
        is_unknown: true,
        ..Wanted::default()
    };
    let any = best(&offered, &any).or(offered.first());
    let mut configs = Configs { any: any.map_or(0, |config| config.handle), ..Configs::default() };
    for (key, facts) in survey.configs.iter().filter(|((_, handle), it)| it.is_used && *handle != 0)
    {
        let wanted = Wanted::of(facts, surfaces);
        let found = best(&offered, &wanted).ok_or_else(|| wanted.sentence())?;
        configs.chosen.insert(*key, found.handle);
    }
    Ok(configs)
}

/// The most similar configuration that fits.
fn best<'a>(offered: &'a [Offered], wanted: &Wanted) -> Option<&'a Offered> {
    let fitting = offered.iter().filter(|config| config.fits(wanted));
    fitting.min_by_key(|config| config.distance(wanted))
}

impl Offered {
    fn of(real: &Real, handle: Handle) -> Self {
        let value = |attribute| real.config_attribute(handle, attribute);
        let number = |attribute| value(attribute).unwrap_or(0);
        let component = value(EGL_COLOR_COMPONENT_TYPE_EXT);
        Self {
            handle,
            sizes: SIZES.map(number),
            surfaces: number(EGL_SURFACE_TYPE),
            renderable: number(EGL_RENDERABLE_TYPE),
            textures: (number(EGL_BIND_TO_TEXTURE_RGB) != 0, number(EGL_BIND_TO_TEXTURE_RGBA) != 0),
            is_slow: number(EGL_CONFIG_CAVEAT) != EGL_NONE,
            is_fixed: component.is_none_or(|kind| kind == EGL_COLOR_COMPONENT_TYPE_FIXED_EXT),
        }
    }

    fn fits(&self, wanted: &Wanted) -> bool {
        let has_sizes = (0..SIZES.len()).all(|at| match (at, wanted.exact[at]) {
            // Depth and stencil may have more bits.
            (4 | 5, Some(exact)) => self.sizes[at] >= exact,
            (_, Some(exact)) => self.sizes[at] == exact,
            (_, None) => self.sizes[at] >= wanted.least[at],
        });
        has_sizes
            && self.is_fixed
            && self.surfaces & wanted.surfaces == wanted.surfaces
            && self.renderable & wanted.renderable == wanted.renderable
            && (self.textures.0 || !wanted.textures.0)
            && (self.textures.1 || !wanted.textures.1)
    }

    /// Dissimilarity, most important difference first.
    fn distance(&self, wanted: &Wanted) -> (bool, i32, i32, i32, Handle) {
        let apart = |at: usize| {
            let wanted = wanted.exact[at].unwrap_or(wanted.likely(at));
            self.sizes[at].saturating_sub(wanted).saturating_abs()
        };
        let total = |range: std::ops::Range<usize>| range.map(apart).sum::<i32>();
        // The handle decides last. Handles differ, and usually follow the order of eglGetConfigs.
        (self.is_slow, apart(6), total(0..4), total(4..6), self.handle)
    }
}

impl Wanted {
    fn of(facts: &ConfigFacts, surfaces: i32) -> Self {
        let narrow = |value: i64| i32::try_from(value).unwrap_or(0);
        let seen = facts.framebuffer.map(|it| {
            [
                it.red_bits,
                it.green_bits,
                it.blue_bits,
                it.alpha_bits,
                it.depth_bits,
                it.stencil_bits,
                it.samples,
            ]
        });
        let is_unknown = facts.told.is_empty() && facts.asked.is_empty() && seen.is_none();
        let mut wanted = Self { surfaces, is_unknown, ..Self::default() };
        for (at, attribute) in SIZES.into_iter().enumerate() {
            let told = facts.told.get(&i64::from(attribute)).copied().map(narrow);
            wanted.exact[at] = told.or(seen.map(|seen| seen[at]));
            let asked = facts.asked.get(&i64::from(attribute)).copied();
            wanted.least[at] = asked.map_or(0, narrow).clamp(0, 64);
        }
        wanted.renderable = match facts.major {
            0 => 0,
            1 => EGL_OPENGL_ES_BIT,
            2 => EGL_OPENGL_ES2_BIT,
            _ => EGL_OPENGL_ES3_BIT,
        };
        if facts.is_desktop {
            wanted.renderable |= EGL_OPENGL_BIT;
        }
        let asks = |attribute: i32| facts.asked.get(&i64::from(attribute)) == Some(&1);
        wanted.textures = (asks(EGL_BIND_TO_TEXTURE_RGB), asks(EGL_BIND_TO_TEXTURE_RGBA));
        wanted
    }

    /// The most likely value where the trace has a lower bound alone: eglChooseConfig returns configurations with more
    /// colour bits first (EGL 1.5, 3.4.1.2), and displays have 8 for each colour.
    fn likely(&self, at: usize) -> i32 {
        match (at, self.least[at]) {
            (0..3, least) => least.max(8),
            (3, least @ 1..) => least.max(8),
            // A program that has no depth buffer rarely tests depths.
            (4, _) if self.is_unknown => 24,
            (5, _) if self.is_unknown => 8,
            (_, least) => least,
        }
    }

    fn sentence(&self) -> String {
        let names = ["red", "green", "blue", "alpha", "depth", "stencil", "samples"];
        let sizes = names.iter().enumerate().map(|(at, name)| match self.exact[at] {
            Some(size) => format!("{name} {size}"),
            None => format!("{name} {} or more", self.least[at]),
        });
        let version = match self.renderable {
            EGL_OPENGL_ES_BIT => " for OpenGL ES 1",
            EGL_OPENGL_ES2_BIT => " for OpenGL ES 2",
            EGL_OPENGL_ES3_BIT => " for OpenGL ES 3",
            EGL_OPENGL_BIT => " for desktop OpenGL",
            0 => "",
            _ => " for OpenGL ES and desktop OpenGL",
        };
        let textures = match self.textures {
            (false, false) => "",
            _ => ", whose surfaces can be textures",
        };
        format!(
            "the driver has no configuration{version} with {}{textures}",
            sizes.collect::<Vec<_>>().join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ES3: i32 = EGL_OPENGL_ES_BIT | EGL_OPENGL_ES2_BIT | EGL_OPENGL_ES3_BIT;

    fn offered(handle: Handle, sizes: Sizes<i32>) -> Offered {
        Offered {
            handle,
            sizes,
            surfaces: EGL_PBUFFER_BIT,
            renderable: ES3,
            textures: (false, false),
            is_slow: false,
            is_fixed: true,
        }
    }

    fn config(told: &[(i32, i64)], asked: &[(i32, i64)], major: i64) -> ConfigFacts {
        let map = |pairs: &[(i32, i64)]| pairs.iter().map(|(a, v)| (i64::from(*a), *v)).collect();
        ConfigFacts { told: map(told), asked: map(asked), major, ..ConfigFacts::default() }
    }

    #[test]
    fn configuration_is_the_one_most_like_that_of_the_trace() {
        let all = [
            offered(1, [8, 8, 8, 8, 24, 8, 0]),
            offered(2, [8, 8, 8, 0, 24, 8, 0]),
            offered(3, [8, 8, 8, 0, 0, 0, 0]),
            offered(4, [8, 8, 8, 8, 24, 8, 4]),
            offered(5, [5, 6, 5, 0, 24, 8, 0]),
        ];
        let check = |facts: ConfigFacts, expected: Option<Handle>| {
            let wanted = Wanted::of(&facts, EGL_PBUFFER_BIT);
            let found = best(&all, &wanted).map(|config| config.handle);
            assert_eq!(found, expected, "{}", wanted.sentence());
        };
        check(config(&[(EGL_ALPHA_SIZE, 0), (EGL_RED_SIZE, 8)], &[], 2), Some(3));
        check(
            config(&[(EGL_ALPHA_SIZE, 0), (EGL_RED_SIZE, 8), (EGL_DEPTH_SIZE, 16)], &[], 2),
            Some(2),
        );
        check(config(&[], &[(EGL_RED_SIZE, 8), (EGL_ALPHA_SIZE, 8)], 3), Some(1));
        // More colour bits than the least.
        check(config(&[], &[(EGL_RED_SIZE, 1), (EGL_DEPTH_SIZE, 1)], 2), Some(2));
        check(config(&[], &[(EGL_RED_SIZE, 1), (EGL_ALPHA_SIZE, 1)], 2), Some(1));
        check(config(&[], &[(EGL_RED_SIZE, 8), (EGL_SAMPLES, 2)], 3), Some(4));
        check(config(&[(EGL_SAMPLES, 2)], &[], 3), None);
        check(config(&[(EGL_RED_SIZE, 5)], &[], 1), Some(5));
        check(config(&[], &[(EGL_BIND_TO_TEXTURE_RGBA, 1)], 2), None);
        check(config(&[], &[(EGL_DEPTH_SIZE, 32)], 2), None);
        // Nothing is known.
        check(config(&[], &[], 2), Some(2));
        check(ConfigFacts { is_desktop: true, ..ConfigFacts::default() }, None);
    }

    #[test]
    fn missing_configuration_is_described() {
        let wanted = Wanted::of(&config(&[(EGL_SAMPLES, 16)], &[(EGL_RED_SIZE, 8)], 3), 0);
        assert_eq!(
            wanted.sentence(),
            "the driver has no configuration for OpenGL ES 3 with red 8 or more, green 0 or more, \
             blue 0 or more, alpha 0 or more, depth 0 or more, stencil 0 or more, samples 16"
        );
        let desktop = ConfigFacts { is_desktop: true, ..ConfigFacts::default() };
        let sentence = Wanted::of(&desktop, 0).sentence();
        assert!(sentence.contains("configuration for desktop OpenGL with"), "{sentence}");
    }
}
