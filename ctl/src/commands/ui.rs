//! `ui`: shows a trace in the browser, or with `--live` the programs of a daemon, by a server on this machine that ends with
//! Ctrl-C. Captures that were started in the page are stopped then, and their traces are waited for; a second Ctrl-C gives up
//! waiting. The address has a token, so other users of this machine cannot ask it. Opens the browser where there is a
//! display, with `xdg-open`, unless `--no-open` or `--json` is given. The crate `gapii_viewer` serves; this module has the flags.

use std::future;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::task::Poll;

use clap::{Args, ValueHint};
use gapii_viewer::{Live, Subject};
use schemars::JsonSchema;
use serde::Serialize;
use tempfile::NamedTempFile;
use tokio::net::TcpListener;
use tokio::runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::args::{Connect, Json};
use crate::failure::Failure;
use crate::launch::random_hex;
use crate::text;
use crate::trace_file;

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl ui x.gapii                        open the trace in the browser
  gapii-ctl ui old.gapii new.gapii            also compare it with a second one
  gapii-ctl ui --live                         show the running programs, and record them
  gapii-ctl ui x.gapii --no-open --port 8000  print the address only";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Ui {
    /// A trace
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, required_unless_present = "live")]
    trace: Option<PathBuf>,

    /// A second trace to compare with
    #[arg(value_name = "OTHER", value_hint = ValueHint::FilePath)]
    other: Option<PathBuf>,

    /// Show the programs that are connected to the daemon, with buttons to start and stop captures
    #[arg(long, conflicts_with = "trace")]
    live: bool,

    /// Folder for traces that are recorded with --live [default: the current one]
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath, conflicts_with = "trace")]
    folder: Option<PathBuf>,

    /// Port of 127.0.0.1 [default: any that is free]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// Do not open a browser
    #[arg(long)]
    no_open: bool,

    /// Number of the command below which the trace is played from its beginning for each picture; for tests
    #[arg(long, value_name = "SEQ", hide = true)]
    whole_below: Option<u64>,

    #[command(flatten)]
    json: Json,
}

/// The page, printed before it is served.
#[derive(Serialize, JsonSchema)]
pub struct Address {
    /// Address of the page.
    address: String,
}

/// What the page shows.
enum Shown {
    Traces(Subject),
    Live(Live),
}

pub fn run(args: &Ui, connect: &Connect) -> Result<u8, Failure> {
    let tool = std::env::current_exe()
        .map_err(|error| Failure::system(format!("can't find this program: {error}")))?;
    let shown = match &args.trace {
        Some(trace) => Shown::Traces(subject(args, trace)?),
        None => {
            Shown::Live(Live::new(tool.clone(), connect.words().map_err(failed)?, folder(args)?))
        }
    };
    let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let _inside = runtime.enter();
    let mut stops = Stops::new().map_err(failed)?;
    let token = random_hex().map_err(failed)?;
    let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", args.port))).map_err(
        |error| match args.port {
            0 => failed(error),
            port => Failure::unreachable(format!(
                "can't use port {port}: {error}; without --port any free one is taken"
            )),
        },
    )?;
    let port = listener.local_addr().map_err(failed)?.port();
    let address = gapii_viewer::address(port, &token);
    match args.json.json {
        true => text::print_json_line(&Address { address: address.clone() })?,
        false => {
            text::print(|out| writeln!(out, "{address}"))?;
            let what = match shown {
                Shown::Traces(_) => "the trace",
                Shown::Live(_) => "the running programs",
            };
            text::say(&format!("the address above shows {what} while this runs; Ctrl-C ends it"));
        }
    }
    let opens = !args.no_open && !args.json.json;
    let _redirection = opens.then(|| open_browser(&address));
    runtime
        .block_on(async {
            match shown {
                Shown::Traces(subject) => {
                    gapii_viewer::serve(listener, tool, subject, &token, stops.next()).await
                }
                Shown::Live(live) => {
                    let stop = stops.next();
                    let served = gapii_viewer::serve_live(listener, &live, &token, stop).await;
                    finish(&live, &mut stops).await;
                    served
                }
            }
        })
        .map_err(failed)?;
    Ok(0)
}

fn failed(error: io::Error) -> Failure {
    Failure::system(format!("can't serve the viewer: {error}"))
}

fn subject(args: &Ui, trace: &Path) -> Result<Subject, Failure> {
    let mut subject = Subject::of(readable(trace)?);
    subject.other = args.other.as_deref().map(readable).transpose()?;
    subject.whole_below = args.whole_below.unwrap_or(subject.whole_below);
    Ok(subject)
}

/// Returns the absolute path of a trace that can be opened.
fn readable(path: &Path) -> Result<PathBuf, Failure> {
    trace_file::open(path)?;
    path.canonicalize().map_err(|error| trace_file::unreadable(path, &error))
}

/// Returns the absolute path of the folder for traces.
fn folder(args: &Ui) -> Result<PathBuf, Failure> {
    let folder = args.folder.as_deref().unwrap_or_else(|| Path::new("."));
    let is_folder = folder.metadata().is_ok_and(|it| it.is_dir());
    let found = is_folder.then(|| folder.canonicalize().ok()).flatten();
    found.ok_or_else(|| {
        Failure::unreachable(format!(
            "{} is no folder; create it, or name another with `--folder`",
            folder.display()
        ))
    })
}

/// Stops the captures that were started in the page, and waits for their traces until another stop request.
async fn finish(live: &Live, stops: &mut Stops) {
    let running = live.running() as u64;
    if running > 0 {
        let recordings = text::counted(running, "recording");
        text::say(&format!("finishing {recordings}; Ctrl-C again gives up waiting"));
    }
    tokio::select! {
        () = live.finish() => {}
        () = stops.next() => {}
    }
}

/// Requests to stop: Ctrl-C, SIGTERM and SIGHUP.
struct Stops([Signal; 3]);

impl Stops {
    fn new() -> io::Result<Self> {
        let [interrupt, terminate, hangup] =
            [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal);
        Ok(Self([interrupt?, terminate?, hangup?]))
    }

    async fn next(&mut self) {
        future::poll_fn(|cx| {
            let is_asked = self.0.iter_mut().any(|signal| signal.poll_recv(cx).is_ready());
            if is_asked { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

/// Opens the page, by a file that only this user can read: other users see the words of commands, and so would see the token.
/// Where that fails, the address was printed. The file goes when the result is dropped.
fn open_browser(address: &str) -> Option<NamedTempFile> {
    ["DISPLAY", "WAYLAND_DISPLAY"].iter().find_map(std::env::var_os)?;
    let mut file = tempfile::Builder::new().prefix("gapii-ui-").suffix(".html").tempfile().ok()?;
    let page = format!(
        "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url={address}\"><a href=\"{address}\">the trace</a>\n"
    );
    file.write_all(page.as_bytes()).ok()?;
    let mut command = Command::new("xdg-open");
    command.arg(file.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C ends the viewer, and not a browser that was started for it.
    let mut opening = command.process_group(0).spawn().ok()?;
    std::thread::spawn(move || opening.wait());
    Some(file)
}
