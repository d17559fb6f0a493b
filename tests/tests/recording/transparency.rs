//! Programs behave the same with and without the shim: hundreds of small programs, ours and Debian's.

use std::path::{Path, PathBuf};

use gapii_tests::display::Display;
use gapii_tests::piglit;
use gapii_tests::process::{require, run};
use gapii_tests::programs::{app, cases, names_in};
use gapii_tests::transparency::{Case, check};
use gapii_tests::turns;

fn path(path: PathBuf) -> String {
    path.to_str().expect("the target folder has a plain name").to_owned()
}

/// Checks programs of `tests/apps/`, with and without llvmpipe's threads.
fn check_apps(belongs: impl Fn(&str) -> bool, least: usize) {
    let names: Vec<_> = names_in("apps").into_iter().filter(|name| belongs(name)).collect();
    assert!(names.len() >= least, "{} programs, not {least}", names.len());
    let mut all = Vec::new();
    for name in turns::taken(names.clone(), 0, 2) {
        all.push(Case::new(&name, [path(app(&name))]).succeeds());
    }
    for name in turns::taken(names, 1, 2) {
        let alone = Case::new(&format!("{name}-alone"), [path(app(&name))]);
        all.push(alone.with("LP_NUM_THREADS", "0").succeeds());
    }
    check(&all, least);
}

#[test]
fn programs_of_one_subject_behave_as_natively() {
    check_apps(|name| !name.starts_with("bad_"), 60);
}

/// The shim does not read memory that the driver does not read, or whose command the driver refuses.
#[test]
fn bad_programs_behave_as_natively() {
    check_apps(|name| name.starts_with("bad_"), 5);
}

/// The cases that a program lists, at least `least`; every second one where programs take turns.
fn listed(name: &str, least: usize) -> Vec<Case<'static>> {
    let program = path(cases(name));
    let listed = run(&mut std::process::Command::new(&program)).ok().stdout;
    let names: Vec<_> = listed.lines().collect();
    assert!(names.len() >= least, "{} cases, not {least}", names.len());
    let names = turns::some(names).into_iter();
    names.map(|case| Case::new(case, [&*program, case]).succeeds()).collect()
}

fn check_cases(name: &str, least: usize) {
    check(&listed(name, least), least / 2);
}

#[test]
fn texture_cases_behave_as_natively() {
    check_cases("cases_textures", 120);
}

#[test]
fn vertex_cases_behave_as_natively() {
    check_cases("cases_vertices", 100);
}

#[test]
fn fixed_function_cases_behave_as_natively() {
    check_cases("cases_es1", 75);
}

#[test]
fn egl_cases_behave_as_natively() {
    check_cases("cases_egl", 75);
}

#[test]
fn state_cases_behave_as_natively() {
    check_cases("cases_state", 105);
}

#[test]
fn program_cases_behave_as_natively() {
    let cases = listed("cases_programs", 50).into_iter().map(Case::reads_warnings);
    check(&cases.collect::<Vec<_>>(), 25);
}

/// Programs of piglit that end before their first command, with the reasons.
const WITHOUT_COMMANDS: &[(&str, &str)] = &[
    ("egl-create-context-valid-flag-debug-gl", "takes -auto and -fbo for wrong usage"),
    ("egl-create-context-valid-flag-debug-gles", "takes -auto and -fbo for wrong usage"),
    ("egl-query-surface", "has no attribute to ask for, and would open a display"),
];

/// A line of `data/piglit.txt`: a program, and words that name a file of the folder or are arguments.
fn piglit_case<'a>(folder: &Path, line: &str) -> Case<'a> {
    let mut words = line.split(' ').map(str::to_owned);
    let name = words.next().expect("a line begins with a program");
    let program = path(folder.join("bin").join(&name));
    let argument = |word: String| {
        let script = folder.join(&word);
        if script.exists() { path(script) } else { word }
    };
    let words =
        [program].into_iter().chain(words.map(argument)).chain(["-auto".into(), "-fbo".into()]);
    let case = Case::new(&line.replace(['/', ' '], "_"), words)
        .with("PIGLIT_PLATFORM", "surfaceless_egl")
        .with("PIGLIT_SOURCE_DIR", &path(folder.to_owned()));
    let is_silent = WITHOUT_COMMANDS.iter().any(|(known, _)| *known == name);
    if is_silent { case.calls_nothing() } else { case }
}

#[test]
fn programs_of_piglit_behave_as_natively() {
    let folder = piglit::folder();
    let lines = include_str!("../../data/piglit.txt").lines().filter(|line| !line.starts_with('#'));
    let all: Vec<_> = lines.collect();
    assert!(all.len() >= 200, "{} programs, not 200", all.len());
    let cases: Vec<_> =
        turns::some(all).into_iter().map(|line| piglit_case(&folder, line)).collect();
    check(&cases, 100);
}

const GLMARK2_SCENES: &[&str] = &[
    "build:use-vbo=false",
    "build:use-vbo=true",
    "texture",
    "shading",
    "bump",
    "effect2d",
    "pulsar",
    "desktop",
    "buffer:update-method=map",
    "buffer:update-method=subdata",
    "ideas",
    "jellyfish",
    "terrain",
    "shadow",
    "refract",
    "conditionals",
    "function",
    "loop",
    "clear",
];

/// Scenes that check their own pictures, and tools that list the driver's capabilities.
#[test]
fn programs_of_debian_behave_as_natively() {
    for program in ["glmark2-es2", "eglinfo", "es2_info"] {
        require(program);
    }
    let display = Display::start();
    let scene = |scene: &&str| {
        let words = ["glmark2-es2", "--validate", "-b", scene];
        Case::new(scene, words).on(&display).succeeds()
    };
    let mut all: Vec<_> = GLMARK2_SCENES.iter().map(scene).collect();
    all.push(Case::new("es2_info", ["es2_info"]).on(&display).succeeds());
    all.push(Case::new("eglinfo", ["eglinfo"]).on(&display));
    all.push(Case::new("eglinfo-surfaceless", ["eglinfo"]));
    all.push(Case::new("eglinfo-brief", ["eglinfo", "-B"]));
    check(&all, 20);
}
