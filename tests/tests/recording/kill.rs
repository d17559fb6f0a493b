//! Programs killed at random moments; the long form is in the soak run.

use gapii_tests::kill::kill_once;
use gapii_tests::random::Random;

#[test]
fn killed_program_leaves_a_whole_trace() {
    let mut random = Random::seeded("kill");
    for _ in 0..10 {
        kill_once(&mut random, 150_000, &[]);
    }
}
