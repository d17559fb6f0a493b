//! Which frames are worth to be looked at: the longest ones, those that differ most from the frame before, and some that
//! are spread evenly over the trace.

use std::collections::BTreeSet;

use gapii_analysis::stats::FrameStats;

/// Returns the positions of at most `most` frames, the most notable first: by turns the longest one, the one whose number
/// of commands differs most from the frame before, and one of those that are spread evenly. `times` are those of the
/// frames in nanoseconds, at the same positions; a frame without one is as long as it has commands.
pub fn notable_frames(frames: &[FrameStats], times: &[Option<u64>], most: usize) -> Vec<usize> {
    let time = |at: usize| times.get(at).copied().flatten();
    let mut longest: Vec<usize> = (0..frames.len()).collect();
    longest.sort_by_key(|at| std::cmp::Reverse((time(*at), frames[*at].commands)));
    let change = |at: usize| match at.checked_sub(1).map(|before| &frames[before]) {
        Some(before) if before.process == frames[at].process => {
            let draws = before.draws.abs_diff(frames[at].draws);
            before.commands.abs_diff(frames[at].commands).saturating_add(draws)
        }
        _ => 0,
    };
    let mut changed: Vec<usize> = (0..frames.len()).filter(|at| change(*at) > 0).collect();
    changed.sort_by_key(|at| std::cmp::Reverse(change(*at)));

    let mut chosen: Vec<usize> = Vec::new();
    let mut is_chosen = BTreeSet::new();
    let mut even = evenly(frames.len(), most).into_iter();
    let (mut longest, mut changed) = (longest.into_iter(), changed.into_iter());
    while chosen.len() < most.min(frames.len()) {
        let before = chosen.len();
        let orders: [&mut dyn Iterator<Item = usize>; 3] = [&mut longest, &mut changed, &mut even];
        for mut order in orders {
            // Through a reference, because `find` takes a sized iterator.
            let next = Iterator::find(&mut order, |at| !is_chosen.contains(at));
            if let Some(at) = next.filter(|_| chosen.len() < most) {
                is_chosen.insert(at);
                chosen.push(at);
            }
        }
        if chosen.len() == before {
            break;
        }
    }
    chosen
}

/// Positions that are spread evenly, the widest steps first: the first, the middle, the quarters, and so on.
fn evenly(count: usize, most: usize) -> Vec<usize> {
    let mut positions = vec![0];
    let mut steps = 1;
    while positions.len() < count.min(most) && steps < count {
        steps *= 2;
        let odd = (1..steps).step_by(2);
        positions.extend(odd.map(|step| (step as u128 * count as u128 / steps as u128) as usize));
    }
    positions.truncate(count);
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(commands: &[u64]) -> Vec<FrameStats> {
        let frame = |(frame, commands): (u64, &u64)| FrameStats {
            frame,
            commands: *commands,
            ..FrameStats::default()
        };
        (0..).zip(commands).map(frame).collect()
    }

    #[test]
    fn longest_changed_and_even_frames_take_turns() {
        let frames = frames(&[10, 10, 10, 10, 900, 10, 10, 10]);
        let mut times = vec![Some(16); 8];
        times[6] = Some(99);
        // The longest, the changed, the first; then the other changed one.
        assert_eq!(notable_frames(&frames, &times, 3), [6, 4, 0]);
        assert_eq!(notable_frames(&frames, &[], 3), [4, 5, 0]);
    }

    #[test]
    fn every_frame_is_chosen_once() {
        let frames = frames(&[5; 100]);
        let mut chosen = notable_frames(&frames, &[], 200);
        chosen.sort_unstable();
        assert_eq!(chosen, Vec::from_iter(0..100));
        assert_eq!(notable_frames(&frames, &[], 40).len(), 40);
        assert_eq!(notable_frames(&[], &[], 40), [0; 0]);
    }

    #[test]
    fn even_frames_halve_the_trace() {
        assert_eq!(evenly(100, 4)[..4], [0, 50, 25, 75]);
        assert_eq!(evenly(1, 4), [0]);
    }
}
