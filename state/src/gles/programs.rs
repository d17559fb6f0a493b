//! Shaders and programs: deferred deletion of names, and the sources from which a program was linked.

use crate::{Context, GroupState, Memory, Program, Ref, Scope, Scoped as _, Shader, Stage, Thread};

/// Attaches a shader to a program.
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
    let Some(program) = group.programs.get_mut(program) else { return };
    if shader.is_none() || program.shaders.contains(&shader) {
        return;
    }
    program.shaders.push(shader);
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
    if name != 0 && context.program.name() == name {
        return;
    }
    let found = context.caches.programs.find(&context.group, name, |group| &mut group.programs);
    if name != 0 && found.is_none() {
        return;
    }
    let before = std::mem::replace(&mut context.program, found);
    if std::mem::take(&mut context.program_is_deleted) {
        remove_program(&mut context.group.lock(), before);
    }
}

/// Notes the shaders from which a program is linked, and forgets its uniforms.
pub fn link_program<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    program: Ref<Program>,
) {
    let Some(context) = thread.context.as_deref() else { return };
    let mut group = context.group.lock();
    let attached = group.programs.get(program).map(|it| it.shaders.clone()).unwrap_or_default();
    let stage = |shader: Ref<Shader>| {
        let found = group.shaders.get(shader)?;
        Some(Stage { shader, kind: found.kind, source: found.source.clone() })
    };
    let stages = attached.into_iter().filter_map(stage).collect();
    if let Some(program) = group.programs.get_mut(program) {
        relink(program, stages);
    }
}

fn relink<S: Scope>(program: &mut Program<S>, stages: Vec<Stage>) {
    program.stages = stages;
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
        relink(program, vec![Stage { shader: Ref::NONE, kind, source }]);
        if S::WHOLE
            && let Some(program) = program.whole()
        {
            program.separable = true;
        }
    }
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
    let attached = group.programs.get_mut(program).map(|it| std::mem::take(&mut it.shaders));
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
        link_program(&mut thread, &Nothing, program);
        context(&mut thread).group.lock().shaders.get_mut(shader).unwrap().source = String::new();
        detach_shader(&mut thread, &Nothing, PROGRAM, SHADER);
        delete_shader(&mut thread, &Nothing, SHADER);
        let group = context(&mut thread).group.lock();
        let stages = &group.programs.get(program).unwrap().stages;
        let sources: Vec<_> = stages.iter().map(|stage| stage.source.as_str()).collect();
        assert_eq!(sources, ["void main() {}"]);
    }
}
