//! Definition of the command line. Parser, help, completions and man pages are derived from it. A typed `--connect`
//! overrides a `GAPII_VIA` from the environment. A mistake ends with exit status 2, or 125 for `run`.

use std::ffi::OsString;

use clap::error::ContextKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::args::Connect;
use crate::commands::{
    anonymise, apps, blob, check, completions, diff, doctor, dump, export, frames, history, import,
    info, install, list, man, mcp, merge, montage, pair, pixel, play_part, problems, relay, replay,
    report, run, save, schema, start, state, stats, status, stop, threads, trim, ui, verify, watch,
};
use crate::failure::{Failure, RUN};
use crate::{json, text};

/// Record the commands of a program to EGL, GLX, OpenGL, OpenGL ES and Level Zero, and inspect the recording
#[derive(Parser, Debug)]
#[command(name = "gapii-ctl", version, max_term_width = 100, after_help = AFTER_HELP)]
pub struct Cli {
    #[command(flatten)]
    connect: Connect,

    #[command(subcommand)]
    command: Command,

    #[clap(skip)]
    name: String,
}

const AFTER_HELP: &str = "\
Exit status: `run` returns the program's own; with --quit, 0 after a complete capture. It returns 125 if gapii itself \
fails, also in place of the program's 0 if nothing or too little was recorded, 126 if the program cannot be executed, 127 if there is no such program. All other commands return 0 for success, \
1 for a negative answer (for example, a trace with damage), 2 for wrong usage, 3 if something can't be reached or is not \
allowed";

#[derive(Subcommand, Debug)]
enum Command {
    /// Start a program and capture it from its first call; with --wait, hold it there until a client begins
    #[command(visible_alias = "record")]
    Run(run::Run),
    /// Attach to a running application and capture it from its next frame
    #[command(visible_alias = "attach")]
    Start(start::Start),
    /// Write the kept frames of a program that was started with `run --keep-frames`
    Save(save::Save),
    /// End running captures; with --app, also let a waiting program go on unrecorded
    Stop(stop::Stop),
    /// Pause running captures: commands issued meanwhile are left out and counted as a gap
    Pause(stop::Pause),
    /// Resume paused captures: each continues with a fresh snapshot of the program's state
    Resume(stop::Resume),
    /// List the running captures
    List(list::List),
    /// Show the state of the daemon
    Status(status::Status),
    /// List the connected applications
    Apps(apps::Apps),
    /// Show rates of the connected applications, refreshed: frames, commands, bytes, waits, losses
    ///
    /// The first refresh shows averages since each application connected; later ones show the time since the
    /// previous refresh. LOST always counts from the connection. Only captured applications have command
    /// counts; the others have frames alone. On a terminal this is a view with keys that also begin and end
    /// captures (? lists them); otherwise it prints one line per application. Default interval: 1 s.
    #[command(visible_alias = "top")]
    Watch(watch::Watch),
    /// Summarize a trace
    Info(info::Info),
    /// Show a trace in the browser: frames, commands, state, pictures, textures, shaders
    Ui(ui::Ui),
    /// List the commands of a trace
    Dump(dump::Dump),
    /// List the frames of a trace
    Frames(frames::Frames),
    /// List the threads of a trace, and what happened: holds, waits, gaps, keyframes, and marks of the program
    Threads(threads::Threads),
    /// Show the state that the program had set up after a given command of a trace
    State(state::State),
    /// List what was done to an object: the commands that made, filled, changed, used and deleted it
    History(history::History),
    /// Print statistics of a trace: functions, frames, threads, memory, redundant state changes, and
    /// driver times and the slowest commands if it was recorded with --timing
    Stats(stats::Stats),
    /// List the problems of a trace: errors, failed commands and shaders, slow frames, repeated uploads, stalls, leaks, and
    /// what the trace lacks
    Problems(problems::Problems),
    /// Compare two traces: commands, answers of the driver and frames that differ, grouped by cause
    Diff(diff::Diff),
    /// Replay a trace and write a contact sheet of its frames
    Montage(montage::Montage),
    /// Write a report about a trace: one HTML file with graphs of its frames, thumbnails, statistics and problems
    Report(report::Report),
    /// Convert a trace to the format of another tool
    Export(export::Export),
    /// Make a trace of a recording of apitrace
    Import(import::Import),
    /// List which commands of a frame have changed a pixel
    Pixel(pixel::Pixel),
    /// Replay a trace on the driver of this machine
    Replay(replay::Replay),
    /// Replay the traces of a list and compare their frames with expected digests, several at once
    Check(check::Check),
    /// Replay a trace and write each frame as a PNG, as `replay --images` does
    DumpImages(replay::DumpImages),
    /// Write some frames of a trace as a trace of their own, which replays alone
    Trim(trim::Trim),
    /// Write traces of one session, such as those of two programs, as one trace
    Merge(merge::Merge),
    /// Write a trace again with noise in place of its texts, memory and names, so that it can be given away
    Anonymise(anonymise::Anonymise),
    /// Replay the beginning of a trace; `trim` runs this
    #[command(hide = true)]
    PlayPart(play_part::PlayPart),
    /// Write a blob (memory that a trace holds) to a file, by its hash
    Blob(blob::Blob),
    /// Check a trace: its structure, its checksums, and that every recorded command is in it or counted as lost
    Verify(verify::Verify),
    /// Create, list, renew and revoke credentials for remote clients of this machine's daemon
    Pair(pair::Pair),
    /// Diagnose this installation: each problem with the command that fixes it
    Doctor(doctor::Doctor),
    /// Relay a remote client to the daemon over standard input and output; `--via ssh://` runs this
    #[command(hide = true)]
    Relay,
    /// Answer an agent's questions about traces (Model Context Protocol), over standard input and output
    Mcp(mcp::Mcp),
    /// Install gapii for this user or for all users, from a source build or an unpacked archive; with --remove, take it away
    Install(install::Install),
    /// Print shell completions
    Completions(completions::Completions),
    /// Print the JSON Schema of what a command prints with --json
    Schema(schema::Schema),
    /// Write the man pages to a folder
    Man(man::Man),
}

/// Options for daemons of other machines. `run` refuses them, because it starts programs on this machine.
const OF_OTHER_MACHINES: [&str; 2] = ["via", "credentials"];

/// Commands that ask a daemon. The help of all others has no options that name one.
const ASK_A_DAEMON: [&str; 13] = [
    "run", "start", "save", "stop", "pause", "resume", "list", "status", "apps", "watch", "ui",
    "doctor", "relay",
];

impl Cli {
    /// The command line, with help that names only what a command uses.
    fn definition() -> clap::Command {
        let mut definition = Cli::command();
        let options: Vec<Arg> =
            definition.get_arguments().filter(|option| option.is_global_set()).cloned().collect();
        let commands: Vec<String> =
            definition.get_subcommands().map(|command| command.get_name().to_owned()).collect();
        for command in commands.iter().filter(|name| !ASK_A_DAEMON.contains(&name.as_str())) {
            // An option of the command itself takes the place of the common one with its name.
            let hidden: Vec<Arg> = options.iter().map(|option| option.clone().hide(true)).collect();
            definition = definition.mut_subcommand(command, |command| command.args(hidden));
        }
        let far = options.iter().filter(|it| OF_OTHER_MACHINES.contains(&it.get_id().as_str()));
        let hidden: Vec<Arg> = far.map(|option| option.clone().hide(true)).collect();
        definition = definition.mut_subcommand("run", |command| command.args(hidden));
        definition
    }

    /// Parses this process' command line and environment. On a mistake, prints it and exits with status 2; of `run`, with
    /// its own.
    pub fn of_process() -> Cli {
        let parsed = Cli::definition().try_get_matches().and_then(|matches| Cli::of(&matches));
        parsed.unwrap_or_else(|mut error| {
            // Help and version are answers.
            if !error.use_stderr() {
                error.exit();
            }
            let words: Vec<_> = std::env::args_os().collect();
            let command = meant_command(&words);
            if command != RUN {
                // That a mistyped option would be a value behind `--` helps where a program's options may stand there.
                error.remove(ContextKind::Suggested);
            }
            let failure = usage_failure(&error, &command);
            if words.iter().take_while(|word| *word != "--").any(|word| word == "--json") {
                json::ask();
                text::say_failure(&command, &failure);
            } else {
                // A failure to print is ignored, as for every other message.
                let _ = error.print();
            }
            std::process::exit(failure.status_of(&command).into())
        })
    }

    /// Name of the command, such as `start`.
    pub fn command_name(&self) -> &str {
        &self.name
    }

    fn of(matches: &ArgMatches) -> Result<Cli, clap::Error> {
        if wants_json(matches) {
            json::ask();
        }
        let mut cli = Cli::from_arg_matches(matches)?;
        let is_typed = |id| matches.value_source(id) == Some(ValueSource::CommandLine);
        // A typed --connect overrides a GAPII_VIA from the environment.
        if is_typed("connect") && !is_typed("via") {
            cli.connect.via = None;
        }
        cli.name = matches.subcommand_name().unwrap_or_default().to_owned();
        Ok(cli)
    }

    /// Runs the chosen command and returns its exit status.
    pub fn run(&self) -> Result<u8, Failure> {
        let connect = &self.connect;
        match &self.command {
            Command::Run(args) => run::run(args, connect),
            Command::Start(args) => start::run(args, connect),
            Command::Save(args) => save::run(args, connect),
            Command::Stop(args) => stop::run(args, connect),
            Command::Pause(args) => stop::pause(args, connect),
            Command::Resume(args) => stop::resume(args, connect),
            Command::List(args) => list::run(args, connect),
            Command::Status(args) => status::run(args, connect),
            Command::Apps(args) => apps::run(args, connect),
            Command::Watch(args) => watch::run(args, connect),
            Command::Info(args) => info::run(args),
            Command::Ui(args) => ui::run(args, connect),
            Command::Mcp(args) => mcp::run(args),
            Command::Dump(args) => dump::run(args),
            Command::Frames(args) => frames::run(args),
            Command::Threads(args) => threads::run(args),
            Command::State(args) => state::run(args),
            Command::History(args) => history::run(args),
            Command::Stats(args) => stats::run(args),
            Command::Problems(args) => problems::run(args),
            Command::Diff(args) => diff::run(args),
            Command::Montage(args) => montage::run(args),
            Command::Report(args) => report::run(args),
            Command::Export(args) => export::run(args),
            Command::Import(args) => import::run(args),
            Command::Replay(args) => replay::run(args),
            Command::Check(args) => check::run(args),
            Command::DumpImages(args) => replay::dump_images(args),
            Command::Pixel(args) => pixel::run(args),
            Command::Trim(args) => trim::run(args),
            Command::Merge(args) => merge::run(args),
            Command::Anonymise(args) => anonymise::run(args),
            Command::PlayPart(args) => play_part::run(args),
            Command::Blob(args) => blob::run(args),
            Command::Verify(args) => verify::run(args),
            Command::Doctor(args) => doctor::run(args, connect),
            Command::Pair(args) => pair::run(args),
            Command::Relay => relay::run(connect),
            Command::Install(args) => install::run(args, &Cli::definition()),
            Command::Completions(args) => completions::run(args, Cli::definition()),
            Command::Schema(args) => schema::run(args),
            Command::Man(args) => man::run(args, Cli::definition()),
        }
    }
}

/// Whether the command, or its own subcommand, was called with `--json`.
fn wants_json(matches: &ArgMatches) -> bool {
    matches.subcommand().is_some_and(|(_, inner)| {
        inner.try_get_one::<bool>("json").ok().flatten().copied().unwrap_or(false)
            || wants_json(inner)
    })
}

/// Returns the command of a command line with a mistake; an empty name if it has none.
fn meant_command(words: &[OsString]) -> String {
    let matches = Cli::definition().ignore_errors(true).try_get_matches_from(words).ok();
    matches.and_then(|matches| Some(matches.subcommand_name()?.to_owned())).unwrap_or_default()
}

/// The parser's error as one sentence.
fn usage_failure(error: &clap::Error, command: &str) -> Failure {
    let text = error.to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let sentence: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    let sentence = sentence.join(" ");
    let gap = if command.is_empty() { "" } else { " " };
    let help = format!("`gapii-ctl{gap}{command} --help` lists what it takes");
    Failure::usage(format!("{}; {help}", sentence.trim_start_matches("error: ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_consistent() {
        Cli::definition().debug_assert();
    }

    #[test]
    fn help_lists_completions_and_man_pages() {
        let help = Cli::definition().render_long_help().to_string();
        for name in ["completions", "man", "run", "doctor"] {
            let listed = help.lines().any(|line| line.split_whitespace().next() == Some(name));
            assert!(listed, "{name}: {help}");
        }
    }

    #[test]
    fn help_has_the_options_of_a_daemon_only_for_commands_that_ask_one() {
        let mut definition = Cli::definition();
        definition.build();
        for command in definition.get_subcommands_mut() {
            let help = command.render_long_help().to_string();
            let has_any =
                ["--connect", "--via", "--credentials"].iter().any(|it| help.contains(it));
            let name = command.get_name();
            assert_eq!(has_any, ASK_A_DAEMON.contains(&name), "{help}");
            // Of the commands that read a trace, `ui` alone also shows running programs.
            let reads_a_trace = command.get_positionals().any(|it| it.get_id() == "trace");
            assert!(!has_any || !reads_a_trace || name == "ui", "{help}");
        }
        // They are still taken, wherever they stand.
        for words in [["--via", "ssh://h", "verify", "x"], ["verify", "x", "--via", "ssh://h"]] {
            let matches =
                Cli::definition().try_get_matches_from([&["gapii-ctl"], &words[..]].concat());
            Cli::of(&matches.unwrap()).unwrap();
        }
    }

    #[test]
    fn help_of_run_does_not_offer_daemons_of_other_machines() {
        let help = |name: &str| {
            let mut definition = Cli::definition();
            definition.build();
            let command = definition.find_subcommand_mut(name).expect("a command");
            command.render_long_help().to_string()
        };
        let (run, start) = (help("run"), help("start"));
        assert!(run.contains("--connect") && !run.contains("--credentials <"), "{run}");
        assert!(!run.contains("--via <"), "{run}");
        let port = format!("The port of tls:// is {} by default", gapii_remote::PORT);
        assert!(start.contains("--via <") && start.contains(&port), "{start}");
    }

    /// Splits a line of examples as a shell does: words, quotes, and a remark after two blanks.
    fn words_of(example: &str) -> Vec<String> {
        let line = example.trim_start().split("  ").next().unwrap_or_default();
        let line = line.split(" | ").next().unwrap_or_default();
        let parts = line.split('\'').enumerate();
        let words = parts.flat_map(|(at, part)| match at % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        });
        words.collect()
    }

    #[test]
    fn examples_of_the_help_are_valid() {
        let mut count = 0;
        for command in Cli::command().get_subcommands() {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in text.lines().filter(|line| line.starts_with("  gapii-ctl ")) {
                let parsed = Cli::command().try_get_matches_from(words_of(line));
                let matches = parsed.unwrap_or_else(|error| panic!("{line}: {error}"));
                assert_eq!(matches.subcommand_name(), Some(command.get_name()), "{line}");
                count += 1;
            }
        }
        assert!(count > 10, "{count} examples");
    }

    #[test]
    fn words_of_the_program_are_its_own() {
        for line in [
            "gapii-ctl run --frames 3 -- prog --frames 0 -o x",
            "gapii-ctl run --frames 3 prog --frames 0 -o x",
        ] {
            let cli = Cli::try_parse_from(line.split(' ')).expect(line);
            assert!(matches!(cli.command, Command::Run(_)));
        }
    }

    #[test]
    fn names_of_other_tools_are_commands_here() {
        for (line, command) in [
            ("gapii record -- prog", "run"),
            ("gapii attach --app prog", "start"),
            ("gapii top", "watch"),
            ("gapii report x -o y.html", "report"),
            ("gapii dump-images x -o y --frames 3-5", "dump-images"),
            ("gapii dump x --calls 3-5", "dump"),
        ] {
            let matches = Cli::definition().try_get_matches_from(line.split(' ')).expect(line);
            assert_eq!(Cli::of(&matches).unwrap().command_name(), command, "{line}");
        }
        let help = Cli::definition().render_long_help().to_string();
        for name in ["record", "attach", "top", "dump-images"] {
            assert!(help.contains(name), "{name}: {help}");
        }
    }

    #[test]
    fn bad_command_lines_are_refused() {
        for line in [
            "gapii-ctl",
            "gapii-ctl dance",
            "gapii-ctl run",
            "gapii-ctl run --",
            "gapii-ctl run --frames 0 -- prog",
            "gapii-ctl run --frames -3 -- prog",
            "gapii-ctl run --seconds 0 -- prog",
            "gapii-ctl run --idle --frames 3 -- prog",
            "gapii-ctl run --idle --observe-frames 3 -- prog",
            "gapii-ctl run --idle --function glClear -- prog",
            "gapii-ctl run --keep-frames 3 --thread main -- prog",
            "gapii-ctl start --api vulkan",
            "gapii-ctl start --when soon",
            "gapii-ctl start --when frame=3 --skip-frames 3",
            "gapii-ctl run --idle --when gl-error -- prog",
            "gapii-ctl run --keep-frames 3 --when gl-error -- prog",
            "gapii-ctl run --observe-frames 0 -- prog",
            "gapii-ctl run --frame-pixels -- prog",
            "gapii-ctl run --idle -o x -- prog",
            "gapii-ctl run --keep-frames 0 -- prog",
            "gapii-ctl run --keep-frames 3 --frames 3 -- prog",
            "gapii-ctl run --keep-frames 3 --keep-bytes 1 -- prog",
            "gapii-ctl run --keep-frames 3 --keyframe-every 0 -- prog",
            "gapii-ctl run --keep-bytes 2M -- prog",
            "gapii-ctl run --idle --keep-frames 3 -- prog",
            "gapii-ctl run --wait --idle -- prog",
            "gapii-ctl run --wait --frames 3 -- prog",
            "gapii-ctl run --wait -o x -- prog",
            "gapii-ctl run --wait --keep-frames 3 -- prog",
            "gapii-ctl run --wait --timeout 0 -- prog",
            "gapii-ctl run --timeout 3 -- prog",
            "gapii-ctl run --quit --keep-frames 3 -- prog",
            "gapii-ctl save --last 0",
            "gapii-ctl start --frames 0",
            "gapii-ctl start --name 12",
            "gapii-ctl start --bytes 12",
            "gapii-ctl start --if-slow hurry",
            "gapii-ctl dump",
            "gapii-ctl dump x --frames 5-3",
            "gapii-ctl dump x --resources y",
            "gapii-ctl dump x --at 3",
            "gapii-ctl dump x --top 0",
            "gapii-ctl dump x --sort size",
            "gapii-ctl dump x --resources y --at 3 --top 5",
            "gapii-ctl dump x --resources y --at 3 --function glClear",
            "gapii-ctl replay x --at 3",
            "gapii-ctl replay x --images y --depth",
            "gapii-ctl montage x",
            "gapii-ctl montage x -o y --count 0",
            "gapii-ctl export x -o y",
            "gapii-ctl export x -o y --format bmp",
            "gapii-ctl export x --format json",
            "gapii-ctl import x",
            "gapii-ctl blob x",
            "gapii-ctl blob x no-hash",
            "gapii-ctl apps --connect tcp://localhost:1",
            "gapii-ctl apps --via localhost:1",
            "gapii-ctl watch --interval 0",
            "gapii-ctl watch --count 0",
            "gapii-ctl pair",
            "gapii-ctl pair new",
            "gapii-ctl pair new x --for 0d",
        ] {
            let error = Cli::try_parse_from(line.split(' ')).expect_err(line);
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }
}
