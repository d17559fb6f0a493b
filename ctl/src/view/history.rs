//! `History`: the rates of each program at the last [`POINTS_MAX`], 600, refreshes. A program that is gone is forgotten.

use std::collections::{BTreeMap, VecDeque};

use crate::rates::Rates;

/// Largest number of refreshes that are kept for each program.
pub const POINTS_MAX: usize = 600;

/// Rates of a program at a refresh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub frames_per_s: f64,
    /// `None` from a daemon that does not count commands.
    pub calls_per_s: Option<f64>,
}

#[derive(Default)]
pub struct History {
    /// By the program's index in the session, oldest first.
    programs: BTreeMap<u32, VecDeque<Point>>,
}

impl History {
    /// Adds the rates of a refresh.
    pub fn add(&mut self, rates: &[Rates]) {
        self.programs.retain(|process, _| rates.iter().any(|rates| rates.process == *process));
        for Rates { process, frames_per_s, calls_per_s, .. } in rates {
            let points = self.programs.entry(*process).or_default();
            if points.len() == POINTS_MAX {
                points.pop_front();
            }
            points.push_back(Point { frames_per_s: *frames_per_s, calls_per_s: *calls_per_s });
        }
    }

    /// Returns the newest `count` points of a program, oldest first.
    pub fn newest(&self, process: u32, count: usize) -> impl Iterator<Item = Point> + '_ {
        let points = self.programs.get(&process);
        let left_out = points.map_or(0, |points| points.len().saturating_sub(count));
        points.into_iter().flatten().skip(left_out).copied()
    }
}

#[cfg(test)]
mod tests {
    use gapii_control::AppInfo;

    use super::*;

    fn rates(process: u32, frames: u64) -> Rates {
        let app = AppInfo { process, frames, connected_ns: 1_000_000_000, ..AppInfo::default() };
        Rates::between(&[], &[app]).remove(0)
    }

    #[test]
    fn last_points_of_each_connected_program_are_kept() {
        let mut history = History::default();
        for frames in 0..POINTS_MAX as u64 + 3 {
            history.add(&[rates(1, frames), rates(2, 7)]);
        }
        let frames = |history: &History, process, count| -> Vec<f64> {
            history.newest(process, count).map(|point| point.frames_per_s).collect()
        };
        assert_eq!(frames(&history, 1, 2), [601.0, 602.0]);
        assert_eq!(frames(&history, 1, usize::MAX).len(), POINTS_MAX);
        history.add(&[rates(2, 8)]);
        assert!(frames(&history, 1, 2).is_empty());
        assert_eq!(frames(&history, 2, 2), [7.0, 8.0]);
    }
}
