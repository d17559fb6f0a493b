//! The counter page and the mode page as memory files: created, sealed, mapped. The daemon's `ModeWriter` is the only
//! mapping of a mode page that can write. A new daemon copies the old page, generation included; if the old daemon died
//! while it changed the settings, the new page is idle. The application maps the new page over the old one at the same
//! address.

use std::io;
use std::num::NonZeroU64;
use std::ops::Deref;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use memmap2::{MmapOptions, MmapRaw};

use crate::layout::{CounterPage, ModePage, PAGE_BYTES};
use crate::map_error::MapError;
use crate::memfd;
use crate::mode_page::{CaptureId, ModeSettings, StoreTerms};
use crate::sync::Ordering;

/// A mapped counter page.
#[derive(Debug)]
pub struct CounterMap(MmapRaw);

impl CounterMap {
    /// Creates a session's counter. The descriptor is for its applications.
    pub fn create() -> io::Result<(Self, OwnedFd)> {
        let fd = memfd::create(c"gapii-counter", PAGE_BYTES)?;
        let map = memfd::map(&fd, PAGE_BYTES)?;
        memfd::seal(&fd, memfd::SEALS_SIZE)?;
        Ok((Self(map), fd))
    }

    /// Maps the counter that a daemon sent.
    pub fn map(fd: BorrowedFd<'_>) -> Result<Self, MapError> {
        memfd::check(fd, PAGE_BYTES)?;
        Ok(Self(memfd::map(&fd, PAGE_BYTES)?))
    }
}

impl Deref for CounterMap {
    type Target = CounterPage;

    fn deref(&self) -> &CounterPage {
        // SAFETY: a page, mapped for writing while `self` lives and sealed against shrinking; every word of
        // the type that anyone touches is an atomic.
        unsafe { &*self.0.as_ptr().cast() }
    }
}

/// The mode page as an application maps it: for reading.
#[derive(Debug)]
pub struct ModeMap(MmapRaw);

impl ModeMap {
    /// Maps the mode page that a daemon sent.
    pub fn map(fd: BorrowedFd<'_>) -> Result<Self, MapError> {
        memfd::check(fd, PAGE_BYTES)?;
        let map = MmapOptions::new().len(PAGE_BYTES as usize).map_raw_read_only(&fd)?;
        Ok(Self(map))
    }

    /// Maps an idle mode page that no daemon writes: for a recorder on its own, as in tests.
    pub fn idle() -> io::Result<Self> {
        Ok(Self(MmapOptions::new().len(PAGE_BYTES as usize).map_anon()?.into()))
    }

    /// Maps the page of another daemon over this one, at the same address: a thread that reads meanwhile
    /// reads one page or the other.
    pub fn replace(&self, fd: BorrowedFd<'_>) -> Result<(), MapError> {
        memfd::check(fd, PAGE_BYTES)?;
        let flags = libc::MAP_SHARED | libc::MAP_FIXED;
        let (at, len) = (self.0.as_mut_ptr().cast(), PAGE_BYTES as usize);
        // SAFETY: `at` and `len` are this map's own, which stays a readable page throughout: a page of a
        // memory file of that size that cannot shrink.
        let mapped = unsafe { libc::mmap(at, len, libc::PROT_READ, flags, fd.as_raw_fd(), 0) };
        if mapped == libc::MAP_FAILED { Err(io::Error::last_os_error().into()) } else { Ok(()) }
    }
}

impl Deref for ModeMap {
    type Target = ModePage;

    fn deref(&self) -> &ModePage {
        // SAFETY: a page, mapped while `self` lives and sealed against shrinking; all its words are atomics,
        // and the public methods of the type only load them.
        unsafe { &*self.0.as_ptr().cast() }
    }
}

/// The mode page as the daemon maps it: the only mapping that can write.
#[derive(Debug)]
pub struct ModeWriter(MmapRaw);

impl ModeWriter {
    /// Creates the mode page of one process, idle. The descriptor is for that process.
    pub fn create() -> io::Result<(Self, OwnedFd)> {
        let fd = memfd::create(c"gapii-mode", PAGE_BYTES)?;
        let writer = Self(memfd::map(&fd, PAGE_BYTES)?);
        memfd::seal(&fd, memfd::SEALS_SIZE | libc::F_SEAL_FUTURE_WRITE)?;
        writer.publish(ModeSettings::default());
        Ok((writer, fd))
    }

    /// Creates a page with the contents of another daemon's page, and returns its settings. If that daemon
    /// died while it changed the settings, the new page is idle, with the next generation.
    pub fn create_like(old: &ModePage) -> io::Result<(Self, OwnedFd, ModeSettings)> {
        let (writer, fd) = Self::create()?;
        let settings = writer.copy(old);
        if settings.is_none() {
            // Relaxed: no other process has this page yet.
            writer.generation.store(old.generation() | 1, Ordering::Relaxed);
            writer.publish(ModeSettings::default());
        }
        Ok((writer, fd, settings.unwrap_or_default()))
    }

    /// Names the process' capture. Call it before the settings that begin the capture.
    pub fn set_capture(&mut self, id: CaptureId) {
        ModePage::set_capture(self, id);
    }

    /// Sets which commands end a frame, as text. Call it before the settings that begin the capture, and change the settings
    /// next: until then the process reads none.
    pub fn set_frame_rule(&mut self, text: &[u8]) {
        ModePage::set_frame_rule(self, text);
    }

    /// Sets how many captures of the process could continue in their files if the daemon died.
    pub fn set_takers(&mut self, takers: u32) {
        ModePage::set_takers(self, takers);
    }

    /// Changes the settings, wakes a process that waits for them, and returns the new generation. One thread
    /// at a time: hence `&mut`.
    pub fn set(&mut self, settings: ModeSettings) -> u64 {
        self.publish(settings)
    }

    /// Makes the process forget its list of sent blobs. Call it before the settings that begin a capture.
    pub fn raise_blob_epoch(&mut self) {
        ModePage::raise_blob_epoch(self);
    }

    /// Sets the terms of the store. Call it before the settings that begin a capture.
    pub fn set_store(&mut self, terms: StoreTerms) {
        ModePage::set_store(self, terms);
    }

    /// Asks for a keyframe at the end of the present frame.
    pub fn ask_keyframe(&mut self) {
        ModePage::ask_keyframe(self);
    }

    /// Asks for a keyframe at the end of the first frame after which the process has ended `frame` frames, as its segment
    /// counts them. Replaces the last such wish.
    pub fn ask_keyframe_at(&mut self, frame: NonZeroU64) {
        ModePage::ask_keyframe_at(self, frame);
    }

    /// Lifts the frame limit of the present settings.
    pub fn lift_frame_limit(&mut self) {
        ModePage::lift_frame_limit(self);
    }

    /// Sets whether the drain sleeps on the doorbell.
    pub fn set_drain_sleeping(&self, sleeps: bool) {
        ModePage::set_drain_sleeping(self, sleeps);
    }
}

impl Deref for ModeWriter {
    type Target = ModePage;

    fn deref(&self) -> &ModePage {
        // SAFETY: a page, mapped for writing while `self` lives and sealed against shrinking; all its words
        // are atomics.
        unsafe { &*self.0.as_ptr().cast() }
    }
}
