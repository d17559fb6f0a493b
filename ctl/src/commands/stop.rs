//! `stop`, `pause`, `resume`: control running captures, all of them unless a name, a number or `--app` selects some.
//! The client that started a capture gets its trace. Without a running capture the status is 1.

use clap::Args;
use gapii_control::{Event, Request, StopRequest};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Connect, Running};
use crate::connection::Connection;
use crate::failure::Failure;
use crate::text;

#[derive(Args, Debug)]
pub struct Stop {
    #[command(flatten)]
    running: Running,
}

#[derive(Args, Debug)]
pub struct Pause {
    #[command(flatten)]
    running: Running,
}

#[derive(Args, Debug)]
pub struct Resume {
    #[command(flatten)]
    running: Running,
}

/// Captures that were stopped, paused or resumed.
#[derive(Serialize, JsonSchema)]
pub struct Told {
    /// Numbers of the captures that were stopped, paused or resumed.
    captures: Vec<u64>,
    /// Number of waiting programs that go on unrecorded; only `stop` lets any go.
    let_go: u64,
}

pub fn run(args: &Stop, connect: &Connect) -> Result<u8, Failure> {
    tell(&args.running, connect, ("stopped", Request::Stop))
}

pub fn pause(args: &Pause, connect: &Connect) -> Result<u8, Failure> {
    tell(&args.running, connect, ("paused", Request::Pause))
}

pub fn resume(args: &Resume, connect: &Connect) -> Result<u8, Failure> {
    tell(&args.running, connect, ("resumed", Request::Resume))
}

fn tell(
    running: &Running,
    connect: &Connect,
    (done, request): (&str, fn(StopRequest) -> Request),
) -> Result<u8, Failure> {
    let mut connection = Connection::open(connect)?;
    let request = request(running.request());
    if running.capture.is_some() || !matches!(request, Request::Stop(_)) {
        connection.must_share()?;
    }
    match connection.ask(&request)? {
        Event::Stopped(told) if told.captures.is_empty() && told.let_go == 0 => Err(Failure::no(
            "nothing is being captured; `gapii-ctl start` begins a capture, `gapii-ctl apps` lists the programs",
        )),
        Event::Stopped(told) => {
            let captures = told.captures.len() as u64;
            if running.json.json {
                text::print_json(&Told { captures: told.captures, let_go: told.let_go })?;
                return Ok(0);
            }
            text::print(|out| {
                if captures > 0 {
                    writeln!(out, "{done} {}", text::counted(captures, "capture"))?;
                }
                if told.let_go > 0 {
                    let programs = text::counted(told.let_go, "waiting program");
                    writeln!(out, "let {programs} go on unrecorded")?;
                }
                Ok(())
            })?;
            Ok(0)
        }
        other => Err(connection.out_of_turn(&other)),
    }
}
