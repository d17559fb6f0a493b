//! Runs the whole generator on the toy API, and compares its output for all crates.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use apigen::lang::source::{Source, Sources};
use apigen::{Error, Inputs, apis};

fn inputs() -> Inputs {
    let source = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
    let files = vec![
        source("apis/egl/toy.api", include_str!("toy/toy_egl.api")),
        source("apis/gles/toy.api", include_str!("toy/toy.api")),
    ];
    Inputs {
        apis: apis::parse(include_str!("../../apis/apis.json")).expect("the list has no mistakes"),
        registries: BTreeMap::from([
            ("egl.xml".to_owned(), include_str!("toy/egl.xml").to_owned()),
            ("gl.xml".to_owned(), include_str!("toy/gl.xml").to_owned()),
            ("glx.xml".to_owned(), "<registry/>".to_owned()),
        ]),
        descriptions: Sources { files },
        exposed: String::new(),
        lists: BTreeMap::new(),
        exports: vec![("apis/exports/libToy.txt".to_owned(), "eglUseToy\nglFinish\n".to_owned())],
    }
}

static FILES: LazyLock<BTreeMap<PathBuf, String>> =
    LazyLock::new(|| apigen::generate(&inputs()).expect("the toy has no mistakes").files);

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
fn command_with_a_guard_runs_its_state_part_for_matching_arguments() {
    let text = generated("shim/src/generated/handlers_gl_es2.rs");
    assert_eq!(text.matches("matches!(").count(), 1, "{text}");
    // The macro uses the condition for both the handler and the tracker.
    assert!(
        text.contains("(pname: u32);\n    state gl [tracked enter] when matches!(pname, 0x1004);"),
        "{text}"
    );
}

#[test]
fn parameters_are_structures_in_c() {
    insta::assert_snapshot!(generated("tool/include/gapii_commands.h"));
}

#[test]
fn annotation_holds_for_an_alias() {
    let text = generated("shim/src/generated/handlers_gl_shared_extensions.rs");
    assert!(text.contains("observe::array(params, sizes::toy_parameter(pname), 4)"), "{text}");
}

#[test]
fn descriptions_have_offsets_kinds_and_observations() {
    insta::assert_snapshot!(generated("commands/src/generated/descriptions.txt"));
}

#[test]
fn names_of_values_are_sorted_and_those_of_the_core() {
    let text = generated("commands/src/generated/descriptions.txt");
    let (enums, _) = text.split_once("\napi ").expect("the toy has commands");
    insta::assert_snapshot!(enums);
}

#[test]
fn constants_are_sorted_by_name() {
    insta::assert_snapshot!(generated("commands/src/generated/constants.rs"));
}

#[test]
fn tables_follow_the_order_of_ids() {
    insta::assert_snapshot!(generated("tool/api/src/generated/commands.rs"));
    insta::assert_snapshot!(generated("shim/src/generated/entries.rs"));
    insta::assert_snapshot!(generated("commands/src/generated/ids.rs"));
    insta::assert_snapshot!(generated("shim/src/generated/sizes.rs"));
}

#[test]
fn commands_are_played_by_generated_functions_or_by_hand() {
    insta::assert_snapshot!(generated("replay/src/generated/gl_es2.rs"));
    insta::assert_snapshot!(generated("replay/src/generated/table.rs"));
}

#[test]
fn unexplained_address_is_refused() {
    let mut inputs = inputs();
    let toy = &mut inputs.descriptions.files[1].text;
    *toy = toy.replace("@offset(indices, GL_ONE)\n", "");
    let Err(Error::Inputs(problems)) = apigen::generate(&inputs) else { unreachable!() };
    let message = "gl.xml: how is glDrawToys replayed? `indices` is an address; say `class`, \
                   `@array`, `@offset` or `@replay`";
    assert_eq!(problems.iter().map(|found| found.to_string()).collect::<Vec<_>>(), [message]);
}

#[test]
fn same_input_gives_the_same_output() {
    assert_eq!(*FILES, apigen::generate(&inputs()).unwrap().files);
}

#[test]
fn exported_name_must_be_a_command() {
    let mut inputs = inputs();
    inputs.exports[0].1.push_str("glUnknown\n");
    let Err(Error::Inputs(problems)) = apigen::generate(&inputs) else { unreachable!() };
    let message = "apis/exports/libToy.txt:3: exported `glUnknown` is not a command of a registry";
    assert_eq!(problems.iter().map(|found| found.to_string()).collect::<Vec<_>>(), [message]);
}
