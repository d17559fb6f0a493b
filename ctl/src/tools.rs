//! Tools of `run --tool`: finds the files that a pattern names, and refuses a file that the dynamic linker would not load.
//! The dynamic linker itself checks them (`LD_TRACE_LOADED_OBJECTS`), so that no code of a tool runs outside of the program.
//!
//! It does not know what a tool does.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gapii_trace::filter;

use crate::elf::Elf;
use crate::failure::Failure;
use crate::installation;

/// Beginning of the names of functions that tools call in the shim.
const OWN_FUNCTION: &str = "gapii_";

/// Returns the files that the words of `--tool` name, each once. A word without a file of this name is a pattern, in whose
/// last part `*` and `?` match; its files are sorted by name.
pub fn find(words: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut tools = Vec::new();
    for word in words {
        for file in files_of(word)? {
            if !tools.contains(&file) {
                tools.push(file);
            }
        }
    }
    Ok(tools)
}

fn files_of(word: &Path) -> Result<Vec<PathBuf>, Failure> {
    let name = word.display();
    if let Ok(found) = word.canonicalize() {
        return match found.is_file() {
            true => Ok(vec![found]),
            false => Err(Failure::usage(format!(
                "--tool names {name}, which is not a file; write `--tool FILE.so`"
            ))),
        };
    }
    let pattern = word.file_name().and_then(OsStr::to_str).unwrap_or_default();
    if !pattern.contains(['*', '?']) {
        return Err(Failure::usage(format!(
            "--tool names {name}, which does not exist; write `--tool FILE.so`"
        )));
    }
    let folder = word.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let unreadable = |error: io::Error| {
        Failure::system(format!("can't look for {name} in {}: {error}", folder.display()))
    };
    let entries = folder.read_dir().map_err(unreadable)?.collect::<Result<Vec<_>, _>>();
    let names = entries.map_err(unreadable)?.into_iter().map(|entry| entry.path());
    let fits = |path: &PathBuf| {
        let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        filter::fits(pattern, &name) && path.is_file()
    };
    let mut files: Vec<_> =
        names.filter(fits).filter_map(|path| path.canonicalize().ok()).collect();
    files.sort();
    match files.is_empty() {
        true => Err(Failure::usage(format!(
            "--tool {name} fits no file; `ls {name}` says the same, and `--tool FILE.so` names one"
        ))),
        false => Ok(files),
    }
}

/// Fails if the dynamic linker would not load one of `tools` beside `shim`, or if the program is a library.
pub fn check(tools: &[PathBuf], shim: &Path, program: Option<&Path>) -> Result<(), Failure> {
    if tools.is_empty() {
        return Ok(());
    }
    if let Some(program) = program.filter(|path| Elf::of(path).is_ok_and(|elf| elf == Elf::Library))
    {
        return Err(Failure::usage(format!(
            "{} is a library, not a program: --tool takes one file; quote a pattern, as in `--tool 'tools/*.so'`, and \
             write -- before the program",
            program.display()
        )));
    }
    tools.iter().try_for_each(|tool| check_file(tool, shim))
}

fn check_file(tool: &Path, shim: &Path) -> Result<(), Failure> {
    let name = tool.display();
    let kind = Elf::of(tool)
        .map_err(|error| Failure::system(format!("can't read the tool {name}: {error}")))?;
    let why = match kind {
        Elf::Library => complaint(tool, shim),
        Elf::Program | Elf::Static => Some("it is a program; link it with -shared".to_owned()),
        Elf::Foreign { is_64: false } => Some("it is a 32-bit library".to_owned()),
        Elf::Foreign { is_64: true } => Some("it is for another processor".to_owned()),
        Elf::Other => Some("it is not a library".to_owned()),
    };
    why.map_or(Ok(()), |why| {
        Err(Failure::usage(format!(
            "the tool {name} can't be loaded into a program: {why}; `file {name}` says what it is"
        )))
    })
}

/// Asks the dynamic linker what it lacks to load `tool` after `shim`. `None` if it lacks nothing, or if it can't be asked.
fn complaint(tool: &Path, shim: &Path) -> Option<String> {
    let output = Command::new("/proc/self/exe")
        .env("LD_TRACE_LOADED_OBJECTS", "1")
        .env("LD_WARN", "yes")
        .env("LD_BIND_NOW", "yes")
        .env("LD_PRELOAD", installation::preloaded([shim, tool]))
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    text.lines().find_map(|line| reason(line.trim(), tool))
}

/// Returns what a line of the dynamic linker says against `tool`.
fn reason(line: &str, tool: &Path) -> Option<String> {
    let name = tool.to_string_lossy();
    if let Some(library) = line.strip_suffix(" => not found") {
        return Some(format!("it needs {library}, which is not found; set LD_LIBRARY_PATH"));
    }
    if let Some(symbol) = line.strip_prefix("undefined symbol: ") {
        // Other symbols may be in the program.
        let (symbol, library) = symbol.split_once(['\t', ' '])?;
        let is_ours = symbol.starts_with(OWN_FUNCTION) && library.contains(&*name);
        return is_ours.then(|| {
            format!("it calls {symbol}, which this libgapii.so does not have; build it with this gapii.h")
        });
    }
    let refused =
        line.strip_prefix("ERROR: ld.so: object ").filter(|line| line.contains(&*name))?;
    let why = refused.split_once('(').and_then(|(_, why)| why.split_once(')'));
    Some(why.map_or(refused, |(why, _)| why).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_names_its_files_in_order_and_each_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().canonicalize().expect("it is there").join(name);
        for name in ["b.so", "a.so", "a.txt"] {
            std::fs::write(path(name), "").expect("a file");
        }
        let found = |words: &[&str]| find(&words.iter().map(|word| path(word)).collect::<Vec<_>>());
        assert_eq!(found(&["*.so", "a.so"]).ok(), Some(vec![path("a.so"), path("b.so")]));
        assert_eq!(found(&["b.so", "?.so"]).ok(), Some(vec![path("b.so"), path("a.so")]));
        for (word, hint) in
            [("*.x", "fits no file"), ("c.so", "does not exist"), (".", "not a file")]
        {
            let failure = found(&[word]).expect_err(word);
            assert!(failure.sentence.contains(hint), "{failure}");
        }
    }

    #[test]
    fn complaints_of_the_dynamic_linker_are_understood() {
        let tool = Path::new("/t/tool.so");
        let check = |line, expected: Option<&str>| {
            let reason = reason(line, tool);
            assert_eq!(reason.is_some(), expected.is_some(), "{line}: {reason:?}");
            let (reason, expected) = (reason.unwrap_or_default(), expected.unwrap_or_default());
            assert!(reason.contains(expected), "{line}: {reason}");
        };
        check("libnone.so.1 => not found", Some("it needs libnone.so.1"));
        check("undefined symbol: gapii_fly\t(/t/tool.so)", Some("it calls gapii_fly"));
        check("undefined symbol: of_the_program\t(/t/tool.so)", None);
        check("libc.so.6 => /lib/libc.so.6 (0x00007f)", None);
        check(
            "ERROR: ld.so: object '/t/tool.so' from LD_PRELOAD cannot be preloaded (invalid ELF header): ignored.",
            Some("invalid ELF header"),
        );
    }
}
