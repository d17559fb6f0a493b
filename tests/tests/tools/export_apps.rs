//! The programs of `tests/apps/`, recorded and exported: Debian's `eglretrace` shows the pictures that each program read
//! back itself, and `apitrace dump` prints the same as for apitrace's own recording.

use gapii_tests::exporting::{export_app, shown_as_read_back};
use gapii_tests::gapii::Session;
use gapii_tests::loading::offscreen;
use gapii_tests::pictures::NOT_PLAYED;
use gapii_tests::programs::{app, apps_but};
use gapii_tests::{apitrace, dumps, turns};

/// Programs that apitrace cannot record, and the reason.
const NOT_RECORDED: &[(&str, &str)] = &[
    ("bad_arrays", "apitrace reads arrays that the program does not use"),
    ("bad_context", "apitrace asks a driver without a context"),
    ("bad_edges", "apitrace reads past arrays"),
    ("bad_enums", "apitrace reads what the driver refuses"),
    ("bad_names", "apitrace reads what the driver refuses"),
    ("bad_nulls", "apitrace reads through null"),
    ("base_vertex", "apitrace adds the base to arrays that begin below it"),
    ("compressed_textures", "apitrace asks for state that ES has not, and leaves the error"),
    ("kept_alone", "apitrace asks for state that ES has not, and leaves the error"),
    ("kept_compressed", "apitrace asks for state that ES has not, and leaves the error"),
    ("kept_links", "apitrace says that there are no binary formats"),
    ("primitive_restart", "apitrace takes the restart index for a vertex"),
    ("program_binary", "apitrace says that there are no binary formats"),
];

const ADJOINING: &str = "arrays that adjoin or interleave are one piece of memory";
const LONGER: &str = "apitrace takes the promised range, and less than there is with a divisor";
const OF_NOTHING: &str = "apitrace adds arrays to draws of nothing";
const OUTPUTS: &str = "apitrace prints an address where it does not know how much is written";
const NULL_LISTS: &str = "apitrace prints attribute lists that are null as empty";
const HALVES: &str = "apitrace does not know how large GL_HALF_FLOAT_OES is";
const COPIES: &str = "apitrace copies images into textures, with objects of its own";
const NAMES: &str = "one number, two names";
const ORDER: &str = "arrays of the fixed pipeline come in another order";

/// Known differences of dumps, which are apitrace's or irrelevant: the program or `*`, the beginning of the sentence, the
/// reason.
const EXPLAINED: &[(&str, &str, &str)] = &[
    ("*", "glGetString: [[\"GL_EXTENSIONS\"]", "apitrace adds extensions of its own"),
    ("animation", "glVertexAttribPointer: ", ADJOINING),
    ("attribute_lists", "egl", NULL_LISTS),
    ("attribute_lists", "only theirs: eglCreateContext", "eglretrace ends at contexts that fail"),
    ("client_arrays", "glVertexAttribPointer: ", ADJOINING),
    ("client_arrays", "only theirs: fake glVertexAttribPointer", OF_NOTHING),
    ("client_indices", "only theirs: fake glVertexAttribPointer", OF_NOTHING),
    (
        "client_integers",
        "only ours: fake glVertexAttribIPointer",
        "apitrace has integers as floats",
    ),
    ("client_integers", "only theirs: fake glVertexAttribPointer", "apitrace has them as floats"),
    ("compute", "glMemoryBarrier: ", NAMES),
    ("debug_messages", "glGetDebugMessageLog: ", "apitrace prints elements nobody wrote"),
    ("egl_image", "gl", COPIES),
    ("egl_image", "only theirs: fake glTexImage2D", COPIES),
    ("fixed_function", "glVertexPointer: ", ADJOINING),
    ("fixed_function", "only ours: fake gl", ORDER),
    ("fixed_function", "only theirs: fake gl", ORDER),
    ("fixed_function", "only theirs: glPointSizePointerOES", "apitrace has its address only"),
    ("fixed_values", "glClipPlanef: ", NAMES),
    ("fixed_values", "glDisable: [[\"GL_CLIP_PLANE0\"]]", NAMES),
    ("fixed_values", "glEnable: [[\"GL_CLIP_PLANE0\"]]", NAMES),
    ("fixed_values", "glGetClipPlanef: ", NAMES),
    ("index_buffers", "glVertexAttribPointer: ", ADJOINING),
    ("index_sources", "glVertexAttribPointer: ", "apitrace knows no indices that the driver wrote"),
    ("index_sources", "only ours: fake glVertexAttribIPointer", "apitrace has integers as floats"),
    ("index_sources", "only theirs: fake glVertexAttribPointer", "apitrace has them as floats"),
    ("instanced_arrays", "glVertexAttribPointer: ", LONGER),
    ("instanced_arrays", "only theirs: fake glVertexAttribPointer", OF_NOTHING),
    ("kept_contents", "only ours: fake memcpy", "apitrace does not see what is written there"),
    ("kept_formats", "glTexImage2D: ", HALVES),
    ("kept_formats", "glTexSubImage2D: ", HALVES),
    ("kept_feedback", "glGetIntegerv: [[\"GL_TRANSFORM_FEEDBACK_", NAMES),
    ("kept_images", "egl", NULL_LISTS),
    ("kept_images", "gl", COPIES),
    ("kept_images", "only theirs: fake glTexImage2D", COPIES),
    ("kept_queries", "eglCreateSyncKHR: ", NULL_LISTS),
    ("kept_uniforms", "glGetActiveUniform", OUTPUTS),
    ("kept_uniforms", "glGetUniform", OUTPUTS),
    ("kept_values", "only ours: glPrimitiveBoundingBox", "apitrace does not know the command"),
    (
        "mapped_buffers",
        "only ours: fake memcpy",
        "apitrace has no writes to a buffer deleted while mapped",
    ),
    ("pack_parameters", "glVertexAttribPointer: ", ADJOINING),
    ("persistent_maps", "only ours: fake memcpy", "apitrace does not see what is written there"),
    (
        "range_elements",
        "glDrawRangeElements: ",
        "apitrace has no indices, gapii where they would be",
    ),
    ("range_elements", "glVertexAttribPointer: ", LONGER),
    ("range_elements", "only theirs: fake glVertexAttribPointer", OF_NOTHING),
    ("stale_arrays", "only ours: glVertexAttribPointer", "apitrace leaves arrays in memory out"),
    ("sync_objects", "eglCreateSyncKHR: ", NULL_LISTS),
    ("tessellation", "only ours: glPrimitiveBoundingBox", "apitrace does not know the command"),
    ("uniform_buffers", "glGetActiveUniform", OUTPUTS),
    ("uniforms", "glGetUniform", OUTPUTS),
    ("uniforms", "glUniform1iv: [[\"-1\"]", "of a uniform that there is not nothing is read"),
];

#[test]
fn eglretrace_shows_what_each_program_read_back() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let mut found = Vec::new();
    let mut right = 0;
    let names = turns::taken(apps_but(&[]), 0, 2);
    for name in &names {
        let listed = NOT_PLAYED.iter().find(|(of, _)| of == name);
        match (shown_as_read_back(&session, name, &[]), listed) {
            (Ok(_), None) => right += 1,
            (Err(_), Some(_)) => {}
            (Err(what), None) => found.push(format!("{name}: {what}")),
            (Ok(_), Some((_, why))) => found.push(format!("{name} is shown right: not {why}")),
        }
    }
    println!("{right} of {} programs are shown right", names.len());
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(right + NOT_PLAYED.len() >= names.len() && right >= 32, "{right}");
}

/// Differences of the dumps that [`EXPLAINED`] does not list.
fn unexplained(session: &Session, name: &str) -> Result<Vec<String>, String> {
    let trace = export_app(session, name, &[])?.trace;
    let own = session.path(&format!("{name}-own.trace"));
    let finished = apitrace::record(&offscreen(&app(name), [""; 0]), &own);
    if !finished.status.success() {
        return Err(finished.to_string());
    }
    let (ours, theirs) = (dumps::calls(&trace), dumps::calls(&own));
    if ours.len().min(theirs.len()) < 20 {
        return Err(format!("{} and {} calls", ours.len(), theirs.len()));
    }
    let explained = |found: &String| {
        let known = |(of, begins, _): &(&str, &str, &str)| {
            (*of == "*" || *of == name) && found.starts_with(begins)
        };
        EXPLAINED.iter().any(known)
    };
    let found = dumps::differences(&ours, &theirs).into_iter();
    Ok(found.filter(|found| !explained(found)).collect())
}

#[test]
fn dumps_are_those_of_apitrace_s_own_recordings() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let mut found = Vec::new();
    let mut same = 0;
    let names = turns::taken(apps_but(&[]), 1, 2);
    for name in &names {
        let listed = NOT_RECORDED.iter().find(|(of, _)| of == name);
        match (unexplained(&session, name), listed) {
            (Err(_), Some(_)) => {}
            (Ok(differences), None) if differences.is_empty() => same += 1,
            (Ok(differences), None) => {
                found.extend(differences.iter().map(|what| format!("{name}: {what}")));
            }
            (Err(what), None) => found.push(format!("{name}: {what}")),
            (Ok(_), Some((_, why))) => found.push(format!("{name} is recorded: not {why}")),
        }
    }
    println!("{same} programs have the same dump, {} differences", found.len());
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
    assert!(same + NOT_RECORDED.len() >= names.len() && same >= 27, "{same}");
}
