//! Reproducible random numbers (xorshift64*): a failing test prints its seed.

pub struct Random(u64);

impl Random {
    /// Seeded from `GAPII_SEED` if set, otherwise from the clock; prints the seed on stderr.
    pub fn seeded(what: &str) -> Self {
        let seed = match std::env::var("GAPII_SEED") {
            Ok(seed) => seed.parse().expect("GAPII_SEED is a number"),
            Err(_) => std::time::UNIX_EPOCH.elapsed().map_or(1, |now| now.as_nanos() as u64),
        };
        eprintln!("{what}: GAPII_SEED={seed}");
        Self(seed | 1)
    }

    /// From this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// A number below `limit`, which is not zero.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16) % limit
    }
}
