//! Checks that the tables in docs/trace-format.md are those of the code.

use std::fmt::Write as _;
use std::path::PathBuf;

use gapii_abi::atom::ring_flags::{RING_FLAGS, RINGS_FLAGS};
use gapii_abi::atom::{ATOMS, ELEMENTS, FLAGS, Flag};
use gapii_abi::codes::{CODES, Codes};
use gapii_abi::layout::{Field, Layout, Writer};

const BEGIN: &str = "<!-- tables of gapii-abi: begin -->\n";
const END: &str = "<!-- tables of gapii-abi: end -->\n";

fn document() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/trace-format.md")
}

/// The document in three parts: up to the tables, the tables, and from their end on.
fn parts(text: &str) -> [&str; 3] {
    let begin = text.find(BEGIN).expect("the tables' begin is marked") + BEGIN.len();
    let end = text.find(END).expect("the tables' end is marked");
    [&text[..begin], &text[begin..end], &text[end..]]
}

/// Docstrings of several lines are literals with a space before each.
fn line(meaning: &str) -> &str {
    meaning.trim()
}

fn flags(out: &mut String, title: &str, flags: &[Flag]) {
    writeln!(out, "{title}\n\n| flag | value | meaning |\n|---|---|---|")
        .expect("a String takes text");
    for flag in flags {
        writeln!(out, "| `{}` | {} | {} |", flag.name, flag.value, line(flag.meaning))
            .expect("a String takes text");
    }
    out.push('\n');
}

fn fields(out: &mut String, layout: &Layout) {
    writeln!(out, "| at | field | type | meaning |\n|---|---|---|---|")
        .expect("a String takes text");
    for Field { name, at, text, meaning, .. } in layout.fields {
        writeln!(out, "| {at} | `{name}` | {text} | {} |", line(meaning))
            .expect("a String takes text");
    }
    if !layout.tail.is_empty() {
        writeln!(out, "| {} | | | {} |", layout.len, layout.tail).expect("a String takes text");
    }
    out.push('\n');
}

fn codes(out: &mut String, codes: &Codes) {
    let (name, meaning) = (codes.name, line(codes.meaning));
    writeln!(out, "**{name}**: {meaning}\n\n| value | name | meaning |\n|---|---|---|")
        .expect("a String takes text");
    for code in codes.codes {
        writeln!(out, "| {} | `{}` | {} |", code.code, code.name, line(code.meaning))
            .expect("a String takes text");
    }
    out.push('\n');
}

fn tables() -> String {
    let mut out = String::from("\n");
    flags(&mut out, "Flags of a record:", FLAGS);
    out.push_str(
        "Ids below `0xFF00` are commands, by the `functions` of the header and the [descriptions](#descriptions). The others are atoms:\n\n",
    );
    out.push_str("| id | name | written by | bytes | meaning |\n|---|---|---|---|---|\n");
    for atom in ATOMS {
        let id = atom.id.expect("an atom has an id");
        let writer = match atom.writer {
            Writer::Shim => "shim",
            Writer::Ring => "shim; never in a trace",
            Writer::Daemon => "daemon",
        };
        let more = if atom.tail.is_empty() { "" } else { " and more" };
        let Layout { name, len, .. } = atom;
        let meaning = line(atom.meaning);
        writeln!(out, "| `{id:#06X}` | {name} | {writer} | {len}{more} | {meaning} |")
            .expect("a String takes text");
    }
    out.push_str(
        "| `0xFFFF` | PAD | shim; never in a trace | | Fills the rest of a ring's lap. |\n\n",
    );
    for layout in ATOMS.iter().chain(ELEMENTS) {
        writeln!(out, "**{}**, {} bytes:\n", layout.name, layout.len).expect("a String takes text");
        fields(&mut out, layout);
    }
    flags(&mut out, "Flags of RINGS:", RINGS_FLAGS);
    flags(&mut out, "Flags of a ring in RINGS:", RING_FLAGS);
    CODES.iter().for_each(|list| codes(&mut out, list));
    out
}

#[test]
fn tables_in_the_document_are_those_of_the_code() {
    let text = std::fs::read_to_string(document()).expect("the document is there");
    let [_, written, _] = parts(&text);
    let expected = tables();
    assert!(
        written == expected,
        "docs/trace-format.md differs from the tables of gapii-abi; write it anew with\n\
         cargo test -p gapii-abi --test trace_format -- --ignored write_tables\n{expected}"
    );
}

/// `cargo test -p gapii-abi --test trace_format -- --ignored write_tables`
#[test]
#[ignore = "writes docs/trace-format.md"]
fn write_tables() {
    let text = std::fs::read_to_string(document()).expect("the document is there");
    let [before, _, after] = parts(&text);
    std::fs::write(document(), [before, &tables(), after].concat()).expect("it can be written");
}

#[test]
fn atoms_are_in_the_order_of_their_ids() {
    assert!(ATOMS.is_sorted_by_key(|atom| atom.id));
}
