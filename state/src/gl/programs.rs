//! Shaders and programs: deferred deletion of names, and what a program was linked from. Of links whose status the
//! program has not asked for, the last 4 before the newest are kept (`EARLIER_LINKS_MAX`); those known to have failed,
//! or older than one that succeeded, are forgotten. More than 4,096 transform feedback varyings (`VARYINGS_MAX`) are
//! ignored.

use std::sync::atomic::Ordering::Relaxed;

use crate::Values as _;
use crate::at::At as _;
use crate::{
    Compilation, Context, GroupState, Link, Memory, Outcome, Pipeline, Program, Ref, Scope, Shader,
    Stage, Thread,
};
use gapii_commands::constants::{GL_ALL_SHADER_BITS, GL_INTERLEAVED_ATTRIBS, GL_SEPARATE_ATTRIBS};

/// Maximum number of a program's earlier links that are kept. More are only needed if a program links that often without
/// success while an executable is in use, and never queries GL_LINK_STATUS.
const EARLIER_LINKS_MAX: usize = 4;
/// Number of stages of a program pipeline.
const STAGES: u32 = 6;
/// Maximum number of transform feedback varyings that are kept. Drivers allow 128 components.
const VARYINGS_MAX: i32 = 4096;

impl<S: Scope> Context<S> {
    /// Whether the program is current, or a program pipeline contains it.
    pub fn uses(&self, program: Ref<Program>) -> bool {
        // Mesa keeps a deleted pipeline bound while a program is current.
        let pipelines = self.pipelines.named().chain(self.pipelines.deleted());
        let contains = |it: &Pipeline<S>| {
            let is_stage = it.stages.iter().any(|(_, stage)| *stage == program);
            is_stage || it.active_program == program
        };
        self.program == program || pipelines.map(|(_, it)| it).any(contains)
    }
}

/// Attaches a shader to a program. A driver refuses a second shader of one type (OpenGL ES 3.2, 7.3).
pub fn attach_shader<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    program: u32,
    shader: u32,
) {
    let Some(context) = thread.context.as_deref() else { return };
    let mut group = context.group.lock();
    let shader = group.shaders.find(u64::from(shader));
    let program = program_named(context, &group, program);
    let Some(found) = group.shaders.get(shader) else { return };
    let Some(others) = group.programs.get(program).map(|it| &it.shaders) else { return };
    let has_kind =
        |other: &Ref<Shader>| group.shaders.get(*other).map(|it| it.kind) == Some(found.kind);
    if others.iter().any(has_kind) {
        return;
    }
    if let Some(program) = group.programs.get_mut(program) {
        program.shaders.push(shader);
    }
    if let Some(shader) = group.shaders.get_mut(shader) {
        shader.attachments = shader.attachments.saturating_add(1);
    }
}

/// Detaches a shader from a program.
pub fn detach_shader<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    program: u32,
    shader: u32,
) {
    let Some(context) = thread.context.as_deref() else { return };
    let mut group = context.group.lock();
    let shader = group.shaders.find(u64::from(shader));
    let program = program_named(context, &group, program);
    let Some(program) = group.programs.get_mut(program) else { return };
    let attached = program.shaders.len();
    program.shaders.retain(|other| *other != shader);
    if program.shaders.len() < attached {
        let_go(&mut group, shader);
    }
}

/// Deletes a shader. A shader that is attached keeps its name until no program has it attached.
pub fn delete_shader<S: Scope, M: Memory + ?Sized>(thread: &mut Thread<S>, _memory: &M, name: u32) {
    let Some(context) = thread.context.as_deref() else { return };
    let mut group = context.group.lock();
    let shader = group.shaders.find(u64::from(name));
    match group.shaders.get_mut(shader) {
        Some(shader) if shader.attachments > 0 => shader.is_deleted = true,
        _ => {
            group.shaders.delete(u64::from(name));
        }
    }
}

/// Deletes a program. A program that is current keeps its name until it is no longer current.
pub fn delete_program<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    name: u32,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let mut group = context.group.lock();
    let found = group.programs.find(u64::from(name));
    if let Some(program) = group.programs.get_mut(found)
        && found == context.program
    {
        program.is_deleted = true;
        drop(group);
        context.program_is_deleted = true;
        return;
    }
    remove_program(&mut group, found);
}

/// Makes a program current, and releases the previous one.
#[inline(always)]
pub fn use_program<S: Scope, M: Memory + ?Sized>(thread: &mut Thread<S>, _memory: &M, name: u32) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let name = u64::from(name);
    let links = context.group.links.load(Relaxed);
    if name != 0 && context.program.name() == name {
        context.program_used_at = links;
        return;
    }
    let found = context.caches.programs.find(&context.group, name, |group| &mut group.programs);
    if name != 0 && found.is_none() {
        return;
    }
    context.program_used_at = links;
    let before = std::mem::replace(&mut context.program, found);
    if std::mem::take(&mut context.program_is_deleted) {
        remove_program(&mut context.group.lock(), before);
    }
}

/// Notes what a program is linked from, and forgets its uniforms.
pub fn link_program<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    program: Ref<Program>,
    is_binary: bool,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let mut group = context.group.lock();
    let Some(found) = group.programs.get(program) else { return };
    let stages = found.shaders.iter().filter_map(|shader| stage(&group, *shader)).collect();
    let link = Link { stages, parameters: found.next_link.clone(), is_binary };
    let number = context.group.links.fetch_add(1, Relaxed) + 1;
    if let Some(program) = group.programs.get_mut(program) {
        relink(program, link);
        program.linked_at = number;
        program.linked_in = context.handle;
    }
    drop(group);
    install(context, program, number);
}

/// Notes that the context uses the new executable where it had the program in use, and that all its pipelines do (OpenGL ES
/// 3.2, 7.3).
fn install<S: Scope>(context: &mut Context<S>, program: Ref<Program>, number: u64) {
    if context.program == program {
        context.program_used_at = number;
    }
    // Mesa keeps a deleted pipeline bound while a program is current.
    let pipelines = context.pipelines.named().chain(context.pipelines.deleted());
    let all: Vec<_> = pipelines.map(|(pipeline, _)| pipeline).collect();
    for pipeline in all {
        let Some(pipeline) = context.pipelines.get_mut_unnoted(pipeline) else { continue };
        for (bit, _) in pipeline.stages.iter().filter(|(_, stage)| **stage == program) {
            if let Some(used_at) = pipeline.stages_used_at.at_mut(*bit) {
                *used_at = number;
            }
        }
    }
}

/// glUseProgramStages: sets the stages that `stages` has bits of.
pub fn use_stages<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    pipeline: Ref<Pipeline>,
    stages: u32,
    program: Ref<Program>,
) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let links = context.group.links.load(Relaxed);
    let Some(pipeline) = context.pipelines.get_mut(pipeline) else { return };
    // The driver refuses bits of no stage (OpenGL ES 3.2, 7.4).
    if stages != GL_ALL_SHADER_BITS && stages >> STAGES != 0 {
        return;
    }
    for bit in (0..STAGES).map(|stage| 1 << stage).filter(|bit| stages & bit != 0) {
        if let Some(stage) = pipeline.stages.at_mut(bit) {
            *stage = program;
        }
        if let Some(used_at) = pipeline.stages_used_at.at_mut(bit) {
            *used_at = links;
        }
    }
}

/// Returns an attached shader as a link sees it: with the source from which it was compiled.
fn stage<S: Scope>(group: &GroupState<S>, shader: Ref<Shader>) -> Option<Stage> {
    let found = group.shaders.get(shader)?;
    let source = match found.compilation {
        Compilation::OfEarlierSource => &found.compiled_source,
        Compilation::Never | Compilation::OfSource => &found.source,
    };
    let is_compiled = found.compilation != Compilation::Never;
    Some(Stage { shader, kind: found.kind, source: source.clone(), is_compiled })
}

/// Makes `link` the last one. Keeps the link before it, unless that is known to have failed; forgets the links before one that
/// is known to have succeeded.
fn relink<S: Scope>(program: &mut Program<S>, link: Link) {
    let before = std::mem::replace(&mut program.last_link, link);
    let outcome = std::mem::take(&mut program.linked);
    if outcome == Outcome::Succeeded {
        program.earlier_links.clear();
    }
    if program.links > 0 && outcome != Outcome::Failed {
        program.earlier_links.push(before);
    }
    if program.earlier_links.len() > EARLIER_LINKS_MAX {
        program.earlier_links.remove(0);
    }
    program.links = program.links.wrapping_add(1);
    program.uniform_names.clear();
    program.uniform_types.clear();
    program.block_uniforms.clear();
}

/// glCreateShaderProgramv: creates a program from a shader that exists during the command only.
pub fn create_shader_program<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    program: u32,
    kind: u32,
    source: String,
) {
    let Some(context) = thread.context.as_deref() else { return };
    let mut group = context.group.lock();
    let made = group.programs.create(u64::from(program));
    if let Some(program) = group.programs.get_mut(made) {
        program.next_link.separable = true;
        let stages = vec![Stage { shader: Ref::NONE, kind, source, is_compiled: true }];
        let parameters = program.next_link.clone();
        relink(program, Link { stages, parameters, is_binary: false });
    }
}

/// glTransformFeedbackVaryings: sets the varyings of the next link, unless the driver refuses the arguments.
pub fn set_feedback_varyings<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    memory: &M,
    program: Ref<Program>,
    count: i32,
    varyings: u64,
    mode: u32,
) {
    let Some(context) = thread.context.as_deref() else { return };
    let is_mode = [GL_INTERLEAVED_ATTRIBS, GL_SEPARATE_ATTRIBS].contains(&mode);
    if !is_mode || !(0..=VARYINGS_MAX).contains(&count) {
        return;
    }
    let name = |index| memory.text(memory.element::<u64>(varyings, index), u64::MAX);
    let names = (0..i64::from(count)).map(name).collect();
    let mut group = context.group.lock();
    // Drivers refuse new varyings of any program then (ARB_transform_feedback2).
    if is_feeding_back(memory, context, &group) {
        return;
    }
    let Some(program) = group.programs.get_mut(program) else { return };
    (program.next_link.feedback_varyings, program.next_link.feedback_mode) = (names, mode);
}

/// Whether the bound transform feedback object is active, perhaps paused. If there is no driver to ask, as far as the commands
/// tell: drivers refuse to begin without a program that has varyings, and to link one that has no shader, or one that is not
/// compiled. Whether a compilation, and so a link, succeeded is not known.
fn is_feeding_back<S: Scope, M: Memory + ?Sized>(
    memory: &M,
    context: &Context<S>,
    group: &GroupState<S>,
) -> bool {
    let (is_active, program) = match context.transform_feedbacks.get(context.transform_feedback) {
        Some(feedback) => (feedback.is_active, feedback.program),
        None => (context.default_feedback_is_active, context.default_feedback_program),
    };
    if !is_active || !context.has((3, 0), (3, 0)) {
        return false;
    }
    if context.has((3, 0), (4, 0))
        && let Some(is_active) = memory.is_feeding_back()
    {
        return is_active;
    }
    let has_varyings = |link: &Link| {
        let has_shaders = !link.stages.is_empty() && link.stages.iter().all(|it| it.is_compiled);
        let may_be_linked = link.is_binary || has_shaders;
        may_be_linked && !link.parameters.feedback_varyings.is_empty()
    };
    group.programs.get(program).is_some_and(|it| has_varyings(&it.last_link))
}

/// Returns the program of that name. The current program keeps its name even after its deletion.
fn program_named<S: Scope>(context: &Context<S>, group: &GroupState<S>, name: u32) -> Ref<Program> {
    match u64::from(name) {
        0 => Ref::NONE,
        name if context.program.name() == name => context.program,
        name => group.programs.find(name),
    }
}

/// Removes the program's name, and releases its shaders.
fn remove_program<S: Scope>(group: &mut GroupState<S>, program: Ref<Program>) {
    if program.is_none() || group.programs.find(program.name()) != program {
        return;
    }
    group.programs.delete(program.name());
    // The list stays: another context may still use the program, which then has the shaders.
    let attached = group.programs.get(program).map(|it| it.shaders.clone());
    for shader in attached.unwrap_or_default() {
        let_go(group, shader);
    }
}

/// Notes that the shader is detached from a program; deletes it after the last detach if it is marked for deletion.
fn let_go<S: Scope>(group: &mut GroupState<S>, shader: Ref<Shader>) {
    let Some(found) = group.shaders.get_mut(shader) else { return };
    found.attachments = found.attachments.saturating_sub(1);
    if found.attachments == 0 && found.is_deleted {
        group.shaders.delete(shader.name());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{context, thread};
    use super::*;
    use crate::Nothing;
    use crate::Whole;

    const PROGRAM: u32 = 7;
    const SHADER: u32 = 8;

    /// Returns a thread with a program and a shader that has a source.
    fn with_program() -> (Thread<Whole>, Ref<Program>, Ref<Shader>) {
        let mut thread = thread((3, 2));
        let mut group = context(&mut thread).group.lock();
        let program = group.programs.create(u64::from(PROGRAM));
        let shader = group.shaders.create(u64::from(SHADER));
        group.shaders.get_mut(shader).unwrap().source = "void main() {}".to_owned();
        drop(group);
        (thread, program, shader)
    }

    fn has_shader(thread: &mut Thread<Whole>) -> bool {
        context(thread).group.lock().shaders.find(u64::from(SHADER)).is_some()
    }

    fn has_program(thread: &mut Thread<Whole>) -> bool {
        context(thread).group.lock().programs.find(u64::from(PROGRAM)).is_some()
    }

    #[test]
    fn deleted_shader_keeps_its_name_until_the_last_detach() {
        let (mut thread, _, _) = with_program();
        context(&mut thread).group.lock().programs.create(9);
        attach_shader(&mut thread, &Nothing, PROGRAM, SHADER);
        attach_shader(&mut thread, &Nothing, PROGRAM, SHADER);
        attach_shader(&mut thread, &Nothing, 9, SHADER);
        delete_shader(&mut thread, &Nothing, SHADER);
        detach_shader(&mut thread, &Nothing, PROGRAM, SHADER);
        detach_shader(&mut thread, &Nothing, PROGRAM, SHADER);
        assert!(has_shader(&mut thread));
        delete_program(&mut thread, &Nothing, 9);
        assert!(!has_shader(&mut thread));
    }

    #[test]
    fn unattached_shader_is_deleted_at_once() {
        let (mut thread, _, _) = with_program();
        delete_shader(&mut thread, &Nothing, SHADER);
        assert!(!has_shader(&mut thread));
    }

    #[test]
    fn deleted_program_keeps_its_name_while_it_is_current() {
        let (mut thread, program, _) = with_program();
        attach_shader(&mut thread, &Nothing, PROGRAM, SHADER);
        use_program(&mut thread, &Nothing, PROGRAM);
        delete_program(&mut thread, &Nothing, PROGRAM);
        delete_shader(&mut thread, &Nothing, SHADER);
        assert!(has_program(&mut thread) && has_shader(&mut thread));
        use_program(&mut thread, &Nothing, PROGRAM);
        assert_eq!(context(&mut thread).program, program);
        use_program(&mut thread, &Nothing, 0);
        assert!(!has_program(&mut thread) && !has_shader(&mut thread));
        assert!(context(&mut thread).program.is_none());
    }

    #[test]
    fn name_without_a_program_changes_nothing() {
        let (mut thread, program, _) = with_program();
        use_program(&mut thread, &Nothing, PROGRAM);
        use_program(&mut thread, &Nothing, 1234);
        assert_eq!(context(&mut thread).program, program);
    }

    #[test]
    fn linked_program_keeps_the_sources_of_its_link() {
        let (mut thread, program, shader) = with_program();
        attach_shader(&mut thread, &Nothing, PROGRAM, SHADER);
        link_program(&mut thread, &Nothing, program, false);
        context(&mut thread).group.lock().shaders.get_mut(shader).unwrap().source = String::new();
        detach_shader(&mut thread, &Nothing, PROGRAM, SHADER);
        delete_shader(&mut thread, &Nothing, SHADER);
        let group = context(&mut thread).group.lock();
        let stages = &group.programs.get(program).unwrap().last_link.stages;
        let sources: Vec<_> = stages.iter().map(|stage| stage.source.as_str()).collect();
        assert_eq!(sources, ["void main() {}"]);
    }

    fn program_of(thread: &mut Thread<Whole>, program: Ref<Program>) -> Program<Whole> {
        context(thread).group.lock().programs.get(program).unwrap().clone()
    }

    #[test]
    fn parameters_that_change_after_a_link_are_those_of_the_next() {
        let (mut thread, program, _) = with_program();
        let set = |thread: &mut Thread<Whole>, location| {
            let mut group = context(thread).group.lock();
            let next = &mut group.programs.get_mut(program).unwrap().next_link;
            next.attrib_locations.insert("place".to_owned(), location);
        };
        set(&mut thread, 3);
        link_program(&mut thread, &Nothing, program, false);
        set(&mut thread, 4);
        let found = program_of(&mut thread, program);
        assert_eq!(found.last_link.parameters.attrib_locations["place"], 3);
        assert_eq!(found.next_link.attrib_locations["place"], 4);
    }

    #[test]
    fn link_sees_the_source_from_which_a_shader_was_compiled() {
        let check = |compilation, source: &str, is_compiled| {
            let (mut thread, program, shader) = with_program();
            attach_shader(&mut thread, &Nothing, PROGRAM, SHADER);
            let mut group = context(&mut thread).group.lock();
            let found = group.shaders.get_mut(shader).unwrap();
            found.compilation = compilation;
            found.compiled_source = "earlier".to_owned();
            drop(group);
            link_program(&mut thread, &Nothing, program, false);
            let stage = program_of(&mut thread, program).last_link.stages.remove(0);
            assert_eq!((stage.source.as_str(), stage.is_compiled), (source, is_compiled));
        };
        check(Compilation::Never, "void main() {}", false);
        check(Compilation::OfSource, "void main() {}", true);
        check(Compilation::OfEarlierSource, "earlier", true);
    }

    /// Links a program with these outcomes, as queried after each link; returns the numbers of the earlier links.
    fn earlier_links(outcomes: &[Outcome]) -> Vec<u32> {
        let (mut thread, program, _) = with_program();
        for (number, outcome) in (0..).zip(outcomes) {
            let number_of_link = |program: &mut Program<Whole>| {
                program.next_link.attrib_locations.insert(String::new(), number);
            };
            number_of_link(context(&mut thread).group.lock().programs.get_mut(program).unwrap());
            link_program(&mut thread, &Nothing, program, false);
            context(&mut thread).group.lock().programs.get_mut(program).unwrap().linked = *outcome;
        }
        let links = program_of(&mut thread, program).earlier_links;
        links.iter().map(|link| link.parameters.attrib_locations[""]).collect()
    }

    #[test]
    fn earlier_links_are_those_that_may_have_made_an_executable() {
        use Outcome::{Failed, Succeeded, Unknown};
        assert_eq!(earlier_links(&[Succeeded]), [0_u32; 0]);
        assert_eq!(earlier_links(&[Succeeded, Failed]), [0]);
        assert_eq!(earlier_links(&[Succeeded, Failed, Failed]), [0]);
        assert_eq!(earlier_links(&[Succeeded, Unknown, Failed]), [0, 1]);
        assert_eq!(earlier_links(&[Unknown, Succeeded, Unknown]), [1]);
        assert_eq!(earlier_links(&[Failed, Unknown]), [0_u32; 0]);
        assert_eq!(earlier_links(&[Unknown; 9]), [4, 5, 6, 7]);
    }

    #[test]
    fn second_shader_of_a_kind_is_not_attached() {
        let (mut thread, program, shader) = with_program();
        let mut group = context(&mut thread).group.lock();
        let other = group.shaders.create(9);
        let of_kind = group.shaders.create(10);
        group.shaders.get_mut(other).unwrap().kind = 1;
        drop(group);
        for name in [SHADER, 9, 10] {
            attach_shader(&mut thread, &Nothing, PROGRAM, name);
        }
        assert_eq!(program_of(&mut thread, program).shaders, [shader, other]);
        let group = context(&mut thread).group.lock();
        assert_eq!(group.shaders.get(of_kind).unwrap().attachments, 0);
    }

    #[test]
    fn refused_varyings_change_nothing() {
        use crate::memory::tests::Bytes;
        let (mut thread, program, _) = with_program();
        // Two pointers, and the strings `a` and `bc`.
        let mut bytes: Vec<u8> =
            [0x1010_u64, 0x1012].iter().flat_map(|it| it.to_le_bytes()).collect();
        bytes.extend(b"a\0bc\0");
        let memory = Bytes(0x1000, bytes);
        set_feedback_varyings(&mut thread, &memory, program, 2, 0x1000, GL_SEPARATE_ATTRIBS);
        let set = program_of(&mut thread, program).next_link;
        assert_eq!(set.feedback_varyings, ["a", "bc"]);
        assert_eq!(set.feedback_mode, GL_SEPARATE_ATTRIBS);
        for (count, mode) in [(1, 0), (-1, GL_INTERLEAVED_ATTRIBS)] {
            set_feedback_varyings(&mut thread, &memory, program, count, 0x1000, mode);
            assert_eq!(program_of(&mut thread, program).next_link, set);
        }
        set_feedback_varyings(&mut thread, &memory, program, 0, 0, GL_INTERLEAVED_ATTRIBS);
        assert!(program_of(&mut thread, program).next_link.feedback_varyings.is_empty());
    }

    /// A program with the variable of two names, and whether the driver has a transform feedback that is active.
    struct Driver(crate::memory::tests::Bytes, Option<bool>);

    impl Memory for Driver {
        fn read(&self, address: u64, into: &mut [u8]) -> bool {
            self.0.read(address, into)
        }

        fn text_len(&self, address: u64, most: u64) -> u64 {
            self.0.text_len(address, most)
        }

        fn is_feeding_back(&self) -> Option<bool> {
            self.1
        }
    }

    #[test]
    fn varyings_that_are_set_during_a_feedback_are_refused() {
        let check = |has_varyings: bool, is_active: Option<bool>, is_refused: bool| {
            let (mut thread, program, shader) = with_program();
            attach_shader(&mut thread, &Nothing, PROGRAM, SHADER);
            context(&mut thread).version = (3, 0);
            context(&mut thread).group.lock().shaders.get_mut(shader).unwrap().compilation =
                Compilation::OfSource;
            // Two pointers, and the strings `a` and `bc`.
            let mut bytes: Vec<u8> =
                [0x1010_u64, 0x1012].iter().flat_map(|it| it.to_le_bytes()).collect();
            bytes.extend(b"a\0bc\0");
            let memory = Driver(crate::memory::tests::Bytes(0x1000, bytes), is_active);
            let count = i32::from(has_varyings);
            let mode = GL_INTERLEAVED_ATTRIBS;
            set_feedback_varyings(&mut thread, &memory, program, count, 0x1000, mode);
            link_program(&mut thread, &Nothing, program, false);
            context(&mut thread).default_feedback_program = program;
            context(&mut thread).default_feedback_is_active = true;
            let mode = GL_SEPARATE_ATTRIBS;
            set_feedback_varyings(&mut thread, &memory, program, 2, 0x1000, mode);
            let next = program_of(&mut thread, program).next_link;
            let is_new = next.feedback_varyings == ["a", "bc"] && next.feedback_mode == mode;
            assert_eq!(!is_new, is_refused, "{has_varyings} {is_active:?}");
        };
        check(true, None, true);
        // The driver refuses to begin.
        check(false, None, false);
        // The program is not current, because it could not be linked: the driver began with another one.
        check(false, Some(true), true);
        check(true, Some(false), false);
    }

    #[test]
    fn executable_in_use_is_the_new_one_where_the_program_was_linked() {
        let (mut thread, program, _) = with_program();
        use_program(&mut thread, &Nothing, PROGRAM);
        link_program(&mut thread, &Nothing, program, false);
        let linked_at = program_of(&mut thread, program).linked_at;
        assert_eq!(context(&mut thread).program_used_at, linked_at);
        use_program(&mut thread, &Nothing, 0);
        let [bound, other] = [1, 2].map(|name| context(&mut thread).pipelines.create(name));
        for pipeline in [bound, other] {
            use_stages(&mut thread, &Nothing, pipeline, 0b11, program);
        }
        context(&mut thread).pipeline = bound;
        link_program(&mut thread, &Nothing, program, false);
        let linked_at = program_of(&mut thread, program).linked_at;
        let used_at = |thread: &mut Thread<Whole>, pipeline| {
            let pipeline = context(thread).pipelines.get(pipeline).unwrap();
            pipeline.stages_used_at.iter().map(|(bit, at)| (*bit, *at)).collect::<Vec<_>>()
        };
        assert_eq!(used_at(&mut thread, bound), [(1, linked_at), (2, linked_at)]);
        assert_eq!(used_at(&mut thread, other), [(1, linked_at), (2, linked_at)]);
    }

    #[test]
    fn executable_in_use_is_an_earlier_one_after_a_link_in_another_context() {
        let (mut thread, program, _) = with_program();
        use_program(&mut thread, &Nothing, PROGRAM);
        let group = context(&mut thread).group.clone();
        let mut other = Thread::<Whole>::new(thread.process.clone(), 2);
        other.context = Some(Box::new(Context::new(2, group, (3, 2))));
        link_program(&mut other, &Nothing, program, false);
        let is_earlier = |thread: &mut Thread<Whole>| {
            program_of(thread, program).linked_at > context(thread).program_used_at
        };
        assert!(is_earlier(&mut thread));
        use_program(&mut thread, &Nothing, PROGRAM);
        assert!(!is_earlier(&mut thread));
    }
}
