//! `gapii-ctl problems`: each sort of problem in a trace that has it, and none in a trace that almost has it.

use std::fs;

use serde_json::Value;

use crate::support::{ctl, run};
use crate::written_trace::{BEGAN_NS, WrittenTrace, range};

const GL_ARRAY_BUFFER: u64 = 0x8892;
const GL_PIXEL_PACK_BUFFER: u64 = 0x88EB;
const GL_FRAMEBUFFER: u64 = 0x8D40;
const GL_COMPILE_STATUS: u64 = 0x8B81;
const GL_LINK_STATUS: u64 = 0x8B82;

/// A trace whose commands all have their arguments by value.
struct Trace(WrittenTrace);

impl Trace {
    fn new() -> Trace {
        Trace(WrittenTrace::new(false))
    }

    /// A command without a result.
    fn does(&mut self, name: &str, values: &[u64]) {
        self.0.does(name, values);
    }

    /// A command with a 32-bit result.
    fn answers(&mut self, name: &str, values: &[u64], result: u32) {
        let args = self.0.args(name, values);
        self.0.call(name, &args, &[], &result.to_le_bytes(), &[]);
    }

    /// A command without a result that writes memory.
    fn writes(&mut self, name: &str, values: &[u64], written: &[&[u8]]) {
        let args = self.0.args(name, values);
        self.0.call(name, &args, &[], &[], written);
    }

    fn deletes_texture(&mut self, name: u32) {
        let args = self.0.args("glDeleteTextures", &[1]);
        self.0.exchange("glDeleteTextures", &args, &[&name.to_le_bytes()], &[]);
    }

    /// 1,024 equal bytes go to the bound buffer. The trace has them if they are known.
    fn uploads(&mut self, byte: u8, is_known: bool) {
        let args = self.0.args("glBufferSubData", &[GL_ARRAY_BUFFER, 0, 1024, 0x1000]);
        self.0.upload("glBufferSubData", &args, (3, &[byte; 1024]), is_known);
    }

    fn swaps(&mut self, count: u64) {
        (0..count).for_each(|_| self.0.swap(0, None));
    }

    fn found(self, options: &[&str]) -> Vec<Value> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("t.gapii"), self.0.finish(1_000_000_000)).unwrap();
        let (table, _) = run(ctl(folder.path()).args(["problems", "t.gapii"]).args(options), 0);
        let json = ["problems", "t.gapii", "--json"];
        let (text, _) = run(ctl(folder.path()).args(json).args(options), 0);
        let answer: Value = serde_json::from_str(&text).unwrap();
        let problems = answer["problems"].as_array().unwrap().clone();
        assert_eq!(table == "no problem found\n", problems.is_empty(), "{table}");
        for problem in &problems {
            assert!(table.contains(problem["sentence"].as_str().unwrap()), "{table}{problem:#}");
        }
        problems
    }

    /// Checks sort, severity, number of occurrences and sentence of each problem.
    fn check(self, expected: &[(&str, &str, u64, &str)]) -> Vec<Value> {
        let found = self.found(&[]);
        let shown: Vec<_> = found
            .iter()
            .map(|it| {
                let text = |key: &str| it[key].as_str().unwrap();
                let count = it["count"].as_u64().unwrap();
                (text("kind"), text("severity"), count, text("sentence"))
            })
            .collect();
        assert_eq!(shown, expected, "{found:#?}");
        found
    }
}

#[test]
fn error_is_told_with_the_commands_in_which_it_happened() {
    let mut trace = Trace::new();
    trace.does("glFlush", &[]);
    trace.answers("glGetError", &[], 0);
    for _ in 0..3 {
        trace.does("glEnable", &[1]);
        trace.answers("glGetError", &[], 0x500);
    }
    trace.does("glFlush", &[]);
    trace.does("glEnable", &[1]);
    trace.answers("glGetError", &[], 0x502);
    trace.answers("glGetError", &[], 0x500);
    trace.answers("glGetError", &[], 0);
    trace.answers("glGetGraphicsResetStatus", &[], 0x8253);
    let one_of = "for one of the commands since the program asked before";
    let found = trace.check(&[
        ("api_error", "error", 3, "glGetError answered GL_INVALID_ENUM after glEnable"),
        ("api_error", "error", 1, &format!("glGetError answered GL_INVALID_OPERATION {one_of}")),
        ("api_error", "error", 1, &format!("glGetError answered GL_INVALID_ENUM {one_of}")),
        (
            "api_error",
            "error",
            1,
            "glGetGraphicsResetStatus answered GL_GUILTY_CONTEXT_RESET: the context was reset",
        ),
    ]);
    let ranges = found.iter().map(|it| (it["since"].as_u64(), it["seq"].as_u64()));
    let expected = [(Some(2), Some(3)), (Some(8), Some(10)), (Some(8), Some(11)), (None, Some(13))];
    assert!(ranges.eq(expected), "{found:#?}");
    assert_eq!(found[0]["examples"], serde_json::json!([3, 5, 7]));
}

#[test]
fn failed_command_and_the_error_of_its_thread_are_told() {
    let mut trace = Trace::new();
    trace.answers("eglMakeCurrent", &[1, 2, 2, 3], 1);
    trace.answers("eglGetError", &[], 0x3000);
    trace.answers("eglMakeCurrent", &[1, 2, 2, 3], 0);
    trace.answers("eglGetError", &[], 0x3009);
    // Not a failure.
    trace.answers("eglQueryWaylandBufferWL", &[1, 2, 3, 0], 0);
    trace.check(&[
        ("failed_result", "error", 1, "eglMakeCurrent failed"),
        ("api_error", "error", 1, "eglGetError answered EGL_BAD_MATCH after eglMakeCurrent"),
    ]);
}

#[test]
fn results_of_level_zero_are_failures_refusals_or_answers() {
    let mut trace = Trace::new();
    for result in [0, 1, 0x7800_0022] {
        trace.answers("zeEventQueryStatus", &[1], result);
    }
    trace.answers("zeEventQueryStatus", &[1], 0x7000_0001);
    trace.answers("zeEventQueryStatus", &[1], 0x7800_0003);
    trace.check(&[
        ("failed_result", "error", 1, "zeEventQueryStatus failed with ZE_RESULT_ERROR_DEVICE_LOST"),
        (
            "failed_result",
            "warning",
            1,
            "zeEventQueryStatus was refused with ZE_RESULT_ERROR_UNSUPPORTED_FEATURE",
        ),
    ]);
}

#[test]
fn incomplete_framebuffer_is_named() {
    let mut trace = Trace::new();
    trace.does("glBindFramebuffer", &[GL_FRAMEBUFFER, 5]);
    trace.answers("glCheckFramebufferStatus", &[GL_FRAMEBUFFER], 0x8CD5);
    trace.answers("glCheckFramebufferStatus", &[GL_FRAMEBUFFER], 0x8CD6);
    trace.check(&[(
        "incomplete_framebuffer",
        "error",
        1,
        "framebuffer 5 is not complete: GL_FRAMEBUFFER_INCOMPLETE_ATTACHMENT",
    )]);
}

#[test]
fn failed_compilation_is_told_with_its_log() {
    let mut trace = Trace::new();
    let (no, yes) = (0_u32.to_le_bytes(), 1_u32.to_le_bytes());
    trace.writes("glGetShaderiv", &[7, GL_COMPILE_STATUS], &[&yes]);
    trace.writes("glGetShaderiv", &[8, GL_COMPILE_STATUS], &[&no]);
    trace.writes("glGetShaderiv", &[9, 0x8B84], &[&no]);
    let log = b"0:3: error: no `main`\0";
    trace.writes("glGetShaderInfoLog", &[7, 99], &[&21_u32.to_le_bytes(), b"of another\0"]);
    trace.writes("glGetShaderInfoLog", &[8, 99], &[&21_u32.to_le_bytes(), log]);
    trace.writes("glGetProgramiv", &[3, GL_LINK_STATUS], &[&no]);
    let found = trace.check(&[
        ("failed_build", "error", 1, "shader 8 did not compile"),
        ("failed_build", "error", 1, "program 3 did not link"),
    ]);
    assert_eq!(found[0]["detail"], "0:3: error: no `main`");
    assert_eq!(found[1]["detail"], Value::Null);
}

#[test]
fn compilation_in_the_first_frames_is_no_problem() {
    let mut trace = Trace::new();
    trace.does("glCompileShader", &[1]);
    trace.swaps(9);
    trace.does("glCompileShader", &[2]);
    trace.swaps(1);
    trace.does("glCompileShader", &[3]);
    trace.does("glLinkProgram", &[4]);
    let found = trace.check(&[
        (
            "late_build",
            "warning",
            1,
            "glCompileShader compiles in mid-run, which makes the frame longer",
        ),
        (
            "late_build",
            "warning",
            1,
            "glLinkProgram links in mid-run, which makes the frame longer",
        ),
    ]);
    assert_eq!(found[0]["frame"], 10);
}

/// In each of `frames` frames an upload of `bytes_of(frame)` to buffer `buffer_of(frame)`.
fn uploads(frames: u64, buffer_of: fn(u64) -> u64, bytes_of: fn(u64) -> u8) -> Trace {
    let mut trace = Trace::new();
    trace.swaps(1);
    let mut known = Vec::new();
    for frame in 0..frames {
        trace.does("glBindBuffer", &[GL_ARRAY_BUFFER, buffer_of(frame)]);
        let byte = bytes_of(frame);
        trace.uploads(byte, known.contains(&byte));
        known.push(byte);
        trace.swaps(1);
    }
    trace
}

#[test]
fn upload_that_repeats_within_few_frames_is_told() {
    let of = |count: usize| {
        let mut trace = Trace::new();
        trace.swaps(1);
        (0..count).for_each(|at| trace.uploads(1, at > 0));
        trace.swaps(1);
        trace
    };
    let sentence = "glBufferSubData passes the bytes that buffer 0 has, many times in a frame";
    let found = of(16).check(&[("repeated_upload", "warning", 15, sentence)]);
    assert_eq!((&found[0]["frames"], &found[0]["bytes"]), (&1.into(), &(15 * 1024).into()));
    assert_eq!(found[0]["detail"], "16.38 kB a frame, by 16 uploads of 1.02 kB in 1 frame");
    of(15).check(&[]);
}

#[test]
fn upload_that_repeats_in_every_frame_is_told_with_the_wasted_bytes() {
    let found = uploads(10, |_| 7, |_| 1).check(&[(
        "repeated_upload",
        "warning",
        9,
        "glBufferSubData passes the bytes that buffer 7 has, in many frames in a row",
    )]);
    assert_eq!((&found[0]["bytes"], &found[0]["frames"]), (&(9 * 1024).into(), &10.into()));
    assert_eq!(found[0]["last_frame"], 10);
    uploads(7, |_| 7, |_| 1).check(&[]);
    // Two contents in turn, in each frame.
    let mut turns = Trace::new();
    turns.swaps(1);
    for frame in 0..10 {
        for byte in [1, 2] {
            turns.uploads(byte, frame > 0);
        }
        turns.swaps(1);
    }
    turns.check(&[]);
    uploads(20, |_| 7, |frame| (frame % 2) as u8).check(&[]);
    uploads(20, |frame| 7 + frame % 2, |_| 1).check(&[]);
}

#[test]
fn reads_and_finishes_stall_inside_frames() {
    let mut trace = Trace::new();
    let read = |trace: &mut Trace| trace.does("glReadPixels", &[0, 0, 1, 1, 0x1908, 0x1401, 64]);
    read(&mut trace);
    trace.does("glFinish", &[]);
    trace.swaps(1);
    trace.does("glBindBuffer", &[GL_PIXEL_PACK_BUFFER, 3]);
    read(&mut trace);
    trace.does("glBindBuffer", &[GL_PIXEL_PACK_BUFFER, 0]);
    for _ in 0..2 {
        read(&mut trace);
        read(&mut trace);
        trace.swaps(1);
    }
    trace.does("glFinish", &[]);
    let why = ", because no pack buffer is bound";
    let waits = "waits inside frames until the device is done";
    let found = trace.check(&[
        ("stall", "warning", 4, &format!("glReadPixels {waits}{why}")),
        ("stall", "warning", 1, &format!("glFinish {waits}")),
    ]);
    assert_eq!(found[0]["frames"], 2);
}

/// A texture is made and used in each of 20 frames, and deleted this number of frames later, if any.
fn textures(lifetime: Option<u32>) -> Trace {
    let mut trace = Trace::new();
    trace.swaps(1);
    for frame in 1..=20_u32 {
        trace.writes("glGenTextures", &[1], &[&frame.to_le_bytes()]);
        trace.does("glBindTexture", &[0x0DE1, frame.into()]);
        if let Some(old) = lifetime.and_then(|lifetime| frame.checked_sub(lifetime)) {
            trace.deletes_texture(old);
        }
        trace.swaps(1);
    }
    trace
}

#[test]
fn objects_that_are_made_in_frames_and_stay_leak() {
    let sentence = "objects of glGenTextures are made inside frames and never deleted";
    let found = textures(None).check(&[("leak", "warning", 20, sentence)]);
    assert_eq!(found[0]["frames"], 20);
    textures(Some(0)).check(&[]);
    textures(Some(3)).check(&[]);
    // Half of 20 textures are replaced, one in each frame: there are never more of them.
    let mut trace = Trace::new();
    let names: Vec<u8> = (1..=20_u32).flat_map(u32::to_le_bytes).collect();
    trace.writes("glGenTextures", &[20], &[&names]);
    (1..=20).for_each(|name| trace.does("glBindTexture", &[0x0DE1, name]));
    trace.swaps(1);
    for old in 1..=10_u32 {
        trace.deletes_texture(old);
        trace.writes("glGenTextures", &[1], &[&(100 + old).to_le_bytes()]);
        trace.does("glBindTexture", &[0x0DE1, u64::from(100 + old)]);
        trace.swaps(1);
    }
    trace.check(&[]);
}

#[test]
fn object_that_no_command_uses_is_told() {
    let mut trace = Trace::new();
    let names = [7_u32, 8, 9].map(u32::to_le_bytes).concat();
    trace.writes("glGenBuffers", &[3], &[&names]);
    trace.does("glBindBuffer", &[GL_ARRAY_BUFFER, 8]);
    trace.answers("glCreateShader", &[0x8B31], 5);
    trace.answers("glCreateProgram", &[], 6);
    trace.does("glAttachShader", &[6, 5]);
    let args = trace.0.args("glDeleteBuffers", &[1]);
    trace.0.exchange("glDeleteBuffers", &args, &[&9_u32.to_le_bytes()], &[]);
    trace.swaps(1);
    // The trace ends before the program can use it.
    trace.answers("glCreateProgram", &[], 7);
    trace.check(&[("unused_object", "note", 2, "objects of glGenBuffers are never used")]);
}

#[test]
fn messages_of_the_debug_log_are_told_by_their_severity() {
    let mut trace = Trace::new();
    let args = trace.0.args("glGetDebugMessageLog", &[3, 99, 1, 1, 1, 1, 1, 1]);
    let words = |words: [u32; 3]| words.map(u32::to_le_bytes).concat();
    let text = b"bad enum\0slow path\0info\0";
    let written = [
        words([0x8246; 3]),
        words([0x824C, 0x8250, 0x8251]),
        words([1, 2, 3]),
        words([0x9147, 0x9147, 0x826B]),
        words([9, 10, 5]),
        text.to_vec(),
    ];
    // The parameters behind `bufSize`.
    let ranges = (2..).zip(&written).map(|(param, bytes)| range(param, bytes));
    let answer = [&3_u64.to_le_bytes(), ranges.collect::<Vec<_>>().concat().as_slice()].concat();
    trace.0.call("glGetDebugMessageLog", &args, &[], &answer, &[]);
    trace.check(&[
        ("debug_message", "error", 1, "the driver said: bad enum"),
        ("debug_message", "warning", 1, "the driver said: slow path"),
        ("debug_message", "note", 1, "the driver said: info"),
    ]);
}

#[test]
fn losses_are_problems_of_the_whole_trace() {
    let trace = || {
        let mut trace = Trace::new();
        trace.swaps(1);
        trace.0.gap(30);
        trace.swaps(1);
        trace
    };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.gapii"), trace().0.cut()).unwrap();
    let (text, _) = run(ctl(folder.path()).args(["problems", "t.gapii"]), 1);
    assert!(text.contains("the trace lacks commands that could not be recorded"), "{text}");
    assert!(text.contains("the trace is cut at byte"), "{text}");
    trace().check(&[]);
}

#[test]
fn problems_are_chosen_by_frame() {
    let trace = || {
        let mut trace = Trace::new();
        for _ in 0..4 {
            trace.does("glEnable", &[1]);
            trace.answers("glGetError", &[], 0x500);
            trace.swaps(1);
        }
        trace.0.begin_block(BEGAN_NS + 2_000_000_000);
        trace
    };
    let found = trace().found(&["--frames", "1..3"]);
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0]["count"], &found[0]["frame"]), (&2.into(), &1.into()));
    assert_eq!(found[0]["last_frame"], 2);
    assert_eq!(trace().found(&[])[0]["count"], 4);
}

#[test]
fn slow_frames_are_told_by_the_times_at_which_frames_ended() {
    let mut trace = Trace::new();
    let mut now_ns = BEGAN_NS;
    for frame in 0..30 {
        now_ns += if frame == 7 || frame == 20 { 50_000_000 + frame } else { 16_000_000 };
        trace.0.swap_at(now_ns);
    }
    let sentence = "frames took more than twice the median of 16.0 ms";
    let found = trace.check(&[("slow_frame", "warning", 2, sentence)]);
    assert_eq!(found[0]["detail"], "the slowest is frame 20 with 50.0 ms");
    assert_eq!((&found[0]["frame"], &found[0]["last_frame"]), (&7.into(), &20.into()));
    assert_eq!(found[0]["seq"], 7);
}
