//! Starts and stops captures and plays traces for the search for faults of snapshots, as `gapii-ctl` does, but many in
//! one process: connections stay open, and the driver is loaded once.
//!
//! It also decodes blocks for the counts of instructions.
//!
//! Each line of standard input is a request, and each gets a line of JSON on standard output: an object with what was
//! asked for, or with `error`. It keeps only connections and the last trace between
//! requests. A crash of the driver in a replay ends it, and its user starts it again.
//!
//! | request | answer |
//! |---|---|
//! | `start SOCKET FILE` | a capture of the only application of the daemon at SOCKET has its first command |
//! | `settle SOCKET` | that capture has got no more commands for a while |
//! | `stop SOCKET` | that capture has ended |
//! | `info FILE` | `info`: what `gapii-ctl info --json` prints |
//! | `decode FILE` | `commands`: the number in the first block, which was decoded several times |
//! | `play FILE` | `report`: what `gapii-ctl replay --verify --json` prints; `tail` if the trace is cut or damaged |

#![forbid(unsafe_code)]

mod captures;
mod client;
mod decoding;
mod traces;

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::captures::Captures;
use crate::traces::Traces;

fn main() {
    let (mut captures, mut traces) = (Captures::default(), Traces::default());
    for line in std::io::stdin().lines() {
        let Ok(line) = line else { break };
        let words: Vec<&str> = line.split(' ').collect();
        let answer = answer(&words, &mut captures, &mut traces);
        let answer = answer.unwrap_or_else(|error| json!({ "error": error }));
        let mut out = std::io::stdout().lock();
        if writeln!(out, "{answer}").and_then(|()| out.flush()).is_err() {
            break;
        }
    }
}

/// The answer to a request, or why it could not be done.
fn answer(words: &[&str], captures: &mut Captures, traces: &mut Traces) -> Result<Value, String> {
    match words {
        ["start", socket, file] => captures.start(socket, Path::new(file)),
        ["settle", socket] => captures.settle(socket),
        ["stop", socket] => captures.stop(socket),
        ["info", file] => return traces.info(Path::new(file)),
        ["decode", file] => return decoding::decode(Path::new(file)),
        ["play", file] => return traces.play(Path::new(file)),
        _ => Err(format!("no such request: {}", words.join(" "))),
    }
    .map(|()| json!({}))
}
