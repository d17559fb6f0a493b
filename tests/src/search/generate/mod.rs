//! Random programs of OpenGL ES or of OpenGL, from a seed.
//!
//! Begins with one or two contexts, makes a hundred steps or more, and ends with reading everything back.

pub mod aliases;
mod buffers;
mod compressed;
mod compute;
mod contexts;
mod copies;
mod desktop;
pub mod direct;
mod draws;
mod ending;
mod es1;
mod extensions;
mod fixed;
mod framebuffers;
mod labels;
mod parameters;
mod pbuffers;
mod programs;
mod questions;
pub mod refused;
mod samples;
mod surfaces;
pub mod textures;
pub mod uniforms;
mod vertices;

use crate::random::Random;
use crate::search::program::{Program, command_of};
use crate::search::world::{Kind, World};

/// Makes steps in the current context; returns false if nothing there fits.
type Action = fn(&mut World) -> bool;

/// Actions and how often each is chosen, out of the sum.
const ACTIONS: &[(usize, &str, Action)] = &[
    (6, "buffers::make", buffers::make),
    (2, "buffers::name_by_choice", buffers::name_by_choice),
    (5, "buffers::bind", buffers::bind),
    (5, "buffers::fill", buffers::fill),
    (5, "buffers::change", buffers::change),
    (3, "buffers::make_immutable", buffers::make_immutable),
    (2, "buffers::copy", buffers::copy),
    (4, "buffers::map", buffers::map),
    (4, "buffers::use_mapping", buffers::use_mapping),
    (3, "buffers::unmap", buffers::unmap),
    (4, "buffers::delete", buffers::delete),
    (3, "buffers::bind_indexed", buffers::bind_indexed),
    (4, "vertices::make_array", vertices::make_array),
    (5, "vertices::bind_array", vertices::bind_array),
    (2, "vertices::delete_array", vertices::delete_array),
    (9, "vertices::pointer", vertices::pointer),
    (6, "vertices::format", vertices::format),
    (5, "vertices::attribute_binding", vertices::attribute_binding),
    (6, "vertices::bind_vertex_buffer", vertices::bind_vertex_buffer),
    (3, "vertices::divisor", vertices::divisor),
    (5, "vertices::enable", vertices::enable),
    (2, "vertices::value", vertices::value),
    (3, "vertices::elements", vertices::elements),
    (6, "textures::make", textures::make),
    (5, "textures::bind", textures::bind),
    (5, "textures::store", textures::store),
    (5, "textures::change", textures::change),
    (4, "parameters::texture", parameters::texture),
    (2, "parameters::image_unit", parameters::image_unit),
    (2, "textures::mipmaps", textures::mipmaps),
    (4, "textures::delete", textures::delete),
    (3, "textures::buffer_texture", textures::buffer_texture),
    (3, "textures::view", textures::view),
    (3, "textures::make_image", textures::make_image),
    (3, "textures::use_image", textures::use_image),
    (1, "textures::destroy_image", textures::destroy_image),
    (3, "parameters::sampler", parameters::sampler),
    (2, "textures::bind_sampler", textures::bind_sampler),
    (1, "textures::delete_sampler", textures::delete_sampler),
    (4, "framebuffers::make", framebuffers::make),
    (4, "framebuffers::bind", framebuffers::bind),
    (6, "framebuffers::attach_texture", framebuffers::attach_texture),
    (3, "framebuffers::attach_renderbuffer", framebuffers::attach_renderbuffer),
    (3, "framebuffers::renderbuffer", framebuffers::renderbuffer),
    (2, "framebuffers::delete", framebuffers::delete),
    (2, "framebuffers::delete_renderbuffer", framebuffers::delete_renderbuffer),
    (2, "framebuffers::buffers", framebuffers::buffers),
    (1, "parameters::framebuffer", parameters::framebuffer),
    (4, "framebuffers::clear", framebuffers::clear),
    (5, "programs::make", programs::make),
    (3, "programs::separable", programs::separable),
    (5, "programs::use_one", programs::use_one),
    (4, "programs::change_pending", programs::change_pending),
    (2, "programs::link_again", programs::link_again),
    (3, "programs::change_shader", programs::change_shader),
    (5, "programs::uniform", programs::uniform),
    (2, "programs::delete", programs::delete),
    (2, "programs::delete_shader", programs::delete_shader),
    (2, "programs::make_pipeline", programs::make_pipeline),
    (3, "programs::use_stages", programs::use_stages),
    (2, "programs::bind_pipeline", programs::bind_pipeline),
    (1, "programs::delete_pipeline", programs::delete_pipeline),
    (5, "fixed::capability", fixed::capability),
    (5, "fixed::value", fixed::value),
    (2, "fixed::pixel_store", fixed::pixel_store),
    (3, "draws::query", draws::query),
    (3, "draws::feedback", draws::feedback),
    (10, "draws::draw", draws::draw),
    (4, "draws::read", draws::read),
    (3, "draws::ask", draws::ask),
    (2, "draws::fence", draws::fence),
    (2, "draws::feedback_object", draws::feedback_object),
    (2, "draws::condition", draws::condition),
    (1, "copies::define", copies::define),
    (3, "copies::from_framebuffer", copies::from_framebuffer),
    (3, "copies::between_textures", copies::between_textures),
    (2, "copies::blit", copies::blit),
    (3, "labels::label", labels::label),
    (2, "labels::group", labels::group),
    (2, "samples::make", samples::make),
    (1, "framebuffers::flip", framebuffers::flip),
    (2, "framebuffers::share_renderbuffer", framebuffers::share_renderbuffer),
    (2, "compressed::make", compressed::make),
    (5, "compute::dispatch", compute::dispatch),
    (3, "compute::draw", compute::draw),
    (2, "extensions::clear_texture", extensions::clear_texture),
    (1, "extensions::time", extensions::time),
    (1, "extensions::memory_object", extensions::memory_object),
    (1, "extensions::barrier", extensions::barrier),
    (3, "refused::refuse", refused::refuse),
    (5, "refused::enumerant", refused::enumerant),
    (5, "refused::number", refused::number),
    (4, "refused::name", refused::name),
    (4, "contexts::switch", contexts::switch),
    (1, "contexts::make", contexts::make),
    (1, "contexts::swap", contexts::swap),
    (1, "contexts::destroy", contexts::destroy),
    (1, "surfaces::read_from", surfaces::read_from),
    (1, "surfaces::without", surfaces::without),
    (1, "surfaces::destroy", surfaces::destroy),
    (1, "surfaces::attribute", surfaces::attribute),
    (1, "surfaces::bind_to_texture", surfaces::bind_to_texture),
    (1, "surfaces::sync", surfaces::sync),
];

/// Actions in contexts of OpenGL, beside [`ACTIONS`].
const ACTIONS_DESKTOP: &[(usize, &str, Action)] = &[
    (8, "desktop::value", desktop::value),
    (6, "desktop::capability", desktop::capability),
    (30, "desktop::fixed_value", desktop::fixed_value),
    (10, "desktop::fixed_capability", desktop::fixed_capability),
    (14, "desktop::immediate", desktop::immediate),
    (14, "desktop::list", desktop::list),
    (6, "desktop::save", desktop::save),
    (6, "desktop::pixels", desktop::pixels),
    (6, "desktop::lines", desktop::lines),
];

/// Actions in contexts of OpenGL ES 1.
const ACTIONS_ES1: &[(usize, &str, Action)] = &[
    (4, "buffers::make", buffers::make),
    (3, "buffers::bind", buffers::bind),
    (3, "buffers::fill", buffers::fill),
    (3, "buffers::change", buffers::change),
    (3, "buffers::delete", buffers::delete),
    (3, "buffers::map", buffers::map),
    (3, "buffers::use_mapping", buffers::use_mapping),
    (3, "buffers::unmap", buffers::unmap),
    (3, "vertices::elements", vertices::elements),
    (5, "textures::make", textures::make),
    (4, "textures::bind", textures::bind),
    (3, "textures::store", textures::store),
    (4, "textures::change", textures::change),
    (3, "textures::delete", textures::delete),
    (2, "textures::make_image", textures::make_image),
    (2, "textures::use_image", textures::use_image),
    (30, "es1::value", es1::value),
    (10, "es1::capability", es1::capability),
    (12, "es1::pointer", es1::pointer),
    (4, "es1::enable", es1::enable),
    (10, "es1::draw", es1::draw),
    (3, "es1::draw_texture", es1::draw_texture),
    (4, "refused::enumerant", refused::enumerant),
    (4, "refused::number", refused::number),
    (2, "refused::name", refused::name),
    (5, "contexts::switch", contexts::switch),
    (1, "contexts::make", contexts::make),
    (1, "contexts::swap", contexts::swap),
    (1, "contexts::destroy", contexts::destroy),
    (1, "surfaces::read_from", surfaces::read_from),
    (1, "surfaces::destroy", surfaces::destroy),
    (1, "surfaces::sync", surfaces::sync),
];

/// A program and the places at which a capture of it may begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    pub program: Program,
    /// Steps after the first context is current and before everything is read back.
    pub body: std::ops::Range<usize>,
}

impl Generated {
    /// Steps before which captures begin: the first one, and `count` random ones of the body.
    pub fn attaches(&self, seed: u64, count: usize) -> Vec<usize> {
        let mut random = Random::new(seed ^ 0x00A7_7AC4);
        let length = self.body.len().max(1) as u64;
        let places = (0..count).map(|_| self.body.start + random.below(length) as usize);
        std::iter::once(0).chain(places.map(|place| self.outside(place))).collect()
    }

    /// The first place from `place` on that is not between glBegin and glEnd, and in no display list that is compiled: no
    /// capture begins there.
    fn outside(&self, place: usize) -> usize {
        let is = |step: &String, names: [&str; 2]| names.contains(&command_of(step));
        let all = &self.program.steps;
        let opened = all[..place].iter().rposition(|step| is(step, ["glNewList", "glEndList"]));
        let begun = all[..place].iter().rposition(|step| is(step, ["glBegin", "glEnd"]));
        let end =
            match (opened.map(|at| command_of(&all[at])), begun.map(|at| command_of(&all[at]))) {
                (Some("glNewList"), _) => "glEndList",
                (_, Some("glBegin")) => "glEnd",
                _ => return place,
            };
        let rest = all[place..].iter().position(|step| command_of(step) == end);
        rest.map_or(place, |rest| place + rest + 1)
    }
}

/// The program of a seed.
pub fn program(kind: Kind, seed: u64) -> Generated {
    program_without(kind, seed, &[])
}

/// The program of a seed without actions whose names contain one of these, to find what is behind a known fault.
pub fn program_without(kind: Kind, seed: u64, left_out: &[String]) -> Generated {
    let is_wanted = |name: &str| !left_out.iter().any(|part| name.contains(part));
    let wanted = |all: &[(usize, &str, Action)]| -> Vec<(usize, Action)> {
        let all = all.iter().filter(|(_, name, _)| is_wanted(name));
        all.map(|(weight, _, action)| (*weight, *action)).collect()
    };
    let (mut actions, actions_es1) = (wanted(ACTIONS), wanted(ACTIONS_ES1));
    if kind == Kind::Desktop {
        actions.extend(wanted(ACTIONS_DESKTOP));
    }
    let mut world = World::new(kind, seed);
    contexts::begin(&mut world);
    let begin = world.steps.len();
    world.varies = true;
    let steps = 40 + world.below(110);
    // Each program prefers some actions: those that are made again and again meet each other.
    let preferred: Vec<Action> = (0..5).map(|_| choose(&mut world, &actions)).collect();
    let mut made = 0;
    while made < steps {
        let action = match world.version() {
            (1, _) => choose(&mut world, &actions_es1),
            _ if world.chance(35) => world.one_of(&preferred),
            _ => choose(&mut world, &actions),
        };
        if action(&mut world) {
            made += 1;
            // Sometimes an error is pending for a while.
            if world.chance(95) {
                world.step("? glGetError");
            }
        }
    }
    let end = world.steps.len();
    world.varies = false;
    ending::read_everything(&mut world);
    Generated { program: Program { steps: world.steps }, body: begin..end }
}

fn choose(world: &mut World, actions: &[(usize, Action)]) -> Action {
    let sum = actions.iter().map(|(weight, _)| weight).sum();
    let mut at = world.below(sum);
    for (weight, action) in actions {
        match at.checked_sub(*weight) {
            None => return *action,
            Some(rest) => at = rest,
        }
    }
    draws::read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_gives_the_same_program_again() {
        let text = program(Kind::Es, 7).program.to_string();
        assert_eq!(program(Kind::Es, 7).program.to_string(), text);
        assert_eq!(text.parse::<Program>(), Ok(program(Kind::Es, 7).program));
        assert_ne!(program(Kind::Es, 8).program.to_string(), text);
    }

    #[test]
    fn every_step_can_be_said_to_the_runner() {
        for (kind, seed) in (0..200).flat_map(|seed| [(Kind::Es, seed), (Kind::Desktop, seed)]) {
            let mut text = String::new();
            let steps = program(kind, seed).program.steps;
            steps.iter().for_each(|step| Program::add_runner_line(step, &mut text));
            assert_eq!(text.lines().count(), steps.len());
        }
    }
}
