//! Digests of values, which are compared within one run of the tool only. Their seed is random, so that nobody can make two
//! traces whose different commands have the same digest.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::LazyLock;

use foldhash::quality::RandomState;

/// The seed of all digests of this process.
static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::default);

/// Computes a digest of what is hashed.
pub type Digest = <RandomState as BuildHasher>::Hasher;

/// A map with keys from a trace. Its seed is random, too.
pub type Map<K, V> = HashMap<K, V, RandomState>;

/// Begins a digest.
pub fn begin() -> Digest {
    SEED.build_hasher()
}

/// Returns the digest of a value.
pub fn of(value: impl Hash) -> u64 {
    let mut digest = begin();
    value.hash(&mut digest);
    digest.finish()
}
