//! What a trace has of a call.

use serde_json::json;

use crate::recording::{Recording, Trace, V};

fn floats(count: usize) -> Vec<u8> {
    (0..count).flat_map(|number| (number as f32).to_le_bytes()).collect()
}

#[test]
fn calls_become_commands_with_arguments_memory_and_results() {
    let mut recording = Recording::with_context();
    let list = V::Array(Vec::new());
    let args = [V::Address(1), V::Address(2), list];
    recording.call(0, "eglCreatePbufferSurface(dpy, config, attrib_list)", &args, V::Address(3));
    let call = recording.enter(0, "glGenTextures(n, textures)", &[V::Int(2)], false);
    let names = V::Array(vec![V::Int(11), V::Int(12)]);
    recording.leave(call, &[(1, names)], V::Null);
    let args = [V::Int(0x0DE1), V::Int(0x2801), V::Int(9729)];
    recording.call(0, "glTexParameterf(target, pname, param)", &args, V::Null);
    let sources = V::Array(vec![V::Text("void main()"), V::Text("{}")]);
    let args = [V::Int(3), V::Int(2), sources, V::Null];
    recording.call(0, "glShaderSource(shader, count, string, length)", &args, V::Null);
    let args = [V::Int(0x8892), V::Int(600), V::Blob(vec![9; 600]), V::Int(0x88E4)];
    recording.call(0, "glBufferData(target, size, data, usage)", &args, V::Null);
    let args = [V::Int(-1), V::Int(1), V::Array(vec![V::Float(0.5)])];
    recording.call(0, "glUniform1fv(location, count, value)", &args, V::Null);
    recording.call(0, "glGetString(name)", &[V::Int(0x1F01)], V::Text("llvmpipe"));
    let call = recording.enter(0, "eglInitialize(dpy, major, minor)", &[V::Address(1)], false);
    recording.leave(call, &[(1, V::Array(vec![V::Int(1)])), (2, V::Null)], V::Int(1));
    recording.call(0, "glGetError()", &[], V::Int(0x0502));
    let trace = recording.import();

    let of = |name: &str, field: &str| trace.only(name)["args"][field].clone();
    assert_eq!(of("eglCreatePbufferSurface", "attrib_list"), "0x0");
    assert_eq!(trace.only("eglCreatePbufferSurface")["result"], 3);
    assert_eq!(of("glGenTextures", "textures")["values"], json!([11, 12]));
    assert_eq!(of("glTexParameterf", "param"), 9729.0);
    assert_eq!(of("glShaderSource", "string"), json!(["void main()", "{}"]));
    let read = &trace.only("glBufferData")["reads"][0];
    assert_eq!(
        (&read["param"], &read["size"], &read["blob"]),
        (&json!("data"), &json!(600), &json!(true))
    );
    assert_eq!(of("glBufferData", "usage"), "GL_STATIC_DRAW");
    assert_eq!(of("glUniform1fv", "location"), -1);
    assert_eq!(of("glUniform1fv", "value")["values"], json!([0.5]));
    assert_eq!(trace.only("glGetString")["result"], "llvmpipe");
    assert_eq!(of("eglInitialize", "major")["values"], json!([1]));
    assert_eq!(of("eglInitialize", "minor"), "0x0");
    assert_eq!(trace.only("glGetError")["result"], "GL_INVALID_OPERATION");
    assert_eq!(trace.only("glGetError")["context"], 0x77);
    assert_eq!(trace.imported.program, "scene");
    assert_eq!(trace.imported.commands, trace.commands.len() as u64);
}

#[test]
fn equal_memory_is_one_blob() {
    let mut recording = Recording::with_context();
    let args =
        |byte| [V::Int(0x8892), V::Int(600_000), V::Blob(vec![byte; 600_000]), V::Int(0x88E4)];
    for byte in [1, 2, 1] {
        recording.call(0, "glBufferData(target, size, data, usage)", &args(byte), V::Null);
    }
    let trace = recording.import();
    let hashes = trace.commands.iter().filter(|command| command["name"] == "glBufferData");
    let hashes: Vec<_> = hashes.map(|command| &command["reads"][0]["hash"]).collect();
    assert!(hashes[0] == hashes[2] && hashes[0] != hashes[1], "{hashes:?}");
    assert_eq!(trace.blobs, 2);
}

#[test]
fn frames_end_at_swaps_that_succeed() {
    let mut recording = Recording::with_context();
    recording.swap(0);
    let args = [V::Address(1), V::Address(0x55)];
    recording.call(0, "eglSwapBuffers(dpy, surface)", &args, V::Int(0));
    recording.swap(0);
    recording.call(0, "glFlush()", &[], V::Null);
    let trace = recording.import();
    assert_eq!(trace.imported.frames, 2);
    assert_eq!(trace.only("glFlush")["frame"], 2);
}

#[test]
fn draw_reads_the_arrays_that_stand_before_it() {
    let pointer = "glVertexAttribPointer(index, size, type, normalized, stride, pointer)";
    let mut recording = Recording::with_context();
    let array = |index, bytes| {
        [V::Int(index), V::Int(2), V::Int(0x1406), V::Int(0), V::Int(0), V::Blob(bytes)]
    };
    let draw = |recording: &mut Recording| {
        recording.call(
            0,
            "glDrawArrays(mode, first, count)",
            &[V::Int(4), V::Int(0), V::Int(3)],
            V::Null,
        );
    };
    recording.fake(pointer, &array(0, floats(6)));
    recording.fake(pointer, &array(1, floats(12)));
    draw(&mut recording);
    draw(&mut recording);
    let trace = recording.import();
    let of = |name: &str| -> Vec<_> {
        trace.commands.iter().filter(|command| command["name"] == name).collect()
    };
    let addresses: Vec<_> =
        of("glVertexAttribPointer").iter().map(|it| it["args"]["pointer"].clone()).collect();
    let draws = of("glDrawArrays");
    let reads = draws[0]["reads"].as_array().expect("it reads");
    let read: Vec<_> = reads.iter().map(|read| read["address"].clone()).collect();
    assert_eq!(read, addresses);
    assert_eq!((&reads[0]["size"], &reads[1]["size"]), (&json!(24), &json!(48)));
    assert_eq!(reads[0]["param"], json!(null));
    assert_eq!(draws[1].get("reads"), None);
    assert_eq!(trace.imported.fake, 2);
}

#[test]
fn write_to_mapped_memory_is_read_by_the_threads_next_command() {
    let mut recording = Recording::with_context();
    let args = [V::Int(0x8892), V::Int(0), V::Int(64), V::Int(2)];
    let map = "glMapBufferRange(target, offset, length, access)";
    recording.call(0, map, &args, V::Address(0x7000_1000));
    let args = [V::Address(0x7000_1010), V::Blob(vec![1, 2, 3]), V::Int(3)];
    recording.fake("memcpy(dest, src, n)", &args);
    recording.current(1, 0);
    recording.call(0, "glUnmapBuffer(target)", &[V::Int(0x8892)], V::Int(1));
    let trace = recording.import();
    let unmap = trace.only("glUnmapBuffer");
    let reads = json!([{"param": null, "address": "0x70001010", "size": 3,
        "hash": unmap["reads"][0]["hash"]}]);
    assert_eq!(unmap["reads"], reads);
    assert_eq!(trace.imported.unread, 0);
    assert!(!trace.names().contains(&"memcpy"));
}

#[test]
fn write_that_no_command_reads_is_counted() {
    let mut recording = Recording::with_context();
    let args = [V::Address(0x7000_1010), V::Blob(vec![1, 2, 3]), V::Int(3)];
    recording.fake("memcpy(dest, src, n)", &args);
    assert_eq!(recording.import().imported.unread, 1);
}

#[test]
fn unknown_functions_are_counted_by_name() {
    let mut recording = Recording::with_context();
    for _ in 0..2 {
        recording.call(0, "glStartRocket(a)", &[V::Int(1)], V::Null);
    }
    // A function of this name with other parameters.
    recording.call(0, "glFlush(why)", &[V::Int(1)], V::Null);
    recording.call(0, "glFinish()", &[], V::Null);
    let trace = recording.import();
    let unknown = trace.imported.unknown.iter().map(|(name, it)| (name.as_str(), it.calls));
    assert_eq!(unknown.collect::<Vec<_>>(), [("glFlush", 1), ("glStartRocket", 2)]);
    assert_eq!(trace.names().last(), Some(&"glFinish"));
}

#[test]
fn contexts_of_other_systems_are_refused() {
    let mut wgl = Recording::new();
    wgl.call(0, "wglCreateContext(dc)", &[V::Null], V::Null);
    wgl.call(0, "glFlush()", &[], V::Null);
    assert!(Trace::of(&wgl.file(1 << 20)).is_err());

    let mut both = Recording::with_context();
    both.call(0, "wglCreateContext(dc)", &[V::Null], V::Null);
    both.call(0, "glFlush()", &[], V::Null);
    let trace = both.import();
    assert_eq!(trace.imported.unknown.keys().collect::<Vec<_>>(), ["wglCreateContext"]);
    assert!(trace.names().contains(&"glFlush"));
}

#[test]
fn calls_in_contexts_of_desktop_opengl_are_commands() {
    let mut both = Recording::with_context();
    both.call(0, "glFlush()", &[], V::Null);
    both.context(1, 0x30A2, 0x78);
    both.call(1, "glFinish()", &[], V::Null);
    let trace = both.import();
    assert_eq!(trace.imported.unknown.len(), 0);
    let names = trace.names();
    assert!(names.contains(&"glFlush") && names.contains(&"glFinish"), "{names:?}");
}
