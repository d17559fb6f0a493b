//! Runs the fuzzer's committed corpus and deeply nested inputs as ordinary tests. docs/apilang.md says how to fuzz.

mod survive;

use std::fs;
use std::path::Path;

use survive::survive;

#[test]
fn corpus_is_compiled_or_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/description");
    let mut count = 0;
    for entry in fs::read_dir(&folder).expect("apigen/fuzz/corpus/description is committed") {
        let bytes =
            fs::read(entry.expect("the folder is readable").path()).expect("the file is readable");
        survive(&String::from_utf8_lossy(&bytes));
        count += 1;
    }
    assert!(count > 0, "{} has inputs", folder.display());
}

#[test]
fn every_description_of_the_toy_survives() {
    for folder in ["pass", "fail"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/toy").join(folder);
        for entry in fs::read_dir(folder).expect("the folder exists") {
            let path = entry.expect("the folder is readable").path();
            if path.extension().is_some_and(|extension| extension == "api") {
                survive(&fs::read_to_string(path).expect("the file is readable"));
            }
        }
    }
}

#[test]
fn deep_and_long_texts_are_refused_without_running_out_of_stack() {
    let repeated = |begin: &str, inner: &str, end: &str, times: usize| {
        format!("{}{inner}{}", begin.repeat(times), end.repeat(times))
    };
    let in_command = |text: &str| survive(&format!("api toy;\ncommand toyScale {{ {text} }}"));
    for times in [10, 60, 5_000] {
        in_command(&format!("let a = {};", repeated("(", "1", ")", times)));
        in_command(&format!("let a = {};", repeated("-", "1", "", times)));
        in_command(&format!("let a = {};", repeated("1 + ", "1", "", times)));
        in_command(&format!("let a = {};", repeated("if true { ", "1", " } else { 2 }", times)));
        in_command(&format!("let a = {};", repeated("min(1, ", "1", ")", times)));
        in_command(&format!("let a = context{};", ".a".repeat(times)));
        in_command(&format!("context.a{} = 1;", "[0]".repeat(times)));
        in_command(&repeated("if true { ", "return;", " }", times));
        in_command(&format!("{} return;", "if true { } else ".repeat(times)));
        in_command(&repeated("match 1 { 1 => ", "return;", " }", times));
        survive(&format!(
            "api toy;\nstate context {{ a: {}; }}",
            repeated("list<", "i32", ">", times)
        ));
        survive(&format!("api toy;\n{}", repeated("{", "", "}", times)));
    }
}

#[test]
fn functions_that_call_one_another_are_refused_without_running_out_of_stack() {
    let mut text = "api toy;\n".to_owned();
    for at in 0..200 {
        let inner = format!("{}f{}(n){}", "min(1, ".repeat(55), at + 1, ")".repeat(55));
        text.push_str(&format!("fn f{at}(n: i64): i64 {{ {inner} }}\n"));
    }
    text.push_str("fn f200(n: i64): i64 { n }\n");
    survive(&text);
}

#[test]
fn chain_of_functions_that_call_the_next_twice_does_not_blow_up() {
    let mut text = "api toy;\nstate context { a: i64; }\n".to_owned();
    for at in 0..40 {
        let next = at + 1;
        text.push_str(&format!("fn f{at}(n: i64): i64 {{ f{next}(n) + f{next}(n) }}\n"));
    }
    text.push_str("fn f40(n: i64): i64 { n + context.a }\n");
    text.push_str("command toyScale { context.a = f0(steps); }\n");
    survive(&text);
}
