use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::Extensions;
use crate::group::Group;
use crate::process::Process;

/// State of a context.
#[derive(Debug)]
pub struct Context {
    /// The program's `EGLContext`.
    pub handle: u64,
    /// What it shares with others.
    pub group: Arc<Group>,
    /// Client version: major, minor.
    pub version: (u8, u8),
    /// Those that descriptions ask about.
    pub extensions: Extensions,
    /// Names of the group that this context used last.
    pub caches: Caches,
}

impl Context {
    pub fn new(handle: u64, group: Arc<Group>, version: (u8, u8)) -> Self {
        Self {
            handle,
            group,
            version,
            extensions: Extensions::default(),
            caches: Caches::default(),
        }
    }
}

/// Names of the group that a context used last, by kind.
#[derive(Default, Debug)]
pub struct Caches {}

/// State of a share group.
#[derive(Debug)]
pub struct GroupState {}

impl GroupState {
    pub fn new(version: &Arc<AtomicU64>) -> Self {
        let _ = version;
        Self {}
    }
}

/// State of a process.
#[derive(Default, Debug)]
pub struct ProcessState {}

/// State of a thread.
#[derive(Debug)]
pub struct Thread {
    pub process: Arc<Process>,
    /// The context that is current.
    pub context: Option<Box<Context>>,
    pub id: u64,
    /// The context that was current when eglMakeCurrent or eglReleaseThread began.
    pub released: u64,
}

impl Thread {
    pub fn new(process: Arc<Process>, id: u64) -> Self {
        Self { process, context: None, id, released: 0 }
    }
}
