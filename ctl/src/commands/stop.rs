//! `stop`: ends captures; whoever started them gets their traces.

use clap::Args;
use gapii_protocol::control::{Event, Request, StopRequest, Target};

use crate::args::{App, Connect};
use crate::connection::Connection;
use crate::failure::Failure;
use crate::text;

#[derive(Args, Debug)]
pub struct Stop {
    #[command(flatten)]
    app: App,
}

pub fn run(args: &Stop, connect: &Connect) -> Result<u8, Failure> {
    let target = args.app.app.clone().map_or(Target::All, Target::App);
    let mut connection = Connection::open(connect)?;
    match connection.ask(&Request::Stop(StopRequest { target }))? {
        Event::Stopped(stopped) if stopped.captures.is_empty() => {
            Err(Failure::no("nothing is being captured"))
        }
        Event::Stopped(stopped) => {
            text::print(|out| {
                writeln!(out, "stopped {}", text::counted(stopped.captures.len() as u64, "capture"))
            })?;
            Ok(0)
        }
        other => Err(connection.out_of_turn(&other)),
    }
}
