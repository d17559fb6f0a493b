//! Numbers of 32 bits from which an upload makes the depths that a texture of fewer bits has.
//!
//! Mesa converts an uploaded number through one of 24 bits and cuts off what is left, so the number that it reads from a
//! texture does not always give the same depth again. It is changed in its low bits until it does.

/// Steps that are added to a number, one after the other, until it gives the depth. The next depth of 24 bits is 256 away.
const STEPS: [i32; 6] = [0x40, -0x40, 0x80, -0x80, 0xff, -0xff];

/// Changes the numbers that do not give the depths which they were read from. `stored` uploads numbers and returns what is
/// read back; `None` if it cannot. A number stays that no step helps.
pub fn settle(numbers: &mut [u32], mut stored: impl FnMut(&[u32]) -> Option<Vec<u32>>) {
    let wanted = numbers.to_vec();
    for step in STEPS.into_iter().chain([0]) {
        let Some(seen) = stored(numbers) else {
            numbers.copy_from_slice(&wanted);
            return;
        };
        let mut is_settled = true;
        for ((number, wanted), seen) in numbers.iter_mut().zip(&wanted).zip(&seen) {
            if seen != wanted {
                *number = wanted.saturating_add_signed(step);
                is_settled = false;
            }
        }
        if is_settled {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A texture with 24 bits, as Mesa 22.3 fills and reads it.
    fn stored(numbers: &[u32]) -> Option<Vec<u32>> {
        let depth = |number: &u32| {
            let part = *number as f32 * (1.0 / u32::MAX as f32);
            let depth = (part * 16_777_215.0) as u32;
            depth << 8 | depth >> 16
        };
        Some(numbers.iter().map(depth).collect())
    }

    /// All numbers that are read from such a texture, 97 apart and around the middle.
    fn read() -> Vec<u32> {
        let depths = (0..1 << 24).step_by(97).chain(0x7f_ff00..0x81_0100).chain([0xff_ffff]);
        depths.map(|depth: u32| depth << 8 | depth >> 16).collect()
    }

    #[test]
    fn numbers_give_the_depths_that_they_were_read_from() {
        let mut numbers = read();
        assert_ne!(stored(&numbers).unwrap(), read());
        settle(&mut numbers, stored);
        assert_eq!(stored(&numbers).unwrap(), read());
    }

    #[test]
    fn numbers_that_nothing_helps_stay() {
        let mut numbers = vec![1, 2, 3];
        settle(&mut numbers, |numbers| Some(vec![0; numbers.len()]));
        assert_eq!(numbers, [1, 2, 3]);
        settle(&mut numbers, |_| None);
        assert_eq!(numbers, [1, 2, 3]);
    }
}
