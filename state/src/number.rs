//! Arithmetic of descriptions: integers saturate, and no function panics. Division by zero gives zero, and so does a
//! shift by a negative number or by 64 and more bits. A loop makes at most 1,048,576 iterations (`ITERATIONS_MAX`).

/// Maximum number of iterations of a loop in a description, whatever the program's arguments are.
const ITERATIONS_MAX: i64 = 1 << 20;

/// A number that converts to `i64`, the type of integers in computations of descriptions.
pub trait Int {
    /// Returns the number as 64 signed bits.
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

/// Values above `i64::MAX` become `i64::MAX`: they are infinite timeouts, or sizes that exceed any memory.
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

/// Returns a number as 64 signed bits.
pub fn int(value: impl Int) -> i64 {
    value.int()
}

/// Returns `a + b`, saturating.
pub fn add(a: i64, b: i64) -> i64 {
    a.saturating_add(b)
}

/// Returns `a - b`, saturating.
pub fn sub(a: i64, b: i64) -> i64 {
    a.saturating_sub(b)
}

/// Returns `a * b`, saturating.
pub fn mul(a: i64, b: i64) -> i64 {
    a.saturating_mul(b)
}

/// Returns `-a`, saturating.
pub fn neg(a: i64) -> i64 {
    a.saturating_neg()
}

/// Returns `a / b`, rounded towards zero; 0 if `b` is 0.
pub fn div(a: i64, b: i64) -> i64 {
    if b == 0 { 0 } else { a.saturating_div(b) }
}

/// Returns the remainder of `a / b`; 0 if `b` is 0.
pub fn rem(a: i64, b: i64) -> i64 {
    if b == 0 { 0 } else { a.wrapping_rem(b) }
}

/// Returns `a << b`; 0 if `b` is negative or 64 and more.
pub fn shl(a: i64, b: i64) -> i64 {
    u32::try_from(b).ok().and_then(|b| a.checked_shl(b)).unwrap_or(0)
}

/// Returns `a >> b`, which keeps the sign; 0 if `b` is negative or 64 and more.
pub fn shr(a: i64, b: i64) -> i64 {
    u32::try_from(b).ok().and_then(|b| a.checked_shr(b)).unwrap_or(0)
}

/// Returns the numbers from `from` to below `to`, cut after the most iterations that a loop may have.
pub fn range(from: i64, to: i64) -> std::ops::Range<i64> {
    from..to.min(from.saturating_add(ITERATIONS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_out_of_range_saturate() {
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
    fn loop_over_a_huge_count_ends() {
        assert_eq!(range(0, i64::MAX).count(), ITERATIONS_MAX as usize);
        assert_eq!(range(5, 2).count(), 0);
    }
}
