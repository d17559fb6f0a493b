//! Calls that overlap, that are within others, and that do not end.

use crate::recording::{Recording, V};

#[test]
fn events_of_threads_keep_their_order() {
    let mut recording = Recording::with_context();
    recording.current(1, 0);
    let gen_one = recording.enter(0, "glGenTextures(n, textures)", &[V::Int(1)], false);
    let gen_two = recording.enter(1, "glGenBuffers(n, buffers)", &[V::Int(1)], false);
    recording.leave(gen_two, &[(1, V::Array(vec![V::Int(2)]))], V::Null);
    recording.leave(gen_one, &[(1, V::Array(vec![V::Int(1)]))], V::Null);
    let trace = recording.import();
    let stamps = |name: &str| {
        let stamps = &trace.only(name)["stamps"];
        (stamps[0].as_u64().expect("entered"), stamps[1].as_u64().expect("returned"))
    };
    let (one, two) = (stamps("glGenTextures"), stamps("glGenBuffers"));
    assert!(one.0 < two.0 && two.0 < two.1 && two.1 < one.1, "{one:?} {two:?}");
    // Names exist when the command that makes them returns.
    let names = trace.names();
    assert_eq!(names[names.len() - 2..], ["glGenBuffers", "glGenTextures"]);
    let tids: Vec<_> = trace.commands.iter().map(|command| command["tid"].clone()).collect();
    assert_ne!(tids[tids.len() - 2], tids[tids.len() - 1]);
    assert_eq!(trace.imported.threads, 2);
}

#[test]
fn call_within_a_call_is_left_out() {
    let mut recording = Recording::with_context();
    let outer = recording.enter(0, "glFinish()", &[], false);
    recording.call(0, "glFlush()", &[], V::Null);
    recording.call(1, "glGetError()", &[], V::Int(0));
    recording.leave(outer, &[], V::Null);
    let trace = recording.import();
    assert!(!trace.names().contains(&"glFlush"));
    assert!(trace.names().contains(&"glFinish") && trace.names().contains(&"glGetError"));
    assert_eq!(trace.imported.nested, 1);
}

#[test]
fn call_that_does_not_end_is_in_flight_if_it_is_the_last_of_its_thread() {
    let mut recording = Recording::with_context();
    recording.enter(0, "glReadPixels(x, y, width, height, format, type, pixels)", &[], false);
    let trace = recording.import();
    let command = trace.only("glReadPixels");
    assert_eq!(command["in_flight"], true);

    recording.call(0, "glFinish()", &[], V::Null);
    let trace = recording.import();
    assert!(!trace.names().contains(&"glReadPixels") && trace.names().contains(&"glFinish"));
    assert_eq!((trace.imported.nested, trace.imported.unended), (0, 1));
}

#[test]
fn call_that_holds_up_too_many_others_still_gets_its_end() {
    let mut recording = Recording::with_context();
    recording.current(1, 0);
    let slow = recording.enter(1, "glGenTextures(n, textures)", &[V::Int(1)], false);
    for _ in 0..80_000 {
        recording.call(0, "glFlush()", &[], V::Null);
    }
    recording.leave(slow, &[(1, V::Array(vec![V::Int(5)]))], V::Null);
    recording.call(1, "glFinish()", &[], V::Null);
    let trace = recording.import();
    let slow = trace.only("glGenTextures");
    assert_eq!(slow["args"]["textures"]["values"], serde_json::json!([5]));
    assert_eq!(trace.names().len(), 80_006);
}
