//! `gapii-ctl`: the control tool, a client of gapiid.
//!
//! Code that the daemon or other tools need is elsewhere; for example, the crate `gapii_trace` reads traces.

mod args;
mod bundle;
mod call_text;
mod capture;
mod capture_answer;
mod check;
mod checkpoints;
mod cli;
mod comeback;
mod commands;
mod connection;
mod crash_report;
mod elf;
mod emptiness;
mod ending;
mod failure;
mod family;
mod file_lock;
mod finished_file;
mod finisher;
mod frame_differences;
mod frame_ends;
mod frame_lines;
mod frame_plot;
mod frame_times;
mod frame_watch;
mod held;
mod installation;
mod json;
mod keeping;
mod launch;
mod listing;
mod local_time;
mod longest;
mod measuring;
mod named_json;
mod observer;
mod output_file;
mod pairing;
mod placed;
mod planned;
mod playing;
mod private_daemon;
mod program;
mod progress;
mod rate_table;
mod rates;
mod reading_progress;
mod replay_guard;
mod rounds;
mod run_daemons;
mod sandbox;
mod scratch;
mod set_up;
mod signals;
mod state_choice;
mod state_value;
mod status_page;
mod strictness;
mod summary_line;
mod table;
mod tables;
mod text;
mod tools;
mod trace_file;
mod via;
mod view;
mod wait;
mod watch;

use std::process::ExitCode;

use crate::failure::Kind;

fn main() -> ExitCode {
    let cli = cli::Cli::of_process();
    match cli.run() {
        Ok(status) => status.into(),
        Err(failure) => {
            if failure.kind != Kind::ReaderGone {
                text::say_failure(cli.command_name(), &failure);
            }
            failure.status_of(cli.command_name()).into()
        }
    }
}
