//! Draws the view. Lines are cut at the terminal's width; a narrow terminal gets fewer columns. Without colours, where
//! `NO_COLOR` is set, it uses bold and reversed text alone.

use gapii_control::{CaptureInfo, StatusInfo};
use indicatif::{DecimalBytes, HumanCount};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Paragraph, Sparkline, Wrap};

use crate::commands::{apps, list};
use crate::rate_table::{self, COLUMNS, Column};
use crate::rates::Rates;
use crate::table;
use crate::text::counted;
use crate::view::history::{POINTS_MAX, Point};
use crate::view::layout::{Heights, Wanted};
use crate::view::model::{self, Dialog, Model};

const KEYS: &str = "s capture  f frames  x end  w save  ? help  q leave";

const HELP: &str = "\
Up Down j k  select a program
s  capture it into a new file here
f  capture a number of frames of it
x  end its captures
w  save its kept frames into a file
^L draw everything again
?  this help
q Esc ^C  leave

The captures of this view end with it.
COMMANDS/S, RINGS/S and WAITS count what
captures take; a program that is not
captured has frames alone.";

/// Width of the words beside a graph.
const GRAPH_WORDS: u16 = 24;

/// Appearance of text.
#[derive(Clone, Copy)]
pub struct Look {
    pub has_color: bool,
}

impl Look {
    /// What the user's environment asks for.
    pub fn of_environment() -> Look {
        Look { has_color: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) }
    }

    fn colored(self, color: Color) -> Style {
        if self.has_color { Style::new().fg(color) } else { Style::new() }
    }
}

const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);

pub fn draw(frame: &mut Frame<'_>, model: &Model, look: Look) {
    let area = frame.area();
    let mut rows = Rows { left: area };
    frame.render_widget(Line::styled(title(model), BOLD), rows.take(1));
    let keys =
        model::prompt(model).map_or_else(|| Line::raw(KEYS), |text| Line::styled(text, BOLD));
    frame.render_widget(keys, rows.take_last());
    if model.dialog == Dialog::Help {
        frame.render_widget(Text::raw(HELP), rows.left);
        return;
    }
    let facts = facts(model);
    let captures = captures(model);
    let outdated = model.outdated.as_deref().map(|sentence| {
        Paragraph::new(sentence)
            .style(look.colored(Color::Yellow).patch(BOLD))
            .wrap(Wrap { trim: true })
    });
    let outdated_rows = model.outdated.as_ref().map_or(0, |sentence| {
        // Words are not split, so a line may have a word less.
        sentence.len() * 5 / 4 / usize::from(area.width.max(1)) + 1
    });
    let wanted = Wanted {
        outdated: rows_of(outdated_rows),
        programs: rows_of(model.rates.len().max(1) + 1),
        facts: rows_of(facts.len()),
        captures: rows_of(captures.len()),
        messages: rows_of(model.messages.len()),
    };
    let heights = Heights::of(wanted, area.height);
    if let Some(outdated) = outdated {
        frame.render_widget(outdated, rows.take(heights.outdated));
    }
    let programs = rows.take(heights.programs);
    frame.render_widget(Text::from(programs_in(model, programs, look)), programs);
    frame.render_widget(text_of(&facts), rows.take(heights.facts));
    if let (Some(rates), 1..) = (model.selected(), heights.graph) {
        let points: Vec<_> = model.history.newest(rates.process, POINTS_MAX).collect();
        let now = [format!("{:.1}", rates.frames_per_s), rate_table::per_s(rates.calls_per_s)];
        let frames = |point: &Point| Some(point.frames_per_s);
        let graph = (&points[..], look.colored(Color::Green));
        draw_graph(frame, rows.take(heights.graph), ("frames/s", &now[0]), graph, frames);
        let graph = (&points[..], look.colored(Color::Cyan));
        let commands = |point: &Point| point.calls_per_s;
        draw_graph(frame, rows.take(heights.graph), ("commands/s", &now[1]), graph, commands);
    }
    let captures = head_bold(&captures);
    frame.render_widget(Text::from(captures), rows.take(heights.captures));
    let shown = usize::from(heights.messages).min(model.messages.len());
    let messages: Vec<_> = model.messages.iter().skip(model.messages.len() - shown).collect();
    frame.render_widget(text_of(&messages), rows.take(heights.messages));
}

/// The rows that have not been drawn yet.
struct Rows {
    left: Rect,
}

impl Rows {
    fn take(&mut self, rows: u16) -> Rect {
        let taken = Rect { height: rows.min(self.left.height), ..self.left };
        self.left.y += taken.height;
        self.left.height -= taken.height;
        taken
    }

    fn take_last(&mut self) -> Rect {
        let height = self.left.height.min(1);
        self.left.height -= height;
        Rect { y: self.left.y + self.left.height, height, ..self.left }
    }
}

fn title(model: &Model) -> String {
    let Some(StatusInfo { pid, apps, captures, totals, left_out, .. }) = &model.info else {
        return "waiting for the daemon".to_owned();
    };
    let programs = counted(apps.len() as u64 + left_out.apps, "program");
    let captures = counted(captures.len() as u64 + left_out.captures, "capture");
    format!(
        "gapiid {pid}: {programs}, {captures}; recorded {}, {} in {}, lost {}",
        counted(totals.frames, "frame"),
        DecimalBytes(totals.raw_bytes),
        DecimalBytes(totals.file_bytes),
        HumanCount(totals.lost.calls),
    )
}

/// The table of programs, scrolled to the selected one.
fn programs_in(model: &Model, area: Rect, look: Look) -> Vec<Line<'static>> {
    if model.rates.is_empty() {
        return vec![Line::raw(apps::NO_APP)];
    }
    let table = fitted_table(&model.rates, area.width.into());
    let selected = model.selected_at().unwrap_or(0);
    let room = usize::from(area.height).saturating_sub(1).max(1);
    let first = (selected + 1).saturating_sub(room);
    let mut lines: Vec<_> = table.lines().map(|line| Line::raw(line.to_owned())).collect();
    for (at, (line, rates)) in lines.iter_mut().skip(1).zip(&model.rates).enumerate() {
        if rates.mode == "capturing" {
            line.style = look.colored(Color::Green);
        }
        if at == selected {
            line.style = line.style.add_modifier(Modifier::REVERSED);
        }
    }
    lines[0].style = BOLD;
    let rest = lines.split_off(1);
    lines.into_iter().chain(rest.into_iter().skip(first).take(room)).collect()
}

/// The table with as many of its columns as have room, at least those that are never spared.
fn fitted_table(rates: &[Rates], width: usize) -> String {
    let mut columns: Vec<&Column> = COLUMNS.iter().collect();
    loop {
        let table = table_of(rates, &columns);
        let is_too_wide = table.lines().any(|line| line.chars().count() > width);
        let spare = columns.iter().map(|column| column.spare).max().unwrap_or(0);
        if !is_too_wide || spare == 0 {
            return table;
        }
        columns.retain(|column| column.spare != spare);
    }
}

fn table_of(rates: &[Rates], columns: &[&Column]) -> String {
    // Columns that are left out are empty at the end of each row.
    let mut head: [String; COLUMNS.len()] = Default::default();
    for (cell, column) in head.iter_mut().zip(columns) {
        *cell = column.head.to_owned();
    }
    let rows = rates.iter().map(|rates| {
        let mut row: [String; COLUMNS.len()] = Default::default();
        for (cell, column) in row.iter_mut().zip(columns) {
            *cell = (column.cell)(rates);
        }
        row
    });
    table::aligned(std::iter::once(head).chain(rows))
}

/// What there is to say of the selected program, besides its row.
fn facts(model: &Model) -> Vec<String> {
    let Some(rates) = model.selected() else { return Vec::new() };
    let mut line = format!("{} ({})", rates.name, rates.pid);
    if let Some(total) = &rates.total {
        line.push_str(&format!(
            ": captured {}, {}; waits {}; lost {} ({})",
            counted(total.calls, "command"),
            DecimalBytes(total.ring_bytes),
            rate_table::waits(total),
            HumanCount(total.lost_calls),
            DecimalBytes(total.lost_bytes),
        ));
    }
    let kept = model.kept(rates.pid).map(|kept| {
        format!(
            "kept {} from {} on, in {} of {}; w saves them",
            counted(kept.frames, "frame"),
            counted(kept.keyframes, "keyframe"),
            DecimalBytes(kept.bytes),
            DecimalBytes(kept.limits.bytes),
        )
    });
    std::iter::once(line).chain(kept).collect()
}

/// The list of running captures, below its head; nothing if there are none. Those of the selected program come first.
fn captures(model: &Model) -> Vec<String> {
    let Some(info) = model.info.as_ref().filter(|info| !info.captures.is_empty()) else {
        return Vec::new();
    };
    let head = ["CAPTURE", "STATE", "FRAMES", "BYTES", "LOST", "FOR", "PROGRAMS", "FILE"];
    let selected = model.selected().map(|rates| rates.pid);
    let is_of_it = |capture: &&CaptureInfo| selected.is_some_and(|pid| capture.pids.contains(&pid));
    let (first, others): (Vec<_>, Vec<_>) = info.captures.iter().partition(is_of_it);
    let rows = first.into_iter().chain(others).map(|capture| {
        [
            capture.capture.to_string(),
            list::state(capture).to_owned(),
            HumanCount(capture.progress.frames).to_string(),
            DecimalBytes(capture.progress.file_bytes).to_string(),
            HumanCount(capture.progress.lost_calls).to_string(),
            format!("{}s", capture.running_ns / 1_000_000_000),
            list::programs(capture, &info.apps),
            model.own_of(capture).map_or_else(String::new, |own| own.file.clone()),
        ]
    });
    let table = table::aligned(std::iter::once(head.map(str::to_owned)).chain(rows));
    table.lines().map(str::to_owned).collect()
}

/// Draws a graph with the newest value at the right, and words about it on the left.
fn draw_graph(
    frame: &mut Frame<'_>,
    area: Rect,
    (name, now): (&str, &str),
    (points, style): (&[Point], Style),
    value: impl Fn(&Point) -> Option<f64>,
) {
    let words = Rect { width: GRAPH_WORDS.min(area.width), ..area };
    frame.render_widget(Line::raw(format!("{name:10} {now}")), words);
    let graph = Rect { x: area.x + words.width, width: area.width - words.width, ..area };
    let shown = points.len().min(graph.width.into());
    let empty = usize::from(graph.width) - shown;
    // Fractions of a frame per second are bars, too.
    let bars =
        points[points.len() - shown..].iter().map(|point| Some((value(point)? * 1000.0) as u64));
    let data: Vec<Option<u64>> = std::iter::repeat_n(None, empty).chain(bars).collect();
    frame.render_widget(Sparkline::default().data(data).style(style), graph);
}

fn head_bold(lines: &[String]) -> Vec<Line<'_>> {
    let style = |at| if at == 0 { BOLD } else { Style::new() };
    lines.iter().enumerate().map(|(at, line)| Line::styled(line.as_str(), style(at))).collect()
}

fn text_of(lines: &[impl AsRef<str>]) -> Text<'_> {
    lines.iter().map(|line| Line::raw(line.as_ref())).collect()
}

fn rows_of(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use gapii_control::KeptInfo;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::buffer::Buffer;

    use super::*;
    use crate::view::jobs::OwnCapture;
    use crate::view::keys::Key;
    use crate::view::model::tests::{capture, model, status};

    const COLORED: Look = Look { has_color: true };
    const PLAIN: Look = Look { has_color: false };

    fn drawn(model: &Model, (columns, rows): (u16, u16), look: Look) -> Buffer {
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        terminal.draw(|frame| draw(frame, model, look)).unwrap();
        terminal.backend().buffer().clone()
    }

    fn lines(model: &Model, size: (u16, u16)) -> Vec<String> {
        let buffer = drawn(model, size, PLAIN);
        let symbols: Vec<_> = buffer.content().iter().map(|cell| cell.symbol()).collect();
        symbols.chunks(size.0.into()).map(|row| row.concat().trim_end().to_owned()).collect()
    }

    /// Two programs, the second of which is captured by the view, with rates of three refreshes.
    fn captured() -> Model {
        let mut model = model(&[1, 2]);
        for second in 2..4 {
            let mut now = status(&[1, 2], second);
            now.info.apps[1].mode = "capturing".into();
            now.info.captures = vec![capture(3, 50, &[8]), capture(4, 77, &[42])];
            now.info.kept =
                vec![KeptInfo { pid: 42, is_running: true, frames: 9, ..KeptInfo::default() }];
            model.refresh(now);
        }
        model.own_are(vec![OwnCapture { client: 77, pid: 42, file: "gears2.gapii".into() }]);
        model.press(Key::Down);
        model.say("recording");
        model
    }

    #[test]
    fn wide_terminal_has_everything() {
        let lines = lines(&captured(), (100, 24));
        assert_eq!(
            lines[0],
            "gapiid 9: 2 programs, 2 captures; recorded 0 frames, 0 B in 0 B, lost 0"
        );
        assert_eq!(
            lines[1],
            "PID  NAME    APIS  MODE       FRAMES/S  COMMANDS/S  RINGS/S  WAITS  LOST"
        );
        assert_eq!(
            lines[3],
            "42   gears2        capturing  60.0      3,000       0 B      0      7"
        );
        assert_eq!(lines[4], "gears2 (42): captured 9,000 commands, 0 B; waits 0; lost 7 (0 B)");
        assert!(lines[5].starts_with("kept 9 frames from 0 keyframes on"), "{lines:#?}");
        let graph = lines.iter().find(|line| line.starts_with("frames/s   60.0")).unwrap();
        let bars = |line: &str| line.chars().filter(|c| ('▁'..='█').contains(c)).count();
        assert_eq!(bars(graph), 3, "{lines:#?}");
        let newest = lines.iter().find(|line| line.starts_with("commands/s 3,000")).unwrap();
        assert_eq!((newest.chars().count(), bars(newest)), (100, 3), "{lines:#?}");
        let head = lines.iter().position(|line| line.starts_with("CAPTURE  STATE")).unwrap();
        assert_eq!(
            lines[head + 1],
            "4        recording  12      3.00 MB  0     61s  gears2 (42)  gears2.gapii",
            "that of the selected program comes first"
        );
        assert!(lines[head + 2].starts_with("3        recording"), "{lines:#?}");
        assert_eq!(lines[head + 3], "recording");
        assert_eq!(lines[23], KEYS);
    }

    #[test]
    fn narrow_and_low_terminals_have_what_matters() {
        let lines = lines(&captured(), (40, 10));
        assert_eq!(lines[1], "PID  NAME    MODE       FRAMES/S  LOST");
        assert_eq!(lines[3], "42   gears2  capturing  60.0      7");
        assert!(lines.iter().any(|line| line.starts_with("4        recording")), "{lines:#?}");
        assert_eq!(lines[9], KEYS[..40].trim_end());
    }

    #[test]
    fn any_size_is_drawn() {
        let mut outdated = captured();
        outdated.outdated =
            Some("gapiid (process 9) is stopped; this is its status 3.0 s ago".into());
        for columns in [1, 2, 3, 9, 23, 24, 25, 40, 79] {
            for rows in 1..26 {
                for model in [&outdated, &Model::default()] {
                    lines(model, (columns, rows));
                }
            }
        }
    }

    #[test]
    fn old_figures_say_how_old_they_are() {
        let mut model = captured();
        model.outdated = Some("gapiid (process 9) is stopped; this is its status 3.0 s ago".into());
        assert_eq!(lines(&model, (80, 24))[1], model.outdated.clone().unwrap());
        let narrow = lines(&model, (40, 10));
        assert_eq!(
            narrow[1..3],
            ["gapiid (process 9) is stopped; this is", "its status 3.0 s ago"]
        );
    }

    #[test]
    fn list_is_scrolled_to_the_selected_program() {
        let mut model = model(&(1..=30).collect::<Vec<_>>());
        model.press(Key::Last);
        let lines = lines(&model, (40, 10));
        assert!(lines.iter().any(|line| line.starts_with("70 ")), "{lines:#?}");
        assert!(lines[1].starts_with("PID"), "{lines:#?}");
    }

    #[test]
    fn selected_program_is_reversed_and_colours_can_be_left_out() {
        let is_colored =
            |buffer: &Buffer| buffer.content().iter().any(|cell| cell.fg != Color::Reset);
        let (colored, plain) =
            (drawn(&captured(), (80, 24), COLORED), drawn(&captured(), (80, 24), PLAIN));
        assert!(is_colored(&colored) && !is_colored(&plain));
        for buffer in [colored, plain] {
            let reversed = |row| buffer[(0, row)].modifier.contains(Modifier::REVERSED);
            assert_eq!([1, 2, 3, 4].map(reversed), [false, false, true, false]);
        }
    }

    #[test]
    fn names_of_programs_send_the_terminal_nothing() {
        let mut now = status(&[1], 1);
        now.info.apps[0].name = "a\u{1b}[2J".into();
        let mut model = Model::default();
        model.refresh(now);
        assert!(lines(&model, (80, 24))[2].contains("a\\u{1b}[2J"));
    }

    #[test]
    fn dialogs_take_the_last_line_and_help_the_programs_place() {
        let mut model = captured();
        model.press(Key::Char('q'));
        assert_eq!(lines(&model, (80, 24))[23], "end 1 running capture and leave? y/n");
        model.press(Key::Escape);
        model.press(Key::Char('?'));
        let shown = lines(&model, (40, 24)).join("\n");
        for line in HELP.lines() {
            assert!(line.len() <= 40 && shown.contains(line), "{line}: {shown}");
        }
        assert!(!shown.contains("gears2"), "{shown}");
    }
}
