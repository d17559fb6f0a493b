//! The whole generator on a toy API: what it writes, and what it refuses.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use apigen::{Error, Inputs};

const TOY: &str = include_str!("toy/toy.toml");

fn inputs(annotations: &str) -> Inputs {
    Inputs {
        egl_xml: include_str!("toy/egl.xml").to_owned(),
        gl_xml: include_str!("toy/gl.xml").to_owned(),
        annotations: vec![("apis/toy.toml".to_owned(), annotations.to_owned())],
        descriptions: apigen::lang::source::Sources::default(),
        exposed: String::new(),
        exports: vec![("apis/exports/libToy.txt".to_owned(), "eglUseToy\nglFinish\n".to_owned())],
    }
}

static FILES: LazyLock<BTreeMap<PathBuf, String>> =
    LazyLock::new(|| apigen::generate(&inputs(TOY)).expect("the toy has no mistakes").files);

fn generated(path: &str) -> &'static str {
    FILES.get(Path::new(path)).expect("every API has this file")
}

#[test]
fn hooked_and_plain_handlers_of_egl() {
    insta::assert_snapshot!(generated("shim/src/generated/handlers_egl.rs"));
}

#[test]
fn handlers_with_observations_and_effects() {
    insta::assert_snapshot!(generated("shim/src/generated/handlers_gl_es2.rs"));
}

#[test]
fn annotation_holds_for_an_alias() {
    let text = generated("shim/src/generated/handlers_gl_shared_extensions.rs");
    assert!(text.contains("observe::array(params, sizes::toy_parameter(pname), 4)"), "{text}");
}

#[test]
fn descriptions_have_offsets_kinds_and_observations() {
    insta::assert_snapshot!(generated("protocol/src/generated/functions.rs"));
}

#[test]
fn names_of_values_are_sorted_and_those_of_the_core() {
    insta::assert_snapshot!(generated("protocol/src/generated/enums.rs"));
}

#[test]
fn tables_follow_the_order_of_ids() {
    insta::assert_snapshot!(generated("shim/src/generated/handlers.rs"));
    insta::assert_snapshot!(generated("shim/src/generated/entries.rs"));
    insta::assert_snapshot!(generated("shim/src/generated/names.rs"));
    insta::assert_snapshot!(generated("shim/src/generated/sizes.rs"));
}

#[test]
fn same_input_gives_the_same_output() {
    assert_eq!(*FILES, apigen::generate(&inputs(TOY)).unwrap().files);
}

#[test]
fn mistakes_are_reported_with_their_place() {
    let check = |addition: &str, expected: &str| {
        let line = TOY.lines().count() + 2;
        let text = format!("{TOY}\n[more]\n{addition}\n");
        let error = apigen::generate(&inputs(&text)).unwrap_err();
        assert_eq!(error.to_string(), expected.replace("LINE", &(line + 1).to_string()));
    };
    check(
        r#"effect.leave = ["glNothing"]"#,
        "apis/toy.toml:LINE: no command `glNothing` in EGL or OpenGL ES",
    );
    check(r#"effect.leave = ["glFinish"]"#, "apis/toy.toml:LINE: `glFinish` is annotated twice");
    check(
        r#"extent = { "glBlock.nowhere" = "1" }"#,
        "apis/toy.toml:LINE: glBlock has no parameter `nowhere`",
    );
    check(
        r#"extent = { "glBlock.where" = "size*" }"#,
        "apis/toy.toml:LINE: extent `size*`: expected a number or a parameter, found the end",
    );
    check(
        r#"extent = { "glBlock.where" = "size" }"#,
        "apis/toy.toml:LINE: glBlock.where: glBlock has no parameter `size`",
    );
    check(
        r#"extent = { "glBlock.where" = "depth" }"#,
        "apis/toy.toml:LINE: glBlock.where: `depth` is not an integer",
    );
    check(
        r#"extent = { "glBlock.where" = "table(small)" }"#,
        "apis/toy.toml:LINE: glBlock.where: no table of sizes `table`",
    );
    check(
        r#"extent = { "glBlock.small" = "1" }"#,
        "apis/toy.toml:LINE: glBlock.small: is no pointer",
    );
    check(
        r#"group = { Nothing = ["eglUseToy.toy"] }"#,
        "apis/toy.toml:LINE: no enum group `Nothing`",
    );
    check(
        r#"group = { EGL = ["egl*.nothing"] }"#,
        "apis/toy.toml:LINE: no command has `egl*.nothing`",
    );
    check(
        r#"sizes.unused = { default = 1, cases.2 = ["GL_NOTHING"] }"#,
        "apis/toy.toml:LINE: no enumerant `GL_NOTHING`",
    );
    check(r#"prefer = ["GL_NOTHING"]"#, "apis/toy.toml:LINE: no enumerant `GL_NOTHING`");
    check(
        r#"effect.recorded = ["glBlock"]"#,
        "apis/toy.toml:LINE: glBlock: a recorded effect needs a hook with enter_flags and leave_flags",
    );
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let mut inputs = inputs("[a]\nprefer = [\"GL_A\"]\n[b]\nprefer = [\"GL_B\"]\n");
    inputs.exports[0].1.push_str("glUnknown\n");
    let Err(Error::Descriptions(problems)) = apigen::generate(&inputs) else { unreachable!() };
    let places: Vec<_> = problems.iter().map(|found| (found.file.as_str(), found.line)).collect();
    assert_eq!(
        places,
        [("apis/exports/libToy.txt", 3), ("apis/toy.toml", 2), ("apis/toy.toml", 4)]
    );
}

#[test]
fn command_that_seems_to_create_needs_an_effect() {
    let error = apigen::generate(&inputs(&TOY.replace("\"glGenToys\"", ""))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "gl.xml: glGenToys needs an effect: it seems to take it at leave"
    );
}
