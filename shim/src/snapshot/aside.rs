//! Texture parameters that change which texels and components a shader reads (base and maximum level, swizzles): set to
//! plain values for a read, and restored. Only parameters with another value are touched. Whether the base level of a
//! depth texture may be touched is decided in `levels.rs`.

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_TEXTURE_BASE_LEVEL, GL_TEXTURE_IMMUTABLE_LEVELS, GL_TEXTURE_MAX_LEVEL, GL_TEXTURE_SWIZZLE_R,
};

use super::gl;

const GL_RED: i32 = constants::GL_RED as i32;

/// Changed parameters of the texture that is bound. Dropping this restores them.
pub struct Aside {
    target: u32,
    /// Names and former values.
    taken: Vec<(u32, i32)>,
}

impl Aside {
    /// Makes this level the first one, and the only one of a texture that may be incomplete because of its other levels.
    pub fn level(target: u32, level: i32) -> Self {
        let mut aside = Self { target, taken: Vec::new() };
        aside.put(GL_TEXTURE_BASE_LEVEL, level);
        aside.put_maximum(level);
        aside
    }

    /// Makes this level the last one, so that a texture is complete that lacks the levels behind it.
    pub fn up_to_level(target: u32, level: i32) -> Self {
        let mut aside = Self { target, taken: Vec::new() };
        if aside.number(GL_TEXTURE_IMMUTABLE_LEVELS) == 0 {
            aside.put(GL_TEXTURE_MAX_LEVEL, level);
        }
        aside
    }

    /// Makes this level one that a shader can name, and the last one of a texture that may lack the levels behind it. The base
    /// level stays.
    pub fn reaching_level(target: u32, level: i32) -> Self {
        let mut aside = Self { target, taken: Vec::new() };
        aside.put_maximum(level);
        aside
    }

    /// Changes nothing, for a texture without levels.
    pub fn nothing(target: u32) -> Self {
        Self { target, taken: Vec::new() }
    }

    /// Swizzles the components: a shader reads these first, and behind them those that belong at the place.
    pub fn and_components(mut self, take: &[usize]) -> Self {
        for at in 0..4_usize {
            let component = take.get(at).copied().unwrap_or(at);
            self.put(GL_TEXTURE_SWIZZLE_R + at as u32, GL_RED + component as i32);
        }
        self
    }

    /// Sets a swizzle when this is dropped, though to the value that it has. For a texture that has lost its name.
    ///
    /// Mesa 22.3 keeps with a texture what each context samples of it (`st_texture_set_sampler_view`), until a swizzle is set
    /// or the texture is deleted. A context that ends discards its part only of textures with names (`st_destroy_context`).
    /// Another context that holds the texture longer then waits for a lock in memory of the context that has ended
    /// (`st_save_zombie_sampler_view`).
    pub fn and_what_is_sampled(mut self) -> Self {
        self.taken.push((GL_TEXTURE_SWIZZLE_R, self.number(GL_TEXTURE_SWIZZLE_R)));
        self
    }

    fn put_maximum(&mut self, level: i32) {
        let is_immutable = self.number(GL_TEXTURE_IMMUTABLE_LEVELS) > 0;
        // Drivers clamp it to the levels of an immutable texture, so that a greater one could not be restored.
        if !is_immutable || self.number(GL_TEXTURE_MAX_LEVEL) < level {
            self.put(GL_TEXTURE_MAX_LEVEL, level);
        }
    }

    /// Drivers clamp it to the levels of an immutable texture from the base level on. The program may have set the base level later.
    fn restore_maximum(&self, level: i32) {
        let base = self.number(GL_TEXTURE_BASE_LEVEL);
        let is_clamped = level < base && self.number(GL_TEXTURE_IMMUTABLE_LEVELS) > 0;
        if is_clamped {
            gl::tex_parameter(self.target, GL_TEXTURE_BASE_LEVEL, 0);
        }
        gl::tex_parameter(self.target, GL_TEXTURE_MAX_LEVEL, level);
        if is_clamped {
            gl::tex_parameter(self.target, GL_TEXTURE_BASE_LEVEL, base);
        }
    }

    fn number(&self, name: u32) -> i32 {
        let mut value = 0;
        // SAFETY: the name has one number.
        unsafe { gl::get_texture_integers(self.target, name, &raw mut value) };
        value
    }

    fn put(&mut self, name: u32, wanted: i32) {
        let value = self.number(name);
        if value != wanted {
            gl::tex_parameter(self.target, name, wanted);
            self.taken.push((name, value));
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        for (name, value) in &self.taken {
            match *name {
                GL_TEXTURE_MAX_LEVEL => self.restore_maximum(*value),
                name => gl::tex_parameter(self.target, name, *value),
            }
        }
    }
}
