//! `Reason`: why a capture has no command or no frame, with a stable name for JSON and a sentence. A sentence says what helps,
//! in backticks. `docs/troubleshooting.md` has each of them, as it stands here.
//!
//! It finds no reason; it only has their words.

use serde::Serialize;

/// Defines [`Reason`]: the variants with their docstrings and sentences.
macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $name:ident => $sentence:literal;)+) => {
        /// Why a capture has no command or no frame.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Reason {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Reason {
            /// All reasons, in the order of the document.
            #[cfg(test)]
            const ALL: &[Reason] = &[$(Reason::$name),+];

            /// The sentence, with words in capitals from [`WORDS`] in place of names and numbers.
            const fn sentence(self) -> &'static str {
                match self {
                    $(Reason::$name => $sentence,)+
                }
            }
        }
    };
}

reasons! {
    /// The program is linked statically.
    StaticProgram => "PROGRAM is linked statically, so the shim cannot be loaded into it; build it as a dynamic program, or link it with the shim: `pkg-config --libs gapii-static`";
    /// The program has the set-uid or set-gid bit.
    SetId => "PROGRAM is a set-uid or set-gid program, into which the system loads no other library; record a copy without these bits: `cp PROGRAM copy && gapii-ctl run -- ./copy`";
    /// The program's file has capabilities.
    FileCapabilities => "PROGRAM has file capabilities, so the system loads no other library into it; record a copy without them: `cp PROGRAM copy && gapii-ctl run -- ./copy`";
    /// The program is a 32-bit program.
    OtherWordSize => "PROGRAM is a 32-bit program, and gapii records 64-bit programs only; `file PROGRAM` shows the kind of a program";
    /// The program is for another processor.
    OtherProcessor => "PROGRAM is a program for another processor than this gapii; `file PROGRAM` shows the processor";
    /// A sandbox does not pass the environment on.
    SandboxEnvironment => "PROGRAM (process PID) runs in a sandbox or container that does not pass LD_PRELOAD and GAPII_SOCKET on; start gapii inside of it: let the sandbox run `gapii-ctl run -- PROGRAM`";
    /// A sandbox does not have the shim.
    SandboxShim => "PROGRAM (process PID) runs in a sandbox or container that does not have the shim SHIM; bind the shim's folder into it, with bwrap by `--ro-bind FOLDER FOLDER`";
    /// A sandbox does not have the daemon's socket.
    SandboxSocket => "PROGRAM (process PID) runs in a sandbox or container that hides the daemon's socket SOCKET; bind the socket's folder into it, with bwrap by `--bind FOLDER FOLDER`";
    /// The process that started the program cleared the environment.
    ClearedEnvironment => "PROGRAM (process PID) was started without LD_PRELOAD and GAPII_SOCKET, because the process that started it cleared the environment; record that program alone: `gapii-ctl run -- PROGRAM`";
    /// The program was not started by `run`.
    NotStartedByRun => "PROGRAM (process PID) runs without the shim; start it with `gapii-ctl run --idle -- PROGRAM`, and attach to it then";
    /// The program has its own copy of a driver library.
    OtherLibrary => "PROGRAM (process PID) has loaded LIBRARY, which is another copy of the driver library than the one that the shim stands for; let the program use the system's library: in programs that contain Chromium, `gapii-ctl run -- PROGRAM --use-angle=gles-egl` does that";
    /// The program has loaded Vulkan, and makes no recorded command.
    Vulkan => "PROGRAM (process PID) has loaded Vulkan (LIBRARY), which is not recorded, and has made no command of OpenGL, EGL, GLX or Level Zero; GTK 4 uses OpenGL after `export GSK_RENDERER=gl`, SDL after `export SDL_RENDER_DRIVER=opengl`";
    /// The program made commands of OpenGL in threads without a context.
    WithoutContext => "the program made COUNT of OpenGL in threads that have no current context as far as the shim has seen; such commands are not recorded; let `gapii-ctl doctor` check what a program needs";
    /// There is no display.
    NoDisplay => "PROGRAM made no command of OpenGL, EGL, GLX or Level Zero, and may have found no display: DISPLAYS; `gapii-ctl doctor` checks the display";
    /// The program uses no graphics.
    NoGraphics => "PROGRAM made no command of OpenGL, EGL, GLX or Level Zero, and no library of a graphics API was seen in it; if it only asks another program to draw, record that program: `gapii-ctl run -- OTHER`";
    /// The program gave its task to a process that ran already.
    HandedOver => "PROGRAM handed over to process PID, which ran already without this run's shim, and ended; end that process first: `kill PID`";
    /// The program ended before its first command.
    EndedBeforeCommand => "PROGRAM ended with status STATUS before its first command; look at what it printed, and let `gapii-ctl doctor` check what a program needs";
    /// A signal ended the program before its first command.
    CrashedBeforeCommand => "PROGRAM was ended by signal SIGNAL before its first command; `gdb --args PROGRAM` shows where";
    /// A signal ended the program inside a command, before its first frame.
    CrashedInCommand => "the program was ended by signal SIGNAL inside COMMAND, before its first frame; `gdb --args PROGRAM` shows where";
    /// A command did not return, and no frame had ended.
    CommandInFlight => "the program's COMMAND had not returned when the capture ended; give it more time with `--seconds`, or look with `gdb -p PID` where it waits";
    /// No command came while the capture ran.
    NoCommand => "the program made no command of OpenGL, EGL, GLX or Level Zero meanwhile, or the end of a frame that the capture was to begin with did not come; `gapii-ctl watch` shows which programs make commands";
    /// No command fits the filter.
    Filtered => "no command that the program made fits the filter (FILTER), and no frame ended; without `--function`, `--thread` and `--api` all commands are recorded";
    /// The event of `--when` did not happen.
    EventDidNotHappen => "EVENT did not happen; without `--when` all commands are recorded";
    /// The program ended behind the event of `--when`.
    EndedAfterEvent => "EVENT happened, and the program ended before a recording could begin behind it; without `--when` all commands are recorded";
    /// A signal ended the program before its first frame.
    CrashedBeforeFrame => "the program was ended by signal SIGNAL before its first frame; `gapii-ctl dump TRACE` lists its commands up to there";
    /// The program ended before its first frame.
    EndedBeforeFrame => "the program ended before its first frame; `gapii-ctl dump TRACE` lists its commands up to there";
    /// Every swap failed.
    SwapsFailed => "the program's COUNT failed or did not return; `gapii-ctl dump TRACE` shows the results";
    /// A command that sets up contexts and surfaces failed.
    SetUpFailed => "the program's COMMAND failed, and it set up nothing after that; `gapii-ctl doctor` checks drivers and display";
    /// The program created no context.
    NoContext => "the program created no context; `gapii-ctl dump TRACE` lists what it did instead";
    /// The program made no context current.
    NoContextCurrent => "the program made none of its contexts current; `gapii-ctl dump TRACE` lists what it did instead";
    /// The program has a window and did not swap it.
    NotSwapped => "the program has a window surface and did not swap it meanwhile; record for a longer time with `--seconds`";
    /// The program draws to pbuffers or pixmaps.
    Offscreen => "the program draws to pbuffers or pixmaps and does not swap them, so --frames ends no capture of it; use `--frame-end`, `--seconds` or `gapii-ctl stop`";
    /// The program draws to framebuffer objects.
    NoSurface => "the program has no surface and draws to framebuffer objects at most, so --frames ends no capture of it; use `--frame-end`, `--seconds` or `gapii-ctl stop`";
    /// The program made no command that `--frame-end` names.
    NoNamedEnd => "the program made no command that ends a frame by `--frame-end`: RULE; `gapii-ctl dump TRACE` lists what it made";
    /// A program of Level Zero submitted nothing.
    NotSubmitted => "the program submitted no command list to a queue; record for a longer time with `--seconds`";
    /// The program ended no frame, for a reason that is not known.
    NoFrame => "the program ended no frame meanwhile; record for a longer time with `--seconds`";
}

/// The words that stand for names and numbers in a sentence.
const WORDS: [&str; 15] = [
    "COMMAND", "COUNT", "DISPLAYS", "EVENT", "FILTER", "FOLDER", "LIBRARY", "PID", "PROGRAM",
    "RULE", "SHIM", "SIGNAL", "SOCKET", "STATUS", "TRACE",
];

/// Why a capture has no command or no frame, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emptiness {
    pub reason: Reason,
    /// A sentence for people, with what to type in backticks.
    pub sentence: String,
}

impl Reason {
    /// Puts names and numbers in the places of [`WORDS`]. A word without a value stays as it is.
    pub fn with(self, values: &[(&str, &str)]) -> Emptiness {
        Emptiness { reason: self, sentence: filled(self.sentence(), values) }
    }
}

/// Replaces words by their values. A value is not searched for words.
fn filled(sentence: &str, values: &[(&str, &str)]) -> String {
    let is_of_word = |c: char| c.is_ascii_uppercase() || c == '_';
    let mut filled = String::new();
    let mut rest = sentence;
    while let Some(begin) = rest.find(is_of_word) {
        let (before, word) = rest.split_at(begin);
        let (word, behind) = word.split_at(word.find(|c| !is_of_word(c)).unwrap_or(word.len()));
        let value = values.iter().find(|(name, _)| *name == word && WORDS.contains(name));
        filled = filled + before + value.map_or(word, |(_, value)| value);
        rest = behind;
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::failure::Failure;

    fn name(reason: Reason) -> String {
        let name = serde_json::to_value(reason).expect("a name");
        name.as_str().expect("a string").to_owned()
    }

    #[test]
    fn values_are_put_in_once_and_other_words_stay() {
        let values = [("PROGRAM", "/opt/PID"), ("PID", "12"), ("EGL", "x")];
        let sentence = filled("PROGRAM (PID) of EGL, LD_PRELOAD, FOLDER and PROGRAMS", &values);
        assert_eq!(sentence, "/opt/PID (12) of EGL, LD_PRELOAD, FOLDER and PROGRAMS");
    }

    #[test]
    fn every_sentence_says_what_to_type() {
        for reason in Reason::ALL {
            let sentence = reason.sentence();
            assert!(!Failure::answer(sentence).to_type().is_empty(), "{sentence}");
            assert!(!sentence.ends_with('.'), "{sentence}");
        }
    }

    /// A reason stands in the document as a heading with its name, and its sentence on a line of its own.
    #[test]
    fn document_has_the_sentences_as_they_are_printed() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/troubleshooting.md");
        let document = std::fs::read_to_string(path).expect("the document");
        let sections = document.split("\n### `").skip(1);
        let described: BTreeSet<_> = sections
            .map(|section| {
                let (name, text) = section.split_once("`\n\n```\n").expect("a name and a sentence");
                (name.to_owned(), text.split_once("\n```\n").expect("one sentence").0.to_owned())
            })
            .collect();
        let expected: BTreeSet<_> = Reason::ALL
            .iter()
            .map(|reason| (name(*reason), reason.sentence().to_owned()))
            .collect();
        let lacks: Vec<_> = expected.difference(&described).collect();
        let has: Vec<_> = described.difference(&expected).collect();
        assert!(
            lacks.is_empty() && has.is_empty(),
            "the document lacks {lacks:#?} and has {has:#?}"
        );
    }
}
