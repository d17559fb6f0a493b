//! The command line: one definition from which parser, help, completions and man pages come.

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::args::Connect;
use crate::commands::{
    apps, blob, completions, diff, doctor, dump, export, info, list, man, montage, pair, relay,
    replay, run, save, start, state, stats, status, stop, verify, watch,
};
use crate::failure::Failure;

/// Record what a program issues to EGL and OpenGL ES, and look at the recording
#[derive(Parser, Debug)]
#[command(name = "gapii-ctl", version, max_term_width = 100, after_help = AFTER_HELP)]
pub struct Cli {
    #[command(flatten)]
    connect: Connect,

    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Exit status: that of the program for `run`; else 0 done, 1 the answer is no, 2 wrong usage, \
3 can't reach or not allowed";

#[derive(Subcommand, Debug)]
enum Command {
    /// Start a program and capture it from its first call
    Run(run::Run),
    /// Attach to a running application and capture it from its next frame
    Start(start::Start),
    /// Write the last frames of a program that was started with `run --keep-frames`
    Save(save::Save),
    /// End captures
    Stop(stop::Stop),
    /// Leave out what comes in captures that run, as a gap
    Pause(stop::Pause),
    /// Go on with captures that were paused; all there is is described anew
    Resume(stop::Resume),
    /// List the captures that run
    List(list::List),
    /// Show how the daemon is
    Status(status::Status),
    /// List the connected applications
    Apps(apps::Apps),
    /// Show what the connected applications do, again and again: frames, commands, bytes, waits, losses
    ///
    /// First the averages since each one connected, then what came since the last refresh; LOST is since it
    /// connected always. Commands are those that captures take; who is not captured has frames alone. A table
    /// on a terminal, else a line for each application.
    Watch(watch::Watch),
    /// Describe a trace
    Info(info::Info),
    /// List the commands of a trace
    Dump(dump::Dump),
    /// Show what the program had set up behind a command of a trace
    State(state::State),
    /// Count what a trace consists of: functions, frames, threads, memory, needless changes, and the
    /// driver's time where it was recorded with --timing
    Stats(stats::Stats),
    /// Compare two traces: where they begin to differ, and what occurs how often
    Diff(diff::Diff),
    /// Play a trace, and put its frames on a contact sheet
    Montage(montage::Montage),
    /// Write a trace in the format of another tool
    Export(export::Export),
    /// Play a trace against the driver of this machine
    Replay(replay::Replay),
    /// Write out memory that a trace holds, by its hash
    Blob(blob::Blob),
    /// Check a trace: structure, checksums, emitted + lost = produced
    Verify(verify::Verify),
    /// Make, show, renew and revoke what admits clients of other machines to this one's daemon
    Pair(pair::Pair),
    /// Say what is wrong with this set-up, and the command that mends it
    Doctor(doctor::Doctor),
    /// Pass on what a client of another machine says: what `--via ssh://` runs there
    #[command(hide = true)]
    Relay,
    /// Print the completions for a shell
    #[command(hide = true)]
    Completions(completions::Completions),
    /// Write the man pages into a folder
    #[command(hide = true)]
    Man(man::Man),
}

impl Cli {
    /// What this process' command line and environment say; ends the process where that makes no sense.
    pub fn of_process() -> Cli {
        Cli::of(&Cli::command().get_matches()).unwrap_or_else(|error| error.exit())
    }

    fn of(matches: &ArgMatches) -> Result<Cli, clap::Error> {
        let mut cli = Cli::from_arg_matches(matches)?;
        let is_typed = |id| matches.value_source(id) == Some(ValueSource::CommandLine);
        // What is typed comes before what the environment says.
        if is_typed("connect") && !is_typed("via") {
            cli.connect.via = None;
        }
        Ok(cli)
    }

    /// Does what the command line says; the exit status.
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
            Command::Dump(args) => dump::run(args),
            Command::State(args) => state::run(args),
            Command::Stats(args) => stats::run(args),
            Command::Diff(args) => diff::run(args),
            Command::Montage(args) => montage::run(args),
            Command::Export(args) => export::run(args),
            Command::Replay(args) => replay::run(args),
            Command::Blob(args) => blob::run(args),
            Command::Verify(args) => verify::run(args),
            Command::Doctor(args) => doctor::run(args, connect),
            Command::Pair(args) => pair::run(args),
            Command::Relay => relay::run(connect),
            Command::Completions(args) => completions::run(args),
            Command::Man(args) => man::run(args),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_consistent() {
        Cli::command().debug_assert();
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
            "gapii-ctl run --quit --keep-frames 3 -- prog",
            "gapii-ctl save --last 0",
            "gapii-ctl start --frames 0",
            "gapii-ctl start --name 12",
            "gapii-ctl start --bytes 12",
            "gapii-ctl start --if-slow hurry",
            "gapii-ctl dump",
            "gapii-ctl dump x --frames 3",
            "gapii-ctl dump x --resources y",
            "gapii-ctl dump x --at 3",
            "gapii-ctl replay x --at 3",
            "gapii-ctl replay x --images y --depth",
            "gapii-ctl montage x",
            "gapii-ctl montage x -o y --count 0",
            "gapii-ctl export x -o y",
            "gapii-ctl export x -o y --format bmp",
            "gapii-ctl export x --format json",
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
