//! Lines on standard error. In systemd's journal each has its priority.

use std::fmt::Display;
use std::sync::OnceLock;

/// Reports that something was done.
pub fn info(said: &dyn Display) {
    line(6, said);
}

/// Reports that something is wrong, and that the service goes on.
pub fn warn(said: &dyn Display) {
    line(4, said);
}

/// Reports why the service ends.
pub fn error(said: &dyn Display) {
    line(3, said);
}

fn line(priority: u8, said: &dyn Display) {
    static IS_JOURNAL: OnceLock<bool> = OnceLock::new();
    match IS_JOURNAL.get_or_init(|| std::env::var_os("JOURNAL_STREAM").is_some()) {
        true => eprintln!("<{priority}>{said}"),
        false => eprintln!("gapii-upload: {said}"),
    }
}
