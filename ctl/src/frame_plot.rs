//! `FramePlot`: the times of frames over a trace as an SVG picture, with axes, the median and the slowest frames. Readable on
//! light and dark pages. Many frames share a column of pixels, which then shows the shortest and the longest of them, so the
//! picture's size is bounded. A process has its own row. At most 8 processes (`ROWS_MAX`) have one; of others the picture
//! says how many there are.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use gapii_trace::Command;

/// Most rows.
const ROWS_MAX: usize = 8;
/// Slowest frames of a row that are marked.
const MARKED: usize = 5;
const WIDTH: u32 = 960;
const ROW_HEIGHT: u32 = 300;
/// Around the area of a row, for its axes.
const LEFT: u32 = 70;
const RIGHT: u32 = 20;
const TOP: u32 = 40;
const BOTTOM: u32 = 50;
/// Marks of an axis.
const TICKS: u64 = 5;

const STYLE: &str = "\
svg { color-scheme: light dark; font: 12px sans-serif; --ink: #222; --faint: #ccc; --data: #1565c0; --slow: #c62828 }
@media (prefers-color-scheme: dark) { svg { --ink: #ddd; --faint: #444; --data: #64b5f6; --slow: #ef5350 } }
text { fill: var(--ink) } .axis { stroke: var(--ink) } .grid { stroke: var(--faint) } .data { stroke: var(--data) }
.median { stroke: var(--ink); stroke-dasharray: 4 4 } .slow { fill: none; stroke: var(--slow); stroke-width: 2 }";

/// Ends of frames, by process.
#[derive(Debug, Default)]
pub struct FramePlot {
    /// By index of the process: its id, and its frames.
    processes: BTreeMap<u32, (u32, Vec<u64>)>,
}

/// A frame with the frame before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    /// Its number among those with a time.
    number: usize,
    end_ns: u64,
    /// Since the end of the frame before.
    len_ns: u64,
}

impl FramePlot {
    /// Notes the frame that the command ended, if it did and the time is known.
    pub fn note(&mut self, command: &Command<'_>) {
        if let Some(end_ns) = command.frame_end_ns {
            self.add(command.process, command.pid, end_ns);
        }
    }

    fn add(&mut self, process: u32, pid: u32, end_ns: u64) {
        self.processes.entry(process).or_insert_with(|| (pid, Vec::new())).1.push(end_ns);
    }

    /// Returns the picture; `None` if no process has two frames with times.
    pub fn svg(mut self) -> Option<String> {
        let rows: Vec<(u32, Vec<Frame>)> = self
            .processes
            .values_mut()
            .map(|(pid, ends)| (*pid, frames(ends)))
            .filter(|(_, frames)| !frames.is_empty())
            .collect();
        let first_ns =
            rows.iter().filter_map(|(_, frames)| Some(frames.first()?.begin_ns())).min()?;
        let last_ns = rows.iter().filter_map(|(_, frames)| Some(frames.last()?.end_ns)).max()?;
        let shown = &rows[..rows.len().min(ROWS_MAX)];
        let height = ROW_HEIGHT * shown.len() as u32 + 20;
        let mut svg = String::new();
        // Writing into a string cannot fail.
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n\
             <title>Times of frames</title>\n<style>\n{STYLE}\n</style>\n"
        );
        for (at, (pid, frames)) in (0..).zip(shown) {
            let row = Row { frames, pid: *pid, top: at * ROW_HEIGHT, first_ns, last_ns };
            let _ = row.write(&mut svg);
        }
        if rows.len() > ROWS_MAX {
            let others = rows.len() - ROWS_MAX;
            let _ = writeln!(
                svg,
                "<text x=\"{LEFT}\" y=\"{}\">{others} more processes are not shown</text>",
                height - 6
            );
        }
        svg.push_str("</svg>\n");
        Some(svg)
    }
}

impl Frame {
    fn begin_ns(&self) -> u64 {
        self.end_ns - self.len_ns
    }
}

/// Returns the frames between these ends, in the order of time.
fn frames(ends: &mut [u64]) -> Vec<Frame> {
    ends.sort_unstable();
    let pairs = ends.windows(2).enumerate();
    pairs
        .map(|(at, pair)| Frame { number: at + 1, end_ns: pair[1], len_ns: pair[1] - pair[0] })
        .collect()
}

/// The row of a process in the picture.
struct Row<'a> {
    frames: &'a [Frame],
    pid: u32,
    /// Upper edge in pixels.
    top: u32,
    /// The time axis.
    first_ns: u64,
    last_ns: u64,
}

impl Row<'_> {
    fn write(&self, out: &mut String) -> fmt::Result {
        let mut slowest: Vec<Frame> = self.frames.to_vec();
        slowest.sort_by_key(|frame| {
            std::cmp::Reverse((frame.len_ns, std::cmp::Reverse(frame.number)))
        });
        let median_ns = slowest[slowest.len() / 2].len_ns;
        let (step, most_ns) = scale(slowest[0].len_ns);
        let (bottom, right) = (self.top + ROW_HEIGHT - BOTTOM, WIDTH - RIGHT);
        writeln!(
            out,
            "<text x=\"{LEFT}\" y=\"{}\">process {}: {} frames, median {}, longest {}</text>",
            self.top + 20,
            self.pid,
            self.frames.len(),
            Milliseconds(median_ns),
            Milliseconds(slowest[0].len_ns)
        )?;
        for tick_ns in (0..=most_ns).step_by(step as usize) {
            let y = self.y(tick_ns, most_ns);
            writeln!(out, "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/>")?;
            let x = LEFT - 6;
            writeln!(
                out,
                "<text x=\"{x}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                y + 4.0,
                Milliseconds(tick_ns)
            )?;
        }
        let (step, most) = scale(self.last_ns - self.first_ns);
        for since_ns in (0..=most).step_by(step as usize) {
            let Some(x) = self.x(self.first_ns + since_ns) else { break };
            writeln!(out, "<path class=\"axis\" d=\"M{x:.1} {bottom}v5\"/>")?;
            let seconds = since_ns as f64 / 1e9;
            writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{seconds} s</text>",
                bottom + 18
            )?;
        }
        writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">time since the first frame</text>",
            (LEFT + right) / 2,
            bottom + 36
        )?;
        writeln!(
            out,
            "<path class=\"axis\" fill=\"none\" d=\"M{LEFT} {}V{bottom}H{right}\"/>",
            self.top + TOP
        )?;
        self.write_columns(out, most_ns)?;
        let y = self.y(median_ns, most_ns);
        writeln!(out, "<path class=\"median\" d=\"M{LEFT} {y:.1}H{right}\"/>")?;
        for frame in slowest.iter().take(MARKED) {
            let Some(x) = self.x(frame.end_ns) else { continue };
            let y = self.y(frame.len_ns, most_ns);
            let Frame { number, len_ns, .. } = *frame;
            writeln!(
                out,
                "<circle class=\"slow\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"><title>frame {number}: {}</title></circle>",
                Milliseconds(len_ns)
            )?;
        }
        Ok(())
    }

    /// Draws a line for each column of pixels with frames, from the shortest to the longest of them.
    fn write_columns(&self, out: &mut String, most_ns: u64) -> fmt::Result {
        let mut columns: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for frame in self.frames {
            let Some(x) = self.x(frame.end_ns) else { continue };
            let (least, most) = columns.entry(x as u32).or_insert((frame.len_ns, frame.len_ns));
            (*least, *most) = ((*least).min(frame.len_ns), (*most).max(frame.len_ns));
        }
        out.push_str("<path class=\"data\" d=\"");
        for (x, (least, most)) in columns {
            let (low, high) = (self.y(least, most_ns), self.y(most, most_ns));
            // A single frame is a dot.
            write!(out, "M{x} {:.1}V{:.1}", low + 1.0, high - 1.0)?;
        }
        out.push_str("\"/>\n");
        Ok(())
    }

    /// Returns where a time is, unless it is behind the axis.
    fn x(&self, at_ns: u64) -> Option<f64> {
        let all = (self.last_ns - self.first_ns).max(1);
        let since = at_ns.checked_sub(self.first_ns).filter(|since| *since <= all)?;
        Some(f64::from(LEFT) + f64::from(WIDTH - LEFT - RIGHT) * since as f64 / all as f64)
    }

    fn y(&self, len_ns: u64, most_ns: u64) -> f64 {
        let height = f64::from(ROW_HEIGHT - TOP - BOTTOM);
        f64::from(self.top + ROW_HEIGHT - BOTTOM) - height * len_ns as f64 / most_ns as f64
    }
}

/// Returns the step between marks of an axis that reaches up to `most_ns`, and the last mark, in nanoseconds: about five
/// marks, at 1, 2 or 5 times a power of ten.
fn scale(most_ns: u64) -> (u64, u64) {
    let least = (most_ns / TICKS).max(1);
    let power = 10_u64.pow(least.ilog10());
    let step = [1, 2, 5, 10].into_iter().map(|times| times * power).find(|step| *step >= least);
    let step = step.unwrap_or(10 * power);
    (step, most_ns.max(1).next_multiple_of(step))
}

/// A time in milliseconds, with three digits.
struct Milliseconds(u64);

impl fmt::Display for Milliseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.0 as f64 / 1e6;
        let digits = if ms == 0.0 || ms >= 100.0 {
            0
        } else if ms >= 10.0 {
            1
        } else {
            2
        };
        write!(f, "{ms:.digits$} ms")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(processes: &[&[u64]]) -> Option<String> {
        let mut plot = FramePlot::default();
        for (process, ends) in (0..).zip(processes) {
            ends.iter().for_each(|end_ns| plot.add(process, 4711 + process, *end_ns));
        }
        plot.svg()
    }

    const MS: u64 = 1_000_000;

    #[test]
    fn picture_has_a_row_for_each_process_with_frames() {
        let svg =
            plot(&[&[10 * MS, 20 * MS, 35 * MS, 45 * MS], &[5 * MS], &[7 * MS, 9 * MS]]).unwrap();
        assert!(svg.contains("process 4711: 3 frames, median 10.0 ms, longest 15.0 ms"), "{svg}");
        assert!(svg.contains("process 4713: 1 frames, median 2.00 ms"), "{svg}");
        assert!(!svg.contains("process 4712"), "{svg}");
        assert!(svg.contains("<title>frame 2: 15.0 ms</title>"), "{svg}");
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert_eq!(svg.matches("<circle").count(), 4);
    }

    #[test]
    fn trace_without_two_frames_has_no_picture() {
        for processes in [&[][..], &[&[5][..]], &[&[5][..], &[6][..]]] {
            assert_eq!(plot(processes), None);
        }
    }

    #[test]
    fn long_trace_has_a_picture_of_bounded_size() {
        let ends: Vec<u64> = (0..200_000).map(|frame| frame * 16 * MS).collect();
        let svg = plot(&[&ends]).unwrap();
        assert!(svg.len() < 64 << 10, "{} bytes", svg.len());
        let many: Vec<&[u64]> = vec![&[1, 2]; 10];
        let svg = plot(&many).unwrap();
        assert!(svg.contains("2 more processes are not shown"), "{svg}");
    }

    #[test]
    fn marks_of_axes_are_round_and_reach_the_longest() {
        for (most, expected) in [
            (0, (1, 1)),
            (5, (1, 5)),
            (17 * MS, (5 * MS, 20 * MS)),
            (1000, (200, 1000)),
            (4999, (1000, 5000)),
        ] {
            assert_eq!(scale(most), expected, "{most}");
        }
    }

    #[test]
    fn frames_of_several_threads_are_in_the_order_of_time() {
        let lens: Vec<_> = frames(&mut [30, 10, 20]).iter().map(|frame| frame.len_ns).collect();
        assert_eq!(lens, [10, 10]);
        let all_at_once = plot(&[&[5, 5, 5]]).unwrap();
        assert!(!all_at_once.contains("NaN"), "{all_at_once}");
    }
}
