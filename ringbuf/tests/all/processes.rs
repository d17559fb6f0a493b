//! Real threads and processes: order across them, and the state after a SIGKILL.
//!
//! Children are made by `fork` and touch nothing but their ring, their stack and system calls: no
//! allocation, no locks, no return into the test.

#![cfg(all(not(loom), target_os = "linux"))]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

#[cfg(target_arch = "x86_64")]
use crate::common::try_produce_last;
use crate::common::{Random, Record, Session, drain_to, parse, produce_checked, try_produce};
#[cfg(target_arch = "x86_64")]
use gapii_ringbuf::Standing;
use gapii_ringbuf::{Consumer, LaneId, Merger, Producer, Reading, Room, SegmentRing};

/// A child process; killed and reaped when dropped.
struct Child(libc::pid_t);

impl Child {
    /// Runs `body` in a child process, which exits with the result of `body`.
    fn fork(body: impl FnOnce() -> i32) -> Self {
        // SAFETY: the child does nothing that another thread's lock could hold up; see above.
        match unsafe { libc::fork() } {
            0 => {
                let status = body();
                // SAFETY: ends the child without running anything of the parent's.
                unsafe { libc::_exit(status) }
            }
            pid => {
                assert!(pid > 0, "fork works");
                Self(pid)
            }
        }
    }

    fn kill(&self) {
        // SAFETY: a system call; the child is ours and not reaped.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
    }

    /// Waits for the next change of state.
    fn wait(&self) -> i32 {
        let mut status = 0;
        // SAFETY: a system call that fills in `status`; the child is ours.
        let waited = unsafe { libc::waitpid(self.0, &mut status, 0) };
        assert_eq!(waited, self.0, "the child is there to be waited for");
        status
    }
}

/// Kills and reaps whatever is left.
impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
        // SAFETY: a system call without a result to fill in.
        while unsafe { libc::waitpid(self.0, std::ptr::null_mut(), 0) } > 0 {}
    }
}

/// Drains the ring of a dead process to its end, adopted record included.
fn drain_dead(consumer: &mut Consumer<SegmentRing>) -> Vec<Record> {
    let mut records = Vec::new();
    loop {
        let head = consumer.head_of_dead_untrusted();
        if head == consumer.read_index() {
            return records;
        }
        records.extend(drain_to(consumer, head));
    }
}

fn assert_contiguous(records: &[Record], next: &mut u64) {
    for record in records {
        assert_eq!(record.seq_checked(), *next);
        *next += 1;
    }
}

/// Body of a child in the kill tests: it produces until it dies.
fn produce_for_ever(producer: &mut Producer) -> i32 {
    for seq in 0.. {
        while produce_checked(producer, seq) != Room::Ready {
            producer.wait_for_room(96, Duration::from_secs(10));
        }
        producer.finish();
    }
    1
}

#[test]
#[cfg_attr(miri, ignore = "needs processes")]
fn killed_process_leaves_all_it_published_whole() {
    let mut random = Random(0x0123_4567_89AB_CDEF);
    for _ in 0..100 {
        let session = Session::new(1, 4096);
        let (slot, mut producer) = session.producer();
        let mut consumer = session.consumer(slot);
        let child = Child::fork(|| produce_for_ever(&mut producer));
        let kill_after = random.below(2000);
        let mut next = 0;
        while next < kill_after {
            let head = consumer.head_untrusted();
            assert_contiguous(&drain_to(&mut consumer, head), &mut next);
            consumer.release(consumer.read_index());
        }
        child.kill();
        child.wait();
        assert_contiguous(&drain_dead(&mut consumer), &mut next);
        let counts = session.segment.slot(slot).expect("exists").counts_untrusted();
        assert_eq!((counts.produced, consumer.consumed()), (next, next));
    }
}

/// Stops a child after every single one of its instructions, for as many as write a few records and cross the end of a lap,
/// and reads a copy of its memory: all that it would leave if it were killed there.
#[test]
#[cfg_attr(miri, ignore = "needs processes")]
#[cfg(target_arch = "x86_64")]
fn process_killed_at_any_instruction_leaves_a_lawful_ring() {
    let session = Session::new(1, 4096);
    let (slot, mut producer) = session.producer();
    let mut consumer = session.consumer(slot);
    // Near the end of the lap, so that the end may also interrupt padding.
    while consumer.head_untrusted() < 4096 - 96 {
        assert_eq!(try_produce(&mut producer, 9, 0, &[0; 8]), Room::Ready);
    }
    let before = drain_dead(&mut consumer).len() as u64;
    consumer.release(consumer.read_index());
    let index = consumer.read_index();
    let standing = Standing { index, records: before, goes_on: true, ..Standing::default() };

    let child = Child::fork(|| {
        // SAFETY: system calls without memory; the parent waits for the stop.
        unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) };
        // SAFETY: as above.
        unsafe { libc::raise(libc::SIGSTOP) };
        for seq in 0..3 {
            let payload = [seq as u8; 24];
            let is_published = match seq {
                1 => try_produce_last(&mut producer, seq, &payload),
                _ => try_produce(&mut producer, seq, 0, &payload),
            };
            if is_published != Room::Ready {
                return 1;
            }
            producer.finish();
        }
        0
    });
    assert!(libc::WIFSTOPPED(child.wait()), "ptrace is allowed for one's own children");
    let mut adopted = 0;
    let mut written = 0;
    for instructions in 0.. {
        let left = session.copy();
        let mut consumer = left.consumer(slot);
        assert!(consumer.go_on(standing), "the ring is released up to there");
        let published = consumer.head_untrusted();
        let records = drain_dead(&mut consumer);
        adopted += usize::from(consumer.read_index() > published);
        for (index, record) in records.iter().enumerate() {
            assert_eq!(usize::from(record.header.id()), index);
            assert_eq!(record.payload, [index as u8; 24]);
        }
        let produced = left.segment.slot(slot).expect("exists").counts_untrusted().produced;
        assert_eq!(produced, before + records.len() as u64, "after {instructions} instructions");
        assert!(consumer.finished_untrusted() <= consumer.read_index());
        assert!(records.len() >= written, "one instruction more, not one record less");
        written = records.len();
        if !step(&child) {
            break;
        }
    }
    assert_eq!(written, 3);
    assert!(adopted >= 3, "every record is counted before it is published: {adopted}");
}

/// Lets the stopped child run one instruction; false if it exited.
#[cfg(target_arch = "x86_64")]
fn step(child: &Child) -> bool {
    // SAFETY: a system call on our own stopped child.
    let stepped = unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, child.0, 0, 0) };
    assert_eq!(stepped, 0, "the child is stopped");
    libc::WIFSTOPPED(child.wait())
}

#[test]
#[cfg_attr(miri, ignore = "needs processes")]
fn child_of_a_fork_is_detached_when_its_producer_is_wiped() {
    let session = Session::new(1, 4096);
    let (slot, attached) = session.producer();
    // SAFETY: a fresh private page of our own.
    let page = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            4096,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    assert_ne!(page, libc::MAP_FAILED);
    // SAFETY: the page was just mapped.
    assert_eq!(unsafe { libc::madvise(page, 4096, libc::MADV_WIPEONFORK) }, 0);
    let producer = page.cast::<Producer>();
    // SAFETY: the page is large enough, aligned and ours.
    unsafe { producer.write(attached) };
    // SAFETY: just written, and used through this reference alone.
    let producer = unsafe { &mut *producer };
    assert_eq!(try_produce(producer, 1, 0, &[]), Room::Ready);
    let child = Child::fork(|| {
        let detached = !producer.is_attached();
        let room = try_produce(producer, 2, 0, &[]);
        producer.finish();
        producer.retire();
        i32::from(!(detached && room == Room::Never))
    });
    let status = child.wait();
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "status {status:#x}");
    assert_eq!(try_produce(producer, 3, 0, &[]), Room::Ready);
    let records = drain_dead(&mut session.consumer(slot));
    assert_eq!(records.iter().map(|record| record.header.id()).collect::<Vec<_>>(), [1, 3]);
}

const PLAYERS: u64 = 3;
const TOKENS: u64 = 20_000;
const TOKEN: u16 = 1;
const NOISE: u16 = 2;

/// Memory that children share with the test.
fn shared_word() -> &'static AtomicU64 {
    // SAFETY: a fresh shared page, never unmapped.
    let page = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            4096,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    assert_ne!(page, libc::MAP_FAILED);
    // SAFETY: zeroed, aligned, mapped for ever, and only used as an atomic.
    unsafe { &*page.cast() }
}

/// Writes a record each time the token comes by, then hands it on; writes others meanwhile.
fn play(producer: &mut Producer, player: u64, token: &AtomicU64) -> i32 {
    let mut produce = |id, payload: u64| {
        while try_produce(producer, id, 0, &payload.to_le_bytes()) != Room::Ready {
            if producer.wait_for_room(16, Duration::from_secs(10)) == Room::Never {
                return;
            }
        }
    };
    loop {
        let now = token.load(Ordering::Acquire);
        if now >= TOKENS {
            return 0;
        }
        if now % PLAYERS == player {
            produce(TOKEN, now);
            token.store(now + 1, Ordering::Release);
        } else {
            produce(NOISE, player);
            // SAFETY: a system call without memory.
            unsafe { libc::sched_yield() };
        }
    }
}

/// Merges three rings until all tokens are there; they must come in order.
fn referee(session: &Session) {
    let mut merger = Merger::new();
    let mut rings: Vec<(Consumer<SegmentRing>, LaneId)> =
        (0..PLAYERS as u32).map(|slot| (session.consumer(slot), merger.add(slot))).collect();
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut next = 0;
    while next < TOKENS {
        assert!(Instant::now() < deadline, "token {next} never came");
        let read = |rings: &[(Consumer<_>, _)]| -> Vec<u64> {
            rings.iter().map(|(consumer, _)| consumer.head_untrusted()).collect()
        };
        let (first, second) = (read(&rings), read(&rings));
        for ((consumer, lane), heads) in rings.iter_mut().zip(first.into_iter().zip(second)) {
            let batch = merger.batch_mut(*lane).expect("no lane is removed");
            consumer.drain_into(heads.0, Reading::First, batch).expect("a lawful producer");
            consumer.drain_into(heads.1, Reading::Second, batch).expect("a lawful producer");
        }
        let mut done = Vec::new();
        merger.merge(|emitted| {
            for record in parse(emitted.bytes) {
                if record.header.id() == TOKEN {
                    assert_eq!(record.payload, next.to_le_bytes(), "tokens in the order of play");
                    next += 1;
                }
            }
            done.push((emitted.ring, emitted.end_index));
        });
        for (ring, end_index) in done {
            rings[ring as usize].0.release(end_index);
        }
        std::thread::yield_now();
    }
}

#[test]
#[cfg_attr(miri, ignore = "needs processes")]
fn token_passed_among_threads_is_recorded_in_its_order() {
    let session = Session::new(PLAYERS as u32, 4096);
    let token = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for player in 0..PLAYERS {
            let (session, token) = (&session, &token);
            let slot = session.segment.claim(1, [0; 16]).expect("a slot is free");
            scope.spawn(move || play(&mut session.attach(slot), player, token));
        }
        referee(&session);
    });
}

#[test]
#[cfg_attr(miri, ignore = "needs processes")]
fn token_passed_among_processes_is_recorded_in_its_order() {
    let session = Session::new(PLAYERS as u32, 4096);
    let token = shared_word();
    let children: Vec<Child> = (0..PLAYERS)
        .map(|player| {
            let (_, mut producer) = session.producer();
            Child::fork(|| play(&mut producer, player, token))
        })
        .collect();
    referee(&session);
    drop(children);
}
