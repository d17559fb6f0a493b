//! Arithmetic of descriptions: whole numbers saturate, and nothing panics.
//!
//! Division by zero gives zero, and so does a shift by more than there are bits.

/// The most iterations a loop of a description runs, whatever the program says.
const ITERATIONS_MAX: i64 = 1 << 20;

/// A number as descriptions compute with it.
pub trait Int {
    fn int(self) -> i64;
}

macro_rules! int {
    ($($ty:ty),*) => {$(
        impl Int for $ty {
            fn int(self) -> i64 {
                self as i64
            }
        }
    )*};
}

int!(u8, i8, u16, i16, u32, i32, i64, usize);

/// What is beyond is the greatest there is: a timeout for ever, a size that no memory has.
impl Int for u64 {
    fn int(self) -> i64 {
        i64::try_from(self).unwrap_or(i64::MAX)
    }
}

impl Int for bool {
    fn int(self) -> i64 {
        i64::from(self)
    }
}

pub fn int(value: impl Int) -> i64 {
    value.int()
}

pub fn add(a: i64, b: i64) -> i64 {
    a.saturating_add(b)
}

pub fn sub(a: i64, b: i64) -> i64 {
    a.saturating_sub(b)
}

pub fn mul(a: i64, b: i64) -> i64 {
    a.saturating_mul(b)
}

pub fn neg(a: i64) -> i64 {
    a.saturating_neg()
}

pub fn div(a: i64, b: i64) -> i64 {
    if b == 0 { 0 } else { a.saturating_div(b) }
}

pub fn rem(a: i64, b: i64) -> i64 {
    if b == 0 { 0 } else { a.wrapping_rem(b) }
}

pub fn shl(a: i64, b: i64) -> i64 {
    u32::try_from(b).ok().and_then(|b| a.checked_shl(b)).unwrap_or(0)
}

pub fn shr(a: i64, b: i64) -> i64 {
    u32::try_from(b).ok().and_then(|b| a.checked_shr(b)).unwrap_or(0)
}

/// The numbers from `from` to below `to`, at most as many as a loop may run over.
pub fn range(from: i64, to: i64) -> std::ops::Range<i64> {
    from..to.min(from.saturating_add(ITERATIONS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_beyond_a_number_are_its_ends() {
        assert_eq!((int(u64::MAX), int(7u64), int(-1i32)), (i64::MAX, 7, -1));
        assert_eq!(add(i64::MAX, 1), i64::MAX);
        assert_eq!(sub(i64::MIN, 1), i64::MIN);
        assert_eq!(mul(i64::MAX, -2), i64::MIN);
        assert_eq!(neg(i64::MIN), i64::MAX);
        assert_eq!(div(i64::MIN, -1), i64::MAX);
    }

    #[test]
    fn division_by_zero_and_shifts_too_far_are_zero() {
        assert_eq!((div(7, 0), rem(7, 0), rem(i64::MIN, -1)), (0, 0, 0));
        assert_eq!((shl(1, 64), shl(1, -1), shr(1, 64)), (0, 0, 0));
        assert_eq!((shl(3, 2), shr(12, 2)), (12, 3));
    }

    #[test]
    fn loop_over_an_absurd_count_ends() {
        assert_eq!(range(0, i64::MAX).count(), ITERATIONS_MAX as usize);
        assert_eq!(range(5, 2).count(), 0);
    }
}
