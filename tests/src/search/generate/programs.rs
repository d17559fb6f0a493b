//! Shaders, programs with linked and pending state, uniforms, pipelines.

use crate::search::generate::uniforms;
use crate::search::shaders::{self, PARTS, RECIPES, Recipe, SEPARABLE, SIMPLEST};
use crate::search::world::{Api, Program, World};

fn shader(world: &mut World, source: &'static str) -> usize {
    let shader = world.count('h');
    let kind = shaders::kind(source);
    world.step(format!("h{shader}= glCreateShader {}", kind.shader));
    world.step(format!("glShaderSource h{shader} 1 shader:{source} 0"));
    world.step(format!("glCompileShader h{shader}"));
    world.group().shaders.push((shader, source));
    shader
}

fn add(world: &mut World, program: Program) -> usize {
    let number = world.count('g');
    world.programs.resize(number + 1, program.clone());
    world.programs[number] = program;
    world.group().programs.push(number);
    number
}

fn recipe(world: &mut World) -> Recipe {
    let version = world.version();
    // Contexts of OpenGL refuse the shaders of OpenGL ES 2. Mesa's cache of shaders knows sources only, and takes those that a
    // context of OpenGL ES has compiled.
    let is_taken = |recipe: &Recipe| world.api() == Api::Es || recipe.sources != SIMPLEST.sources;
    let known: Vec<Recipe> = RECIPES
        .iter()
        .filter(|recipe| version >= recipe.since && is_taken(recipe))
        .copied()
        .collect();
    world.one_of(&known)
}

/// A program that is linked and current.
pub fn make(world: &mut World) -> bool {
    if world.is_feeding_back() {
        return false;
    }
    let recipe = recipe(world);
    let shaders: Vec<usize> = recipe.sources.iter().map(|source| shader(world, source)).collect();
    let program = add(world, Program::new(recipe, &[]));
    world.step(format!("g{program}= glCreateProgram"));
    for shader in &shaders {
        world.step(format!("glAttachShader g{program} h{shader}"));
    }
    for (index, name) in recipe.attributes.iter().enumerate() {
        world.step(format!("glBindAttribLocation g{program} {index} text:{name}"));
    }
    if world.version() >= (3, 0) && world.chance(40) {
        varyings(world, program);
    }
    world.link(program);
    world.use_program(program);
    set_first_uniforms(world, program);
    for shader in shaders {
        if world.chance(50) {
            delete_this(world, shader);
        }
    }
    true
}

fn varyings(world: &mut World, program: usize) {
    let recipe = world.programs[program].recipe;
    let mode = world.one_of(&["GL_INTERLEAVED_ATTRIBS", "GL_SEPARATE_ATTRIBS"]);
    let count = 1 + world.below(recipe.varyings.len());
    let names = recipe.varyings[..count].join(",");
    world.step(format!("glTransformFeedbackVaryings g{program} {count} texts:{names} {mode}"));
}

/// Values with which something is visible.
fn set_first_uniforms(world: &mut World, program: usize) {
    for (name, kind) in world.programs[program].recipe.uniforms {
        let number = world.count('u');
        world.step(format!("u{number}= glGetUniformLocation g{program} text:{name}"));
        match *kind {
            "m2" => world.step(format!("glUniformMatrix2fv u{number} 1 0 floats:1,0.25,-0.25,1")),
            "1f" => world.step(format!("glUniform1f u{number} 0.5f")),
            "4f" => world.step(format!("glUniform4f u{number} 0.125f 0f 0.125f 0f")),
            "2i" => world.step(format!("glUniform2i u{number} 1 2")),
            "image" => {}
            _ if world.chance(50) => uniforms::set(world, program, number, kind),
            _ => {}
        }
    }
}

/// A program of some stages, for pipelines.
pub fn separable(world: &mut World) -> bool {
    if world.version() < (3, 1) || world.is_feeding_back() {
        return false;
    }
    let version = world.version();
    let known: Vec<&[&str]> =
        PARTS.iter().filter(|(_, since)| version >= *since).map(|(parts, _)| *parts).collect();
    let parts = world.one_of(&known);
    let program = add(world, Program::new(SEPARABLE, parts));
    match parts {
        [source] if world.chance(60) => {
            let kind = shaders::kind(source).shader;
            world.step(format!("g{program}= glCreateShaderProgramv {kind} 1 shader:{source}"));
            world.linked(program);
        }
        _ => {
            let shaders: Vec<usize> = parts.iter().map(|source| shader(world, source)).collect();
            world.step(format!("g{program}= glCreateProgram"));
            world.step(format!("glProgramParameteri g{program} GL_PROGRAM_SEPARABLE 1"));
            for shader in shaders {
                world.step(format!("glAttachShader g{program} h{shader}"));
            }
            world.link(program);
        }
    }
    let (location, value) = match parts {
        ["fragment310"] => (3, "0.5f"),
        _ => (0, "0.25f"),
    };
    world.step(format!("glProgramUniform4f g{program} {location} {value} 0f 0.25f 0f"));
    true
}

pub fn use_one(world: &mut World) -> bool {
    if world.is_feeding_back() {
        return false;
    }
    let all = world.names().programs.clone();
    match world.some_of(&all) {
        Some(program) if !world.chance(12) => {
            world.use_program(program);
        }
        _ => {
            world.step("glUseProgram 0");
            world.context().program = None;
        }
    }
    true
}

fn any(world: &mut World) -> Option<usize> {
    let all = world.names().programs.clone();
    world.some_of(&all)
}

/// State of the next link, which the linked program does not have.
pub fn change_pending(world: &mut World) -> bool {
    let Some(program) = any(world) else { return false };
    let recipe = world.programs[program].recipe;
    match world.below(8) {
        0 | 1 if world.version() >= (3, 0) => varyings(world, program),
        2 | 3 => {
            let name = world.one_of(recipe.attributes);
            let index = world.below(4);
            world.step(format!("glBindAttribLocation g{program} {index} text:{name}"));
        }
        4 if world.version() >= (3, 1) => {
            let value = world.below(2);
            world.step(format!("glProgramParameteri g{program} GL_PROGRAM_SEPARABLE {value}"));
        }
        5 if world.version() >= (3, 0) => {
            world.step(format!(
                "glProgramParameteri g{program} GL_PROGRAM_BINARY_RETRIEVABLE_HINT 1"
            ));
        }
        6 => {
            let shaders = world.names().shaders.clone();
            let Some((shader, _)) = world.some_of(&shaders) else { return false };
            let command = world.one_of(&["glAttachShader", "glDetachShader", "glDetachShader"]);
            // Mesa 22.3 crashes in a link that leaves a pipeline without the stage that it has of the program.
            if command == "glAttachShader" && !world.programs[program].parts.is_empty() {
                return false;
            }
            world.step(format!("{command} g{program} h{shader}"));
        }
        7 if world.version() >= (3, 0) => bind_output(world, program),
        _ => return false,
    }
    true
}

/// Gives the output `colour` a draw buffer at the next link (GL_EXT_blend_func_extended). Shaders with a layout keep it.
fn bind_output(world: &mut World, program: usize) {
    let output = world.below(2);
    match world.chance(50) {
        true => world.step(format!("glBindFragDataLocationEXT g{program} {output} text:colour")),
        false => world
            .step(format!("glBindFragDataLocationIndexedEXT g{program} {output} 0 text:colour")),
    }
    world.programs[program].next_output = output;
}

pub fn link_again(world: &mut World) -> bool {
    if world.is_feeding_back() {
        return false;
    }
    let Some(program) = any(world) else { return false };
    if !world.may_link_again(program) {
        return false;
    }
    world.link(program);
    world.step(format!("glGetProgramiv g{program} GL_LINK_STATUS out:4"));
    true
}

/// Another source, compiled or not.
pub fn change_shader(world: &mut World) -> bool {
    let all = world.names().shaders.clone();
    let Some((shader, source)) = world.some_of(&all) else { return false };
    let other = match source {
        "vertex300" => world.one_of(&["vertex300other", "broken"]),
        _ => world.one_of(&["broken", source]),
    };
    world.step(format!("glShaderSource h{shader} 1 shader:{other} 0"));
    if world.chance(40) {
        world.step(format!("glCompileShader h{shader}"));
    }
    world.step(format!("glGetShaderiv h{shader} GL_COMPILE_STATUS out:4"));
    world.step(format!("glGetShaderiv h{shader} GL_SHADER_SOURCE_LENGTH out:4"));
    true
}

pub fn uniform(world: &mut World) -> bool {
    let Some(program) = world.here().program else { return false };
    let (name, kind) = world.one_of(world.programs[program].recipe.uniforms);
    if !world.names().programs.contains(&program) {
        return false;
    }
    let number = world.count('u');
    world.step(format!("u{number}= glGetUniformLocation g{program} text:{name}"));
    world.changed_uniforms(program);
    let [a, b] = [(); 2].map(|()| world.one_of(&["0", "0.25", "0.5", "-0.25", "1"]));
    let is_shown = world.chance(75);
    match kind {
        _ if !is_shown => uniforms::set(world, program, number, kind),
        "m2" => {
            let count = 1 + world.below(2);
            world.step(format!(
                "glUniformMatrix2fv u{number} {count} 0 floats:1,{a},{b},1,{b},1,1,{a}"
            ));
        }
        "1f" => world.step(format!("glUniform1f u{number} {a}f")),
        "4f" => world.step(format!("glUniform4f u{number} {a}f {b}f {a}f 0f")),
        "2i" => {
            let value = world.below(5);
            world.step(format!("glUniform2i u{number} {value} -1"));
        }
        _ => uniforms::set(world, program, number, kind),
    }
    if world.programs[program].recipe.has_block && world.chance(30) {
        let binding = world.below(3);
        world.step(format!("glUniformBlockBinding g{program} 0 {binding}"));
    }
    true
}

pub fn delete(world: &mut World) -> bool {
    let Some(program) = any(world) else { return false };
    if world.is_feeding_back() {
        return false;
    }
    world.delete_program(program);
    true
}

fn delete_this(world: &mut World, shader: usize) {
    world.step(format!("glDeleteShader h{shader}"));
    world.group().shaders.retain(|(named, _)| *named != shader);
}

pub fn delete_shader(world: &mut World) -> bool {
    let all = world.names().shaders.clone();
    let Some((shader, _)) = world.some_of(&all) else { return false };
    delete_this(world, shader);
    true
}

pub fn make_pipeline(world: &mut World) -> bool {
    if world.version() < (3, 1) || world.is_feeding_back() {
        return false;
    }
    let pipeline = world.count('l');
    world.step(format!("glGenProgramPipelines 1 new:l{pipeline}"));
    world.step(format!("glBindProgramPipeline l{pipeline}"));
    let context = world.context();
    context.pipelines.push(pipeline);
    context.pipeline = Some(pipeline);
    use_stages(world);
    true
}

pub fn use_stages(world: &mut World) -> bool {
    let all = world.here().pipelines.clone();
    let Some(pipeline) = world.some_of(&all) else { return false };
    let separable: Vec<usize> = world
        .names()
        .programs
        .iter()
        .copied()
        .filter(|program| !world.programs[*program].parts.is_empty())
        .collect();
    let Some(program) = world.some_of(&separable) else { return separable_first(world) };
    if world.is_feeding_back() {
        return false;
    }
    let parts = world.programs[program].parts;
    let stages: Vec<&str> = parts.iter().map(|source| shaders::kind(source).stage).collect();
    let bits = match world.chance(90) {
        true => stages.join("|"),
        false => "GL_ALL_SHADER_BITS".to_owned(),
    };
    world.step(format!("glUseProgramStages l{pipeline} {bits} g{program}"));
    match world.below(5) {
        0 => world.step(format!("glActiveShaderProgram l{pipeline} g{program}")),
        1 => {
            world.step("glUseProgram 0");
            world.context().program = None;
        }
        2 => {
            world.delete_program(program);
        }
        _ => {}
    }
    true
}

fn separable_first(world: &mut World) -> bool {
    separable(world)
}

pub fn bind_pipeline(world: &mut World) -> bool {
    let all = world.here().pipelines.clone();
    let Some(pipeline) = world.some_of(&all) else { return false };
    if world.is_feeding_back() {
        return false;
    }
    world.step(format!("glBindProgramPipeline l{pipeline}"));
    world.context().pipeline = Some(pipeline);
    if world.chance(50) {
        world.step("glUseProgram 0");
        world.context().program = None;
    }
    true
}

pub fn delete_pipeline(world: &mut World) -> bool {
    let all = world.here().pipelines.clone();
    let Some(pipeline) = world.some_of(&all) else { return false };
    if world.is_feeding_back() {
        return false;
    }
    world.step(format!("glDeleteProgramPipelines 1 ints:l{pipeline}"));
    let context = world.context();
    context.pipelines.retain(|named| *named != pipeline);
    if context.pipeline == Some(pipeline) {
        context.pipeline = None;
    }
    true
}
