//! Parameters and matrices of OpenGL ES 1.1 in the state of the tools.

use std::sync::Arc;

use crate::program::{Context, Group, Program, Thread, thread};
use gapii_state::commands::*;
use gapii_state::{Ignore, Nothing};

const GL_FRONT_AND_BACK: u32 = 0x408;
const GL_LIGHT1: u32 = 0x4001;
const GL_AMBIENT: u32 = 0x1200;
const GL_DIFFUSE: u32 = 0x1201;
const GL_SPOT_DIRECTION: u32 = 0x1204;
const GL_AMBIENT_AND_DIFFUSE: u32 = 0x1602;
const GL_FOG_MODE: u32 = 0xB65;
const GL_FOG_DENSITY: u32 = 0xB62;
const GL_LINEAR: i32 = 0x2601;
const GL_PROJECTION: u32 = 0x1701;
const GL_TEXTURE_ENV: u32 = 0x2300;
const GL_TEXTURE_ENV_MODE: u32 = 0x2200;
const GL_REPLACE: i32 = 0x1E01;
const GL_TEXTURE2: u32 = 0x84C2;

fn es1() -> Thread {
    let mut thread = thread();
    thread.context = Some(Box::new(Context::new(1, Arc::<Group>::default(), (1, 1))));
    thread
}

#[test]
fn light_has_the_parameters_that_were_set_alone() {
    let mut thread = es1();
    let mut program = Program::default();
    let floats = [0.5f32, 0.25, 1.0, 2.0].map(f32::to_bits).map(u32::cast_signed);
    let (floats, fixed) =
        (program.put_i32(&floats), program.put_i32(&[0x8000, 0x1_0000, -0x1_0000, 7]));
    let seen = &mut Ignore;
    glLightfv::enter(&mut thread, &program, seen, GL_LIGHT1, GL_DIFFUSE, floats);
    glLightxv::enter(&mut thread, &program, seen, GL_LIGHT1, GL_SPOT_DIRECTION, fixed);
    glLightfv::enter(&mut thread, &program, seen, GL_LIGHT1, 0xBAD, floats);
    let context = thread.context.unwrap();
    let light = &context.lights[&GL_LIGHT1].values;
    assert_eq!(light[&GL_DIFFUSE], [0.5, 0.25, 1.0, 2.0]);
    assert_eq!(light[&GL_SPOT_DIRECTION], [0.5, 1.0, -1.0, 0.0]);
    assert_eq!(light.len(), 2);
    assert_eq!(context.lights.len(), 1);
}

#[test]
fn ambient_and_diffuse_sets_two_parameters() {
    let mut thread = es1();
    let mut program = Program::default();
    let fixed = program.put_i32(&[0x1_0000, 0, 0x2_0000, 0]);
    let pname = GL_AMBIENT_AND_DIFFUSE;
    glMaterialxvOES::enter(&mut thread, &program, &mut Ignore, GL_FRONT_AND_BACK, pname, fixed);
    let material = &thread.context.unwrap().material.values;
    assert_eq!(material.keys().collect::<Vec<_>>(), [&GL_AMBIENT, &GL_DIFFUSE]);
    assert_eq!(material[&GL_AMBIENT], [1.0, 0.0, 2.0, 0.0]);
}

#[test]
fn enumerant_that_is_passed_as_fixed_point_is_not_scaled() {
    let mut thread = es1();
    let seen = &mut Ignore;
    glFogx::enter(&mut thread, &Nothing, seen, GL_FOG_MODE, GL_LINEAR);
    glFogx::enter(&mut thread, &Nothing, seen, GL_FOG_DENSITY, 0x8000);
    glActiveTexture::enter(&mut thread, &Nothing, seen, GL_TEXTURE2);
    glTexEnvx::enter(&mut thread, &Nothing, seen, GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_REPLACE);
    let context = thread.context.unwrap();
    assert_eq!(context.fog.values[&GL_FOG_MODE][0], GL_LINEAR as f32);
    assert_eq!(context.fog.values[&GL_FOG_DENSITY][0], 0.5);
    let environment = &context.texture_environments[&2].values;
    assert_eq!(environment[&GL_TEXTURE_ENV_MODE][0], GL_REPLACE as f32);
}

#[test]
fn matrix_goes_to_the_stack_of_its_mode() {
    let mut thread = es1();
    let seen = &mut Ignore;
    glTranslatex::enter(&mut thread, &Nothing, seen, 0x2_0000, 0, 0);
    glMatrixMode::enter(&mut thread, &Nothing, seen, GL_PROJECTION);
    glMatrixMode::enter(&mut thread, &Nothing, seen, 0xBAD);
    glScalef::enter(&mut thread, &Nothing, seen, 3.0, 1.0, 1.0);
    glPushMatrix::enter(&mut thread, &Nothing, seen);
    let context = thread.context.unwrap();
    assert_eq!(context.modelview.matrices[0][12], 2.0);
    assert_eq!(context.projection.matrices.len(), 2);
    assert_eq!(context.projection.matrices[1][0], 3.0);
}
