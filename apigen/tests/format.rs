//! Runs the formatter on every description of the repository and of the toy API.

use std::fs;
use std::path::{Path, PathBuf};

use apigen::lang::format::format;

/// All `.api` files below a folder.
fn descriptions(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("the folder is readable").path();
        if path.is_dir() {
            descriptions(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "api") {
            into.push(path);
        }
    }
}

fn check_all(folder: &str, check: impl Fn(&Path, &str)) {
    let mut paths = Vec::new();
    descriptions(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut paths);
    assert!(!paths.is_empty(), "{folder} has descriptions");
    for path in paths {
        check(&path, &fs::read_to_string(&path).expect("the file is readable"));
    }
}

fn formatted(path: &Path, text: &str) -> String {
    format(0, text).unwrap_or_else(|mistakes| panic!("{}: {mistakes:?}", path.display()))
}

/// The words, signs and comments of `text`, without spaces, line ends, and the comma behind a list's last word.
fn substance(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    let mut substance: Vec<String> =
        lines.map(|line| line.split_whitespace().collect::<String>()).collect();
    substance.retain(|line| !line.is_empty());
    let (mut comments, code): (Vec<_>, Vec<_>) =
        substance.into_iter().partition(|line| line.starts_with("//"));
    comments.extend(code);
    comments.concat().replace(",}", "}").replace(",)", ")")
}

#[test]
fn formatting_what_is_formatted_changes_nothing() {
    for folder in ["../apis", "tests/toy/pass"] {
        check_all(folder, |path, text| {
            let once = formatted(path, text);
            assert_eq!(formatted(path, &once), once, "{}", path.display());
        });
    }
}

#[test]
fn formatting_keeps_every_word_and_comment() {
    for folder in ["../apis", "tests/toy/pass"] {
        check_all(folder, |path, text| {
            let once = formatted(path, text);
            assert_eq!(substance(&once), substance(text), "{}", path.display());
        });
    }
}

#[test]
fn descriptions_of_the_toy_are_formatted() {
    check_all("tests/toy/pass", |path, text| {
        assert_eq!(formatted(path, text), text, "{}", path.display());
    });
}

#[test]
fn lines_that_are_too_long_are_wrapped() {
    let long = "x".repeat(40);
    let check = |text: &str, expected: &str| {
        let text = format!("api toy;\n\n{}", text.replace('L', &long));
        let expected = format!("api toy;\n\n{}", expected.replace('L', &long));
        let once = formatted(Path::new("a line"), &text);
        assert_eq!(once, expected);
        assert_eq!(formatted(Path::new("a line"), &once), once);
    };
    check("command a,b ;", "command a, b;\n");
    check("command La, Lb, Lc;", "command\n    La,\n    Lb,\n    Lc;\n");
    check("command La, Lb, Lc {return;}", "command\n    La,\n    Lb,\n    Lc {\n    return;\n}\n");
    check("group G:La.b,L*.c,Lc.d;", "group G:\n    La.b,\n    L*.c,\n    Lc.d;\n");
    check(
        "extern fn f(a: L, b: L, c: L): i32;",
        "extern fn f(\n    a: L, b: L,\n    c: L\n): i32;\n",
    );
    check(
        "fn f(): bool { aL && bL || cL && dL }",
        "fn f(): bool {\n    aL && bL\n        || cL && dL\n}\n",
    );
    check(
        "sizes s { aL | bL | cL => 1, _ => 2 }",
        "sizes s {\n    aL | bL\n        | cL => 1,\n    _ => 2,\n}\n",
    );
    check("enum E { aL, bL, cL }", "enum E {\n    aL,\n    bL,\n    cL,\n}\n");
}

#[test]
fn spaces_follow_from_the_signs() {
    let check = |text: &str, expected: &str| {
        let text = format!("api toy;\ncommand c {{ {text}\n}}");
        let expected = format!("api toy;\ncommand c {{\n    {expected}\n}}\n");
        assert_eq!(formatted(Path::new("a statement"), &text), expected);
    };
    check("a.b=- 1+~ c*-d;", "a.b = -1 + ~c * -d;");
    check("read p [ 0 .. n*2 ] ;", "read p[0..n * 2];");
    check("if !( a<b ) {return ;}", "if !(a < b) {\n        return;\n    }");
    check("let x=if a {1}else{2};", "let x = if a { 1 } else { 2 };");
    check("for i in 0 .. (n) { }", "for i in 0..(n) {}");
    check("ignore a ,b;// why", "ignore a, b; // why");
    check("f (a , ) ;", "f(a);");
}
