//! Files that are cut, damaged or made to harm: a sentence or a whole trace, never a panic or more memory than the file
//! has content.

use gapii_import::apitrace::{ImportError, ReadError};
use proptest::prelude::*;
use serde_json::Value as Json;

use crate::recording::{Recording, Trace, V};

fn scene() -> Recording {
    let mut recording = Recording::with_context();
    for frame in 0..3 {
        let list = V::Array(vec![V::Float(0.5), V::Int(frame)]);
        recording.call(
            0,
            "glUniform1fv(location, count, value)",
            &[V::Int(0), V::Int(2), list],
            V::Null,
        );
        let call = recording.enter(0, "glGenTextures(n, textures)", &[V::Int(1)], false);
        recording.leave(call, &[(1, V::Array(vec![V::Int(7)]))], V::Null);
        let args = [V::Int(1), V::Int(700), V::Blob(vec![frame as u8; 700]), V::Int(2)];
        recording.call(0, "glBufferData(target, size, data, usage)", &args, V::Null);
        recording.swap(0);
    }
    recording
}

#[track_caller]
fn refusal(file: &[u8]) -> String {
    match Trace::of(file) {
        Ok(_) => panic!("it is imported"),
        Err(ImportError::Reading(error)) => error.to_string(),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn cut_file_is_read_up_to_its_last_whole_call() {
    let file = scene().file(40);
    let whole = Trace::of(&file).unwrap();
    assert!(!whole.imported.is_cut);
    let mut before = 0;
    for len in (0..file.len()).step_by(11) {
        match Trace::of(&file[..len]) {
            Ok(trace) => {
                let is_whole = |command: &&Json| command.get("in_flight").is_none();
                let commands = trace.commands.iter().take_while(is_whole).count();
                assert!(commands >= before && commands + 1 >= trace.commands.len(), "{len}");
                assert_eq!(trace.commands[..commands], whole.commands[..commands], "{len}");
                before = commands;
            }
            Err(ImportError::Reading(ReadError::Empty | ReadError::NotATrace)) => {
                assert_eq!(before, 0, "{len}");
            }
            Err(error) => panic!("{len}: {error}"),
        }
    }
    assert!(before + 2 >= whole.commands.len(), "{before}");
    assert!(Trace::of(&file[..file.len() - 1]).unwrap().imported.is_cut);
}

#[test]
fn other_files_are_refused_with_the_reason() {
    assert_eq!(refusal(b""), "it does not begin as apitrace's recordings do");
    assert_eq!(refusal(b"\x1f\x8b\x08"), "it does not begin as apitrace's recordings do");
    assert_eq!(
        refusal(b"at"),
        "it has no call: the recorded program ended before apitrace wrote one"
    );
    let mut later = Recording::new();
    later.raw[0] = 7;
    let why = "it has version 7 of apitrace's format; versions 4 to 6 are read";
    assert_eq!(refusal(&later.file(1 << 20)), why);
}

#[test]
fn sizes_that_a_file_only_claims_take_no_memory() {
    let argument = |claim: &dyn Fn(&mut Recording)| {
        let mut recording = Recording::with_context();
        let file = {
            recording.enter(0, "glFlush()", &[], false);
            recording.raw.pop();
            recording.raw.extend([1, 0]);
            claim(&mut recording);
            recording.file(1 << 20)
        };
        Trace::of(&file)
    };
    let cut = |claim: &dyn Fn(&mut Recording)| {
        assert!(argument(claim).unwrap().imported.is_cut);
    };
    let refused = |claim: &dyn Fn(&mut Recording), why: &str| {
        let found = argument(claim).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(found.starts_with(why), "{found}");
    };
    let tagged = |tag: u8, number: u64| {
        move |recording: &mut Recording| {
            recording.raw.push(tag);
            recording.number(number);
        }
    };
    refused(&tagged(8, u64::MAX), "a call of more than 1073741824 bytes");
    cut(&tagged(8, 1 << 29));
    cut(&tagged(11, u64::MAX));
    cut(&tagged(12, 5));
    cut(&tagged(15, u64::MAX));
    refused(&tagged(99, 1), "a value of type 99");
    refused(&|recording| recording.raw.extend([0xFF; 12]), "a value of type 255");
    refused(&|recording| (0..20).for_each(|_| recording.raw.extend([11, 1])), "values nested more");
    refused(
        &|recording| {
            recording.raw.push(11);
            recording.number(5 << 20);
            recording.raw.extend(vec![0; 5 << 20]);
        },
        "a call of more than 4194304 values",
    );
}

#[test]
fn counts_without_end_are_refused() {
    let mut recording = Recording::with_context();
    recording.call(1 << 16, "glFlush()", &[], V::Null);
    assert!(refusal(&recording.file(1 << 20)).starts_with("a call of thread 65536, at byte"));

    // The head alone has no calls.
    let mut properties = Recording::new();
    properties.raw.pop();
    for _ in 0..5000 {
        properties.text(b"name");
        properties.text(b"value");
    }
    assert!(refusal(&properties.file(1 << 20)).starts_with("more than 4096 properties"));
}

#[test]
fn memory_that_nothing_reads_is_dropped() {
    let mut recording = Recording::with_context();
    for _ in 0..5000 {
        let args = [V::Address(0x7000_1010), V::Blob(vec![1]), V::Int(1)];
        recording.fake("memcpy(dest, src, n)", &args);
    }
    recording.call(0, "glFlush()", &[], V::Null);
    let trace = recording.import();
    assert_eq!(trace.imported.unread, 4096);
    assert_eq!(trace.only("glFlush")["reads"].as_array().map(Vec::len), Some(904));
}

#[test]
fn chunks_that_claim_too_much_are_refused() {
    let chunk = |len: u32, bytes: &[u8]| {
        let mut file = scene().file(1 << 20);
        file.extend_from_slice(&len.to_le_bytes());
        file.extend_from_slice(bytes);
        file
    };
    assert!(refusal(&chunk(u32::MAX, &[])).starts_with("a chunk of 4294967295 compressed bytes"));
    // 1 GiB before compression.
    let why = refusal(&chunk(6, &[0x80, 0x80, 0x80, 0x80, 0x04, 0]));
    assert!(why.starts_with("a chunk of 1073741824 bytes"), "{why}");
    let why = refusal(&chunk(6, &[0x80, 0x80, 0x80, 0x10, 0, 0]));
    assert!(why.starts_with("6 compressed bytes say 33554432 bytes"), "{why}");
    assert!(refusal(&chunk(2, &[4, 99])).contains("at byte"));
    assert!(Trace::of(&chunk(60 << 20, &[])).unwrap().imported.is_cut);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// [`Trace::of`] verifies what was written.
    #[test]
    fn damaged_file_is_refused_or_becomes_a_whole_trace(
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        in_chunks in any::<bool>(),
    ) {
        let mut recording = scene();
        if in_chunks {
            for (at, byte) in damage {
                let at = at.index(recording.raw.len());
                recording.raw[at] = byte;
            }
            drop(Trace::of(&recording.file(64)));
        } else {
            let mut file = recording.file(64);
            for (at, byte) in damage {
                let at = at.index(file.len());
                file[at] = byte;
            }
            drop(Trace::of(&file));
        }
    }
}
