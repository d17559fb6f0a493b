//! The full-screen view of `watch`: shows the connected programs, and captures them with other processes of this tool, so
//! that a capture never holds the view up. Ends on `q`, on a stop request, after a number of refreshes, or when the daemon
//! is gone; then its captures are ended, and it waits for them until a second stop request.

mod draw;
mod history;
mod jobs;
mod keys;
mod layout;
mod model;
mod screen;

use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::Signal;

use crate::args::Connect;
use crate::failure::Failure;
use crate::observer::Observer;
use crate::rates::Rates;
use crate::signals::Signals;
use crate::text::{self, Withheld, counted};
use crate::view::draw::Look;
use crate::view::jobs::{Jobs, Task};
use crate::view::keys::{ESCAPE_WAIT, Keys};
use crate::view::model::{Model, Order};
use crate::view::screen::Screen;
use crate::wait;

pub use crate::view::screen::keyboard;

/// Signals that the view gets besides stop requests: the terminal has another size, or lends its screen to others.
const OF_THE_TERMINAL: [Signal; 4] = [Signal::WINCH, Signal::TSTP, Signal::CONT, Signal::QUIT];

/// How often the view is refreshed, and how many times.
pub struct Refreshes {
    pub interval: Duration,
    /// `None` for a view that ends only when it is asked to.
    pub count: Option<NonZeroU64>,
}

/// What the view showed last.
pub struct Last {
    pub rates: Vec<Rates>,
    /// Programs that `rates` lacks.
    pub left_out: u64,
}

struct View<'v, 'a> {
    observer: Observer,
    /// When the daemon was asked that has not answered yet.
    asked: Option<Instant>,
    screen: Screen,
    keys: Keys,
    model: Model,
    jobs: &'v mut Jobs<'a>,
    withheld: &'v Withheld,
}

/// Shows the view until it ends.
pub fn show(keyboard: OwnedFd, connect: &Connect, refreshes: &Refreshes) -> Result<Last, Failure> {
    let signals = Signals::block_also(&OF_THE_TERMINAL)
        .map_err(|error| Failure::system(format!("can't watch for signals: {error}")))?;
    let observer = Observer::open(connect)?;
    let mut jobs = Jobs::new(connect, &signals)
        .map_err(|error| Failure::system(format!("can't find this program: {error}")))?;
    // Dropped after the screen, so that what is still to be said appears on the one that stays.
    let withheld = text::withhold();
    let screen = Screen::take(keyboard).map_err(|error| broken(&error))?;
    let (keys, model) = (Keys::default(), Model::default());
    let (jobs_of_view, withheld_of_view) = (&mut jobs, &withheld);
    let mut view = View {
        observer,
        asked: None,
        screen,
        keys,
        model,
        jobs: jobs_of_view,
        withheld: withheld_of_view,
    };
    let ended = view.run(refreshes, &signals);
    let left_out = view.model.info.as_ref().map_or(0, |info| info.left_out.apps);
    let last = Last { rates: std::mem::take(&mut view.model.rates), left_out };
    drop(view);
    drop(withheld);
    finish(&mut jobs, &signals)?;
    ended.map(|()| last)
}

impl View<'_, '_> {
    fn run(&mut self, refreshes: &Refreshes, signals: &Signals) -> Result<(), Failure> {
        let (mut next, mut shown) = (Instant::now(), 0);
        loop {
            if Instant::now() >= next {
                shown += u64::from(self.look()?);
                // A refresh that a slow answer delayed is not made up for.
                next = (next + refreshes.interval).max(Instant::now());
            }
            self.draw()?;
            if refreshes.count.is_some_and(|count| shown >= count.get()) {
                return Ok(());
            }
            let ready = self.wait(next, signals)?;
            if self.hear(signals)? || self.take_keys(&ready)? {
                return Ok(());
            }
            shown += u64::from(ready.answer && self.take_answer()?);
            self.jobs.advance(&ready.jobs).into_iter().for_each(|line| self.model.say(line));
            self.withheld.take().into_iter().for_each(|line| self.model.say(line));
        }
    }

    /// Looks at the daemon's page, or asks the daemon. Returns whether there is a new status.
    fn look(&mut self) -> Result<bool, Failure> {
        if let Some(asked) = self.asked {
            self.model.outdated = Some(format!(
                "the daemon has not answered for {:.0} s; the figures are older than that",
                asked.elapsed().as_secs_f64()
            ));
            return Ok(false);
        }
        match self.observer.begin_look()? {
            Some(status) => {
                self.model.refresh(status);
                Ok(true)
            }
            None => {
                self.asked = Some(Instant::now());
                Ok(false)
            }
        }
    }

    /// Takes the daemon's answer, if it is whole.
    fn take_answer(&mut self) -> Result<bool, Failure> {
        let Some(status) = self.observer.answer()? else { return Ok(false) };
        self.asked = None;
        self.model.refresh(status);
        Ok(true)
    }

    fn draw(&mut self) -> Result<(), Failure> {
        let (model, look) = (&mut self.model, Look::of_environment());
        model.own_are(self.jobs.captures());
        self.screen.draw(|frame| draw::draw(frame, model, look)).map_err(|error| broken(&error))
    }

    /// Waits until something is ready, or until it is time for the next refresh.
    fn wait(&self, next: Instant, signals: &Signals) -> Result<Ready, Failure> {
        let key = self.keys.is_waiting().then(|| Instant::now() + ESCAPE_WAIT);
        let socket = self.observer.socket();
        let sources = [signals.as_fd(), self.screen.as_fd()];
        let sources = sources.into_iter().chain(socket).chain(self.jobs.outputs());
        let mut watched: Vec<_> =
            sources.map(|source| PollFd::from_borrowed_fd(source, PollFlags::IN)).collect();
        let is_any =
            wait::until_ready(&mut watched, key.map_or(Some(next), |key| Some(key.min(next))))
                .map_err(|error| Failure::system(format!("can't wait: {error}")))?;
        let mut ready = watched.iter().skip(1).map(|source| !source.revents().is_empty());
        Ok(Ready {
            keyboard: ready.next().unwrap_or(false),
            answer: socket.is_some() && ready.next().unwrap_or(false),
            jobs: ready.collect(),
            is_late: !is_any,
        })
    }

    /// Does what signals ask for. Returns true if one ends the view.
    fn hear(&mut self, signals: &Signals) -> Result<bool, Failure> {
        let mut ends = false;
        while let Some(request) = signals.next() {
            match request.signal {
                Signal::WINCH => {}
                Signal::TSTP => self.screen.stop().map_err(|error| broken(&error))?,
                Signal::CONT => self.screen.retake().map_err(|error| broken(&error))?,
                _ => ends = true,
            }
        }
        Ok(ends)
    }

    /// Does what was typed. Returns true if it ends the view, as the end of the terminal does.
    fn take_keys(&mut self, ready: &Ready) -> Result<bool, Failure> {
        let keys = match (ready.keyboard, ready.is_late) {
            (true, _) => {
                let bytes = self.screen.read().unwrap_or_default();
                if bytes.is_empty() {
                    return Ok(true);
                }
                self.keys.of(&bytes)
            }
            (false, true) => self.keys.settle().into_iter().collect(),
            (false, false) => Vec::new(),
        };
        for key in keys {
            match self.model.press(key) {
                Some(Order::End) => return Ok(true),
                Some(order) => self.carry_out(&order)?,
                None => {}
            }
            self.model.own_are(self.jobs.captures());
        }
        Ok(false)
    }

    fn carry_out(&mut self, order: &Order) -> Result<(), Failure> {
        match order {
            Order::Start(task) => match self.jobs.start(task) {
                Ok(file) => self.model.say(words_of(task, file.as_deref())),
                Err(error) => self.model.say(format!("can't start another gapii-ctl: {error}")),
            },
            Order::EndCaptures(pid) => {
                self.jobs.end(*pid);
                self.model.say(format!("ending the capture of process {pid}"));
            }
            Order::Redraw => self.screen.clear().map_err(|error| broken(&error))?,
            Order::End => {}
        }
        Ok(())
    }
}

/// What [`View::wait`] has waited for.
struct Ready {
    keyboard: bool,
    answer: bool,
    /// The outputs of the jobs, in their order.
    jobs: Vec<bool>,
    /// Whether the time for which to wait has passed.
    is_late: bool,
}

/// What the view says when it has begun a task.
fn words_of(task: &Task, file: Option<&str>) -> String {
    let file = file.unwrap_or_default();
    match task {
        Task::Capture { pid, frames: None, .. } => format!("capturing process {pid} into {file}"),
        Task::Capture { pid, frames: Some(frames), .. } => {
            format!("capturing {} of process {pid} into {file}", counted(*frames, "frame"))
        }
        Task::Save { pid, .. } => format!("saving what is kept of process {pid} into {file}"),
        Task::Stop { capture } => format!("ending capture {capture}"),
    }
}

/// Ends what runs for the view, and prints what all its processes have said. A stop request ends the wait.
fn finish(jobs: &mut Jobs<'_>, signals: &Signals) -> Result<(), Failure> {
    let say_all = |jobs: &mut Jobs<'_>| jobs.take_said().iter().for_each(text::say);
    say_all(jobs);
    if jobs.is_idle() {
        return Ok(());
    }
    jobs.end_all();
    let count = jobs.captures().len() as u64;
    if count > 0 {
        text::say(&format_args!("ending {}", counted(count, "capture")));
    }
    while !jobs.is_idle() {
        let sources = std::iter::once(signals.as_fd()).chain(jobs.outputs());
        let mut watched: Vec<_> =
            sources.map(|source| PollFd::from_borrowed_fd(source, PollFlags::IN)).collect();
        wait::until_ready(&mut watched, None)
            .map_err(|error| Failure::system(format!("can't wait: {error}")))?;
        let ready: Vec<_> =
            watched.iter().skip(1).map(|source| !source.revents().is_empty()).collect();
        while let Some(request) = signals.next() {
            if !OF_THE_TERMINAL.contains(&request.signal) {
                return Ok(());
            }
        }
        jobs.advance(&ready);
        say_all(jobs);
    }
    Ok(())
}

fn broken(error: &io::Error) -> Failure {
    Failure::system(format!("can't use the terminal: {error}"))
}
