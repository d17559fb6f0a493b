//! `Model`: what the view shows, and what a key asks for. The selected program stays selected while it is connected. It
//! draws nothing and starts nothing.

use std::collections::VecDeque;

use gapii_control::{CaptureInfo, KeptInfo, StatusInfo};

use crate::commands::apps;
use crate::observer::Status;
use crate::rates::Rates;
use crate::text::counted;
use crate::view::history::History;
use crate::view::jobs::{OwnCapture, Task};
use crate::view::keys::Key;

/// Number of messages that are kept.
const MESSAGES_MAX: usize = 20;
/// Most digits of a number of frames.
const DIGITS_MAX: usize = 9;

#[derive(Default)]
pub struct Model {
    /// The daemon's status; `None` before its first answer.
    pub info: Option<StatusInfo>,
    /// A sentence that says how old the status is.
    pub outdated: Option<String>,
    pub rates: Vec<Rates>,
    pub history: History,
    /// Captures that the view has started.
    pub own: Vec<OwnCapture>,
    /// What happened, newest last.
    pub messages: VecDeque<String>,
    pub dialog: Dialog,
    /// Number of the report that was shown, if it has one.
    report: Option<u64>,
    /// Index in the session of the selected program.
    selected: Option<u32>,
}

/// What the keys are for.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum Dialog {
    /// The programs.
    #[default]
    None,
    Help,
    /// A number of frames is typed.
    Frames(String),
    /// Whether to end these captures of other clients is asked.
    StopOthers(Vec<u64>),
    /// Whether to end the own captures with the view is asked.
    End,
}

/// What a key asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Order {
    Start(Task),
    /// End the own captures of a program.
    EndCaptures(u32),
    /// Draw everything again.
    Redraw,
    End,
}

impl Model {
    /// Shows a status. A report that was shown already changes no rates.
    pub fn refresh(&mut self, status: Status) {
        let Status { info, outdated, report } = status;
        if report.is_none() || report != self.report {
            let before = self.info.as_ref().map_or(&[][..], |info| &info.apps);
            self.rates = Rates::between(before, &info.apps);
            self.history.add(&self.rates);
        }
        (self.report, self.outdated) = (report, outdated);
        let at = self.selected_at();
        self.info = Some(info);
        if self.selected().is_none() {
            // The next program takes the place of one that is gone.
            self.select(at.unwrap_or(0));
        }
    }

    /// Takes the captures that the view has started and that run.
    pub fn own_are(&mut self, own: Vec<OwnCapture>) {
        if own.is_empty() && self.dialog == Dialog::End {
            self.dialog = Dialog::None;
        }
        self.own = own;
    }

    pub fn say(&mut self, message: impl Into<String>) {
        if self.messages.len() == MESSAGES_MAX {
            self.messages.pop_front();
        }
        self.messages.push_back(message.into());
    }

    /// The selected program.
    pub fn selected(&self) -> Option<&Rates> {
        self.rates.iter().find(|rates| Some(rates.process) == self.selected)
    }

    /// Place of the selected program in the list.
    pub fn selected_at(&self) -> Option<usize> {
        self.rates.iter().position(|rates| Some(rates.process) == self.selected)
    }

    /// What is kept of a program.
    pub fn kept(&self, pid: u32) -> Option<&KeptInfo> {
        self.info.as_ref()?.kept.iter().find(|kept| kept.pid == pid && kept.is_running)
    }

    /// The own capture that a listed one is.
    pub fn own_of(&self, capture: &CaptureInfo) -> Option<&OwnCapture> {
        self.own.iter().find(|own| own.client == capture.client)
    }

    /// Does what a key is for, and returns what is left to do.
    pub fn press(&mut self, key: Key) -> Option<Order> {
        if key == Key::Redraw {
            return Some(Order::Redraw);
        }
        match std::mem::take(&mut self.dialog) {
            Dialog::None => self.press_in_list(key),
            Dialog::Help => None,
            Dialog::Frames(digits) => self.press_in_frames(digits, key),
            Dialog::StopOthers(captures) => match key {
                Key::Char('y') | Key::Enter => self.stop_others(&captures),
                _ => None,
            },
            Dialog::End => match key {
                Key::Char('y' | 'q') | Key::Enter => Some(Order::End),
                _ => None,
            },
        }
    }

    fn press_in_list(&mut self, key: Key) -> Option<Order> {
        let at = self.selected_at().unwrap_or(0);
        match key {
            Key::Up | Key::Char('k') => self.select(at.saturating_sub(1)),
            Key::Down | Key::Char('j') => self.select(at + 1),
            Key::First => self.select(0),
            Key::Last => self.select(usize::MAX),
            Key::Char('?') => self.dialog = Dialog::Help,
            Key::Char('s') => return self.capture(None),
            Key::Char('f') if self.may_capture() => self.dialog = Dialog::Frames(String::new()),
            Key::Char('x') => return self.stop(),
            Key::Char('w') => return self.save(),
            Key::Char('q') | Key::Escape if self.own.is_empty() => return Some(Order::End),
            Key::Char('q') | Key::Escape => self.dialog = Dialog::End,
            _ => {}
        }
        None
    }

    fn press_in_frames(&mut self, mut digits: String, key: Key) -> Option<Order> {
        match key {
            Key::Escape | Key::Char('q') => return None,
            Key::Enter => match digits.parse() {
                Ok(0) | Err(_) => return None,
                Ok(frames) => return self.capture(Some(frames)),
            },
            Key::Backspace => drop(digits.pop()),
            Key::Char(digit @ '0'..='9') if digits.len() < DIGITS_MAX => digits.push(digit),
            _ => {}
        }
        self.dialog = Dialog::Frames(digits);
        None
    }

    /// Selects the program at `at`, or the last one.
    fn select(&mut self, at: usize) {
        let last = self.rates.len().checked_sub(1);
        self.selected = last.map(|last| self.rates[at.min(last)].process);
    }

    /// The selected program, or a message that there is none.
    fn chosen(&mut self) -> Option<(u32, String)> {
        let chosen = self.selected().map(|rates| (rates.pid, rates.name.raw().to_owned()));
        if chosen.is_none() {
            self.say(apps::NO_APP);
        }
        chosen
    }

    /// Whether the selected program can be captured; says why not.
    fn may_capture(&mut self) -> bool {
        let Some((pid, _)) = self.chosen() else { return false };
        let running = self.own.iter().find(|own| own.pid == pid).map(|own| own.file.clone());
        match running {
            Some(file) => self.say(format!("process {pid} is captured into {file}; x ends that")),
            None => return true,
        }
        false
    }

    fn capture(&mut self, frames: Option<u64>) -> Option<Order> {
        if !self.may_capture() {
            return None;
        }
        let (pid, name) = self.chosen()?;
        Some(Order::Start(Task::Capture { pid, name, frames }))
    }

    fn save(&mut self) -> Option<Order> {
        let (pid, name) = self.chosen()?;
        if self.kept(pid).is_none() {
            self.say(format!(
                "no frames of process {pid} are kept; `gapii-ctl run --keep-frames N -- CMD` keeps them"
            ));
            return None;
        }
        Some(Order::Start(Task::Save { pid, name }))
    }

    /// Ends the own captures of the selected program; if it has none, asks whether to end those of other clients.
    fn stop(&mut self) -> Option<Order> {
        let (pid, _) = self.chosen()?;
        if self.own.iter().any(|own| own.pid == pid) {
            return Some(Order::EndCaptures(pid));
        }
        let captures = self.info.iter().flat_map(|info| &info.captures);
        let of_it = captures.filter(|capture| !capture.keeps && capture.pids.contains(&pid));
        let others: Vec<_> = of_it.map(|capture| capture.capture).collect();
        match others.is_empty() {
            true => self.say(format!("process {pid} is not captured; s begins a capture")),
            false => self.dialog = Dialog::StopOthers(others),
        }
        None
    }

    /// Orders the end of the first of these captures; the question stays for the others.
    fn stop_others(&mut self, captures: &[u64]) -> Option<Order> {
        let (first, others) = captures.split_first()?;
        if !others.is_empty() {
            self.dialog = Dialog::StopOthers(others.to_vec());
        }
        Some(Order::Start(Task::Stop { capture: *first }))
    }
}

/// The question or input of a dialog that takes the last line.
pub fn prompt(model: &Model) -> Option<String> {
    match &model.dialog {
        Dialog::None | Dialog::Help => None,
        Dialog::Frames(digits) => {
            Some(format!("number of frames: {digits}_  (Enter: capture, Esc: back)"))
        }
        Dialog::StopOthers(captures) => Some(format!(
            "end capture {} of another client? y/n",
            captures.first().copied().unwrap_or_default()
        )),
        Dialog::End => Some(format!(
            "end {} and leave? y/n",
            counted(model.own.len() as u64, "running capture")
        )),
    }
}

#[cfg(test)]
pub mod tests {
    use gapii_control::{AppCounts, AppInfo, Progress};

    use super::*;

    pub fn app(process: u32, second: u64) -> AppInfo {
        let counts = AppCounts { calls: 3000 * second, lost_calls: 7, ..AppCounts::default() };
        AppInfo {
            pid: 40 + process,
            process,
            name: format!("gears{process}").as_str().into(),
            mode: "idle".into(),
            frames: 60 * second,
            connected_ns: second * 1_000_000_000,
            counts: Some(counts),
            ..AppInfo::default()
        }
    }

    pub fn capture(number: u64, client: u32, pids: &[u32]) -> CaptureInfo {
        let progress = Progress { frames: 12, file_bytes: 3_000_000, ..Progress::default() };
        CaptureInfo {
            capture: number,
            client,
            pids: pids.to_vec(),
            running_ns: 61_000_000_000,
            progress,
            ..CaptureInfo::default()
        }
    }

    pub fn status(processes: &[u32], second: u64) -> Status {
        let apps = processes.iter().map(|process| app(*process, second)).collect();
        let info = StatusInfo { apps, pid: 9, ..StatusInfo::default() };
        Status { info, outdated: None, report: Some(second) }
    }

    pub fn model(processes: &[u32]) -> Model {
        let mut model = Model::default();
        model.refresh(status(processes, 1));
        model
    }

    fn selected(model: &Model) -> Option<u32> {
        model.selected().map(|rates| rates.process)
    }

    fn type_in(model: &mut Model, text: &str) -> Option<Order> {
        let keys = text.chars().map(|c| if c == '\r' { Key::Enter } else { Key::Char(c) });
        keys.map(|key| model.press(key)).last().flatten()
    }

    #[test]
    fn selection_follows_the_keys_and_its_program() {
        let mut model = model(&[1, 2, 3]);
        assert_eq!(selected(&model), Some(1));
        for (key, expected) in [
            (Key::Down, 2),
            (Key::Char('j'), 3),
            (Key::Down, 3),
            (Key::Char('k'), 2),
            (Key::First, 1),
            (Key::Up, 1),
            (Key::Last, 3),
        ] {
            assert_eq!(model.press(key), None);
            assert_eq!(selected(&model), Some(expected), "{key:?}");
        }
        model.press(Key::Up);
        model.refresh(status(&[2, 3], 2));
        assert_eq!((selected(&model), model.selected_at()), (Some(2), Some(0)));
        model.press(Key::Down);
        model.refresh(status(&[2], 3));
        assert_eq!(selected(&model), Some(2));
        model.refresh(status(&[], 4));
        assert_eq!(selected(&model), None);
        assert_eq!(model.press(Key::Char('s')), None);
        assert_eq!(model.messages.back().unwrap(), apps::NO_APP);
    }

    #[test]
    fn report_that_was_shown_has_no_new_rates() {
        let mut model = model(&[1]);
        model.refresh(status(&[1], 2));
        assert_eq!(model.history.newest(1, 9).count(), 2);
        let again = Status { outdated: Some("old".into()), ..status(&[1], 2) };
        model.refresh(again);
        assert_eq!(model.history.newest(1, 9).count(), 2);
        assert_eq!(model.rates[0].frames_per_s, 60.0);
        assert_eq!(model.outdated.as_deref(), Some("old"));
    }

    #[test]
    fn capture_is_of_the_selected_program_and_one_at_a_time() {
        let mut model = model(&[1, 2]);
        model.press(Key::Down);
        let task = |frames| Order::Start(Task::Capture { pid: 42, name: "gears2".into(), frames });
        assert_eq!(model.press(Key::Char('s')), Some(task(None)));
        assert_eq!(type_in(&mut model, "f120"), None);
        model.press(Key::Backspace);
        assert_eq!(prompt(&model).unwrap(), "number of frames: 12_  (Enter: capture, Esc: back)");
        assert_eq!(model.press(Key::Enter), Some(task(Some(12))));
        assert_eq!((type_in(&mut model, "f0\r"), &model.dialog), (None, &Dialog::None));
        type_in(&mut model, "f3");
        assert_eq!((model.press(Key::Escape), &model.dialog), (None, &Dialog::None));
        model.own_are(vec![OwnCapture { client: 7, pid: 42, file: "x.gapii".into() }]);
        assert_eq!(type_in(&mut model, "s"), None);
        assert_eq!((type_in(&mut model, "f"), &model.dialog), (None, &Dialog::None));
        assert_eq!(
            model.messages.back().unwrap(),
            "process 42 is captured into x.gapii; x ends that"
        );
        assert_eq!(type_in(&mut model, "x"), Some(Order::EndCaptures(42)));
    }

    #[test]
    fn captures_of_others_are_ended_only_when_asked_twice() {
        let mut model = model(&[1]);
        assert_eq!((type_in(&mut model, "x"), &model.dialog), (None, &Dialog::None));
        let mut with_captures = status(&[1], 2);
        let keeps = CaptureInfo { keeps: true, ..capture(3, 0, &[41]) };
        with_captures.info.captures =
            vec![capture(4, 99, &[41]), keeps, capture(5, 99, &[8]), capture(6, 98, &[8, 41])];
        model.refresh(with_captures);
        assert_eq!(type_in(&mut model, "x"), None);
        assert_eq!(prompt(&model).unwrap(), "end capture 4 of another client? y/n");
        assert_eq!((type_in(&mut model, "n"), &model.dialog), (None, &Dialog::None));
        let stop = |capture| Some(Order::Start(Task::Stop { capture }));
        assert_eq!(type_in(&mut model, "xy"), stop(4));
        assert_eq!(type_in(&mut model, "y"), stop(6));
        assert_eq!(model.dialog, Dialog::None);
    }

    #[test]
    fn only_kept_frames_are_saved() {
        let mut model = model(&[1]);
        assert_eq!(type_in(&mut model, "w"), None);
        assert!(model.messages.back().unwrap().contains("run --keep-frames"));
        let mut with_kept = status(&[1], 2);
        with_kept.info.kept =
            vec![KeptInfo { pid: 41, is_running: true, frames: 9, ..KeptInfo::default() }];
        model.refresh(with_kept);
        let save = Order::Start(Task::Save { pid: 41, name: "gears1".into() });
        assert_eq!(type_in(&mut model, "w"), Some(save));
    }

    #[test]
    fn view_with_a_capture_asks_before_it_ends() {
        let mut model = model(&[1]);
        for key in [Key::Char('q'), Key::Escape] {
            assert_eq!(model.press(key), Some(Order::End));
        }
        let own = vec![OwnCapture { client: 7, pid: 41, file: "x.gapii".into() }];
        model.own_are(own.clone());
        assert_eq!(model.press(Key::Escape), None);
        assert_eq!(prompt(&model).unwrap(), "end 1 running capture and leave? y/n");
        assert_eq!((model.press(Key::Escape), &model.dialog), (None, &Dialog::None));
        assert_eq!(type_in(&mut model, "qy"), Some(Order::End));
        assert_eq!(type_in(&mut model, "qq"), Some(Order::End));
        type_in(&mut model, "q");
        model.own_are(own);
        assert_eq!(model.dialog, Dialog::End);
        model.own_are(Vec::new());
        assert_eq!(model.dialog, Dialog::None, "the capture has ended by itself");
    }

    #[test]
    fn help_ends_with_any_key() {
        let mut model = model(&[1]);
        type_in(&mut model, "?");
        assert_eq!(model.dialog, Dialog::Help);
        assert_eq!(model.press(Key::Char('q')), None);
        assert_eq!(model.dialog, Dialog::None);
    }
}
