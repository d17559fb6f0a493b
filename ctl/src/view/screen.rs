//! `Screen`: the terminal while a full-screen view has it. Standard output shows the alternate screen, and the keyboard
//! sends keys at once and without an echo; Ctrl-C and Ctrl-Z stay signals. The terminal is as before once the value is
//! dropped, at a panic before its message, and while the process is stopped.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use ratatui::backend::{Backend, TermionBackend};
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};
use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize,
    tcsetattr,
};

/// Columns and rows of a terminal that does not report its size.
const SIZE: (u16, u16) = (80, 24);

/// Alternate screen, without a cursor.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l";
const LEAVE: &[u8] = b"\x1b[0m\x1b[?25h\x1b[?1049l";

/// The keyboard and its modes before it was taken; `None` while the terminal is not taken.
static TAKEN: Mutex<Option<(OwnedFd, Termios)>> = Mutex::new(None);

type Output = Terminal<TermionBackend<BufWriter<Stdout>>>;

pub struct Screen {
    terminal: Output,
    keyboard: OwnedFd,
}

/// Opens the keyboard of the terminal that shows standard output; `None` if there is none that can place text.
pub fn keyboard() -> Option<OwnedFd> {
    let places_text =
        std::env::var_os("TERM").is_some_and(|name| !name.is_empty() && name != "dumb");
    if !places_text || !io::stdout().is_terminal() {
        return None;
    }
    match io::stdin().is_terminal() {
        true => io::stdin().as_fd().try_clone_to_owned().ok(),
        false => File::open("/dev/tty").ok().map(OwnedFd::from),
    }
}

impl Screen {
    /// Takes the terminal.
    pub fn take(keyboard: OwnedFd) -> io::Result<Screen> {
        restore_before_panics();
        enter(&keyboard)?;
        match empty(size()) {
            Ok(terminal) => Ok(Screen { terminal, keyboard }),
            Err(error) => {
                leave();
                Err(error)
            }
        }
    }

    /// Shows what `render` draws, at the terminal's present size.
    pub fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        let size = size();
        if self.terminal.get_frame().area() != size {
            self.terminal = empty(size)?;
        }
        self.terminal.draw(render).map(drop)
    }

    /// Empties the terminal, so that everything is drawn again.
    pub fn clear(&mut self) -> io::Result<()> {
        self.terminal = empty(size())?;
        Ok(())
    }

    /// Reads what was typed; waits for it if there is nothing. Nothing at all is the end of the terminal.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = [0; 256];
        let count = rustix::io::read(&self.keyboard, &mut bytes)?;
        Ok(bytes[..count].to_vec())
    }

    /// Gives the terminal back, and stops this process until something continues it.
    pub fn stop(&mut self) -> io::Result<()> {
        leave();
        kill_process(getpid(), Signal::STOP)?;
        self.retake()
    }

    /// Takes the terminal again: whoever had it meanwhile may have changed its modes and contents.
    pub fn retake(&mut self) -> io::Result<()> {
        enter(&self.keyboard)?;
        self.clear()
    }
}

impl AsFd for Screen {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.keyboard.as_fd()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

/// Empties the terminal and begins anew. `Terminal::clear` and `Terminal::resize` would ask the terminal where its cursor is,
/// and wait for the answer among the keys.
fn empty(size: Rect) -> io::Result<Output> {
    let viewport = Viewport::Fixed(size);
    let backend = TermionBackend::new(BufWriter::new(io::stdout()));
    let mut terminal = Terminal::with_options(backend, TerminalOptions { viewport })?;
    terminal.backend_mut().clear()?;
    Ok(terminal)
}

fn enter(keyboard: &OwnedFd) -> io::Result<()> {
    let mut taken = taken();
    let (keyboard, before) = match taken.take() {
        Some(before) => before,
        None => (keyboard.try_clone()?, tcgetattr(keyboard)?),
    };
    let mut modes = before.clone();
    modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN);
    // Ctrl-S would freeze the view.
    modes.input_modes.remove(InputModes::IXON);
    modes.special_codes[SpecialCodeIndex::VMIN] = 1;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    let set = tcsetattr(&keyboard, OptionalActions::Now, &modes);
    *taken = Some((keyboard, before));
    set?;
    let mut out = io::stdout().lock();
    out.write_all(ENTER)?;
    out.flush()
}

/// Gives the terminal back, if it is taken. A terminal that is gone cannot be given back, so failures are ignored.
fn leave() {
    if let Some((keyboard, before)) = taken().take() {
        let mut out = io::stdout().lock();
        let _ = out.write_all(LEAVE).and_then(|()| out.flush());
        let _ = tcsetattr(&keyboard, OptionalActions::Now, &before);
    }
}

/// The value is whole at every moment, also if a thread panicked while it had the lock.
fn taken() -> MutexGuard<'static, Option<(OwnedFd, Termios)>> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the message of a panic appear on the screen that stays.
fn restore_before_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave();
            print(panic);
        }));
    });
}

fn size() -> Rect {
    let (columns, rows) = match tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col, size.ws_row),
        _ => SIZE,
    };
    Rect::new(0, 0, columns, rows)
}
