//! Shaders and programs of a trace: their sources, what was attached when a program was linked, and whether the link is
//! known to have failed. A program is held until it is linked again, deleted, or at the end, because the program asks
//! later whether the link failed.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::text::text;

/// An object: index of the process, share group, and name.
pub type Key = (u32, u64, u64);

/// Writes a file: its name and its content.
pub type Write<'w> = dyn FnMut(&str, &[u8]) -> io::Result<()> + 'w;

/// Counts of the files that were written, and of the programs that were not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Number of files.
    pub files: u64,
    /// Links of a program that was written already.
    pub repeated: u64,
    /// Links that had failed in the recording.
    pub failed: u64,
    /// Links without sources: of program binaries, and of shaders that the trace does not have.
    pub without_sources: u64,
}

/// The shaders and programs.
#[derive(Debug, Default)]
pub struct Programs {
    shaders: BTreeMap<Key, Shader>,
    programs: BTreeMap<Key, Program>,
    /// Digests of what was written: texts that are equal have equal ones.
    written: BTreeSet<Vec<u8>>,
    summary: Summary,
}

#[derive(Debug, Default)]
struct Shader {
    stage: u32,
    source: Vec<u8>,
    /// The source when the shader was compiled last.
    compiled: Option<Vec<u8>>,
    /// Deleted, and gone once no program has it.
    is_deleted: bool,
}

#[derive(Debug, Default)]
struct Program {
    shaders: Vec<Key>,
    is_separable: bool,
    linked: Option<Linked>,
}

#[derive(Debug)]
struct Linked {
    /// Number of the command.
    seq: u64,
    text: Vec<u8>,
}

impl Programs {
    /// glCreateShader.
    pub fn create_shader(&mut self, key: Key, stage: u32) {
        self.shaders.insert(key, Shader { stage, ..Shader::default() });
    }

    /// glShaderSource.
    pub fn set_source(&mut self, key: Key, source: Vec<u8>) {
        if let Some(shader) = self.shaders.get_mut(&key) {
            shader.source = source;
        }
    }

    /// glCompileShader.
    pub fn compile(&mut self, key: Key) {
        if let Some(shader) = self.shaders.get_mut(&key) {
            shader.compiled = Some(shader.source.clone());
        }
    }

    /// glDeleteShader: the shader lives on while a program has it.
    pub fn delete_shader(&mut self, key: Key) {
        if let Some(shader) = self.shaders.get_mut(&key) {
            shader.is_deleted = true;
        }
        self.forget_if_unused(key);
    }

    /// glAttachShader.
    pub fn attach(&mut self, program: Key, shader: Key) {
        let shaders = &mut self.programs.entry(program).or_default().shaders;
        if !shaders.contains(&shader) {
            shaders.push(shader);
        }
    }

    /// glDetachShader.
    pub fn detach(&mut self, program: Key, shader: Key) {
        if let Some(program) = self.programs.get_mut(&program) {
            program.shaders.retain(|it| *it != shader);
        }
        self.forget_if_unused(shader);
    }

    /// glProgramParameteri with GL_PROGRAM_SEPARABLE.
    pub fn set_separable(&mut self, program: Key, is_separable: bool) {
        self.programs.entry(program).or_default().is_separable = is_separable;
    }

    /// glLinkProgram.
    pub fn link(&mut self, key: Key, seq: u64, write: &mut Write<'_>) -> io::Result<()> {
        self.write(key, write)?;
        let program = self.programs.entry(key).or_default();
        let shaders = program.shaders.iter().map(|key| {
            let shader = self.shaders.get(key)?;
            Some((shader.stage, shader.compiled.as_deref()?))
        });
        let shaders: Option<Vec<(u32, &[u8])>> = shaders.collect();
        match shaders.filter(|shaders| !shaders.is_empty()) {
            Some(shaders) => {
                let text = text(&shaders, program.is_separable);
                program.linked = Some(Linked { seq, text });
            }
            None => self.summary.without_sources += 1,
        }
        Ok(())
    }

    /// glCreateShaderProgramv: a separable program of one shader, which is linked.
    pub fn create_program(&mut self, key: Key, seq: u64, (stage, source): (u32, &[u8])) {
        let linked = Some(Linked { seq, text: text(&[(stage, source)], true) });
        self.programs.insert(key, Program { is_separable: true, linked, ..Program::default() });
    }

    /// glProgramBinary: a link without sources.
    pub fn load_binary(&mut self, key: Key, write: &mut Write<'_>) -> io::Result<()> {
        self.write(key, write)?;
        self.summary.without_sources += 1;
        Ok(())
    }

    /// glGetProgramiv returned that the last link had failed.
    pub fn link_failed(&mut self, key: Key) {
        let linked = self.programs.get_mut(&key).and_then(|program| program.linked.take());
        self.summary.failed += u64::from(linked.is_some());
    }

    /// glDeleteProgram.
    pub fn delete_program(&mut self, key: Key, write: &mut Write<'_>) -> io::Result<()> {
        self.write(key, write)?;
        let shaders = self.programs.remove(&key).map(|program| program.shaders);
        shaders.into_iter().flatten().for_each(|shader| self.forget_if_unused(shader));
        Ok(())
    }

    /// Writes the programs that are left.
    pub fn finish(mut self, write: &mut Write<'_>) -> io::Result<Summary> {
        let keys: Vec<Key> = self.programs.keys().copied().collect();
        keys.into_iter().try_for_each(|key| self.write(key, write))?;
        Ok(self.summary)
    }

    /// Writes the program as it was linked last, unless an equal one was written.
    fn write(&mut self, key: Key, write: &mut Write<'_>) -> io::Result<()> {
        let linked = self.programs.get_mut(&key).and_then(|program| program.linked.take());
        let Some(Linked { seq, text }) = linked else { return Ok(()) };
        if !self.written.insert(text.clone()) {
            self.summary.repeated += 1;
            return Ok(());
        }
        self.summary.files += 1;
        let name = key.2;
        write(&format!("program-{name}-at-{seq:06}.shader_test"), &text)
    }

    fn forget_if_unused(&mut self, key: Key) {
        let is_deleted = self.shaders.get(&key).is_some_and(|shader| shader.is_deleted);
        let is_used = || self.programs.values().any(|program| program.shaders.contains(&key));
        if is_deleted && !is_used() {
            self.shaders.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use gapii_commands::constants::{GL_FRAGMENT_SHADER, GL_VERTEX_SHADER};

    use super::*;

    const PROGRAM: Key = (0, 1, 9);
    const VERTEX: Key = (0, 1, 1);
    const FRAGMENT: Key = (0, 1, 2);

    /// A program that is linked by command 5, and one more link by command 6 after `between`.
    fn linked_twice(between: impl FnOnce(&mut Programs)) -> (Vec<(String, String)>, Summary) {
        let mut files = Vec::new();
        let mut write = |name: &str, text: &[u8]| {
            files.push((name.to_owned(), String::from_utf8_lossy(text).into_owned()));
            Ok(())
        };
        let mut programs = Programs::default();
        for (key, stage) in [(VERTEX, GL_VERTEX_SHADER), (FRAGMENT, GL_FRAGMENT_SHADER)] {
            programs.create_shader(key, stage);
            programs.set_source(key, b"old".to_vec());
            programs.compile(key);
            programs.attach(PROGRAM, key);
        }
        programs.link(PROGRAM, 5, &mut write).unwrap();
        between(&mut programs);
        programs.link(PROGRAM, 6, &mut write).unwrap();
        let summary = programs.finish(&mut write).unwrap();
        (files, summary)
    }

    #[test]
    fn program_is_written_as_it_was_linked() {
        let (files, summary) = linked_twice(|programs| {
            programs.set_source(VERTEX, b"new".to_vec());
            programs.compile(VERTEX);
            // Not compiled, so not linked.
            programs.set_source(FRAGMENT, b"later".to_vec());
        });
        assert_eq!(summary, Summary { files: 2, ..Summary::default() });
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["program-9-at-000005.shader_test", "program-9-at-000006.shader_test"]);
        let sources = |text: &str| [text.matches("old").count(), text.matches("new").count()];
        assert_eq!((sources(&files[0].1), sources(&files[1].1)), ([2, 0], [1, 1]));
        assert!(!files[1].1.contains("later"));
    }

    #[test]
    fn equal_program_is_written_once_and_a_failed_one_not() {
        let (_, summary) = linked_twice(|_| {});
        assert_eq!(summary, Summary { files: 1, repeated: 1, ..Summary::default() });
        let (files, summary) = linked_twice(|programs| programs.link_failed(PROGRAM));
        assert_eq!(summary, Summary { files: 1, failed: 1, ..Summary::default() });
        assert!(files[0].0.ends_with("000006.shader_test"));
    }

    #[test]
    fn deleted_shader_lives_while_it_is_attached() {
        let delete = |programs: &mut Programs| programs.delete_shader(VERTEX);
        assert_eq!(linked_twice(delete).1.repeated, 1);
        let (files, summary) = linked_twice(|programs| {
            programs.delete_shader(VERTEX);
            programs.detach(PROGRAM, VERTEX);
            assert!(!programs.shaders.contains_key(&VERTEX));
        });
        assert_eq!(summary.files, 2);
        assert!(!files[1].1.contains("vertex"));
    }

    #[test]
    fn program_without_sources_is_counted() {
        let mut programs = Programs::default();
        let mut write = |name: &str, _: &[u8]| panic!("{name}");
        programs.load_binary(PROGRAM, &mut write).unwrap();
        programs.attach(PROGRAM, VERTEX);
        programs.link(PROGRAM, 5, &mut write).unwrap();
        programs.delete_program(PROGRAM, &mut write).unwrap();
        let summary = programs.finish(&mut write).unwrap();
        assert_eq!(summary, Summary { without_sources: 2, ..Summary::default() });
    }
}
