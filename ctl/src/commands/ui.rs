//! `ui`: shows a trace in the browser, by a server on this machine that ends with Ctrl-C. The address has a token, so other
//! users of this machine cannot ask it. Opens the browser where there is a display, with `xdg-open`, unless `--no-open` or
//! `--json` is given. The crate `gapii_viewer` serves; this module has the flags.

use std::future::Future;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::{Args, ValueHint};
use gapii_viewer::Subject;
use schemars::JsonSchema;
use serde::Serialize;
use tempfile::NamedTempFile;
use tokio::net::TcpListener;
use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::args::{Json, Trace};
use crate::failure::Failure;
use crate::launch::random_hex;
use crate::text;
use crate::trace_file;

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl ui x.gapii                        open the trace in the browser
  gapii-ctl ui old.gapii new.gapii            also compare it with a second one
  gapii-ctl ui x.gapii --no-open --port 8000  print the address only";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Ui {
    #[command(flatten)]
    trace: Trace,

    /// A second trace to compare with
    #[arg(value_name = "OTHER", value_hint = ValueHint::FilePath)]
    other: Option<PathBuf>,

    /// Port of 127.0.0.1 [default: any that is free]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// Do not open a browser
    #[arg(long)]
    no_open: bool,

    /// Number of the command below which the trace is played from its beginning for each picture; for tests
    #[arg(long, value_name = "SEQ", default_value_t = 200_000, hide = true)]
    whole_below: u64,

    #[command(flatten)]
    json: Json,
}

/// The page, printed before it is served.
#[derive(Serialize, JsonSchema)]
pub struct Address {
    /// Address of the page.
    address: String,
}

pub fn run(args: &Ui) -> Result<u8, Failure> {
    let subject = Subject {
        tool: std::env::current_exe()
            .map_err(|error| Failure::system(format!("can't find this program: {error}")))?,
        trace: readable(&args.trace.trace)?,
        other: args.other.as_deref().map(readable).transpose()?,
        whole_below: args.whole_below,
    };
    let failed = |error: io::Error| Failure::system(format!("can't serve the viewer: {error}"));
    let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let _inside = runtime.enter();
    let stop = stopped().map_err(failed)?;
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
            text::say(&"the address above shows the trace while this runs; Ctrl-C ends it");
        }
    }
    let opens = !args.no_open && !args.json.json;
    let _redirection = opens.then(|| open_browser(&address));
    runtime.block_on(gapii_viewer::serve(listener, subject, &token, stop)).map_err(failed)?;
    Ok(0)
}

/// Returns the absolute path of a trace that can be opened.
fn readable(path: &Path) -> Result<PathBuf, Failure> {
    trace_file::open(path)?;
    path.canonicalize().map_err(|error| trace_file::unreadable(path, &error))
}

/// Returns what is ready at the first stop request.
fn stopped() -> io::Result<impl Future<Output = ()>> {
    let mut signals = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()]
        .map(signal)
        .into_iter()
        .collect::<io::Result<Vec<_>>>()?;
    Ok(async move {
        std::future::poll_fn(|cx| {
            let is_asked = signals.iter_mut().any(|signal| signal.poll_recv(cx).is_ready());
            if is_asked { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    })
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
