//! Reading with several threads: order of the results, workers that fail, and how far the reader runs ahead.

use std::io::{self, Cursor};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gapii_abi::atom::{EFFECT, EndReason};
use gapii_trace::TraceReader;
use gapii_trace::json;
use gapii_trace::parallel::{Choice, Work};

use crate::describe::*;
use crate::writer::{Writer, lines, open, small_file};

/// Batches that may be under way for each worker, and commands of a batch; both as in `parallel` and `batch`.
const IN_FLIGHT_PER_WORKER: u64 = 4;
const COMMANDS_MAX: u64 = 2048;

type Reader = TraceReader<Cursor<Vec<u8>>>;

/// Opens a trace so that workers have threads of their own.
fn open_again(file: &[u8]) -> Reader {
    let mut reader = open(file);
    let again = file.to_vec();
    reader.decode_ahead(Box::new(move || Some(Box::new(Cursor::new(again.clone())))));
    reader
}

/// A trace of `count` commands in blocks of 5,000.
fn many(count: u64) -> Vec<u8> {
    let mut w = Writer::new();
    let process = w.process(1, "p");
    let thread = w.thread(process, 2, 1);
    for n in 0..count {
        w.command(thread, CLEAR, Some(2 + n), &Payload::new().u32(0));
        if n % 5000 == 4999 {
            w.end_block();
        }
    }
    w.end(EndReason::Exit, Vec::new());
    w.finish()
}

fn seqs(work: Work<'_>) -> Vec<u64> {
    work.commands().filter_map(|command| command.seq).collect()
}

/// Reads a trace, and returns the numbers of the commands in the order in which they are taken, and how many were read.
fn taken(reader: &mut Reader, workers: usize) -> (Vec<u64>, u64) {
    let (mut all, mut count) = (Vec::new(), 0);
    let mut commands = reader.commands().unwrap();
    let done: io::Result<()> = commands.in_parallel(
        vec![seqs; workers],
        |_, _| Choice::Take,
        |seqs, read| {
            all.extend(seqs);
            count += read;
            Ok(())
        },
    );
    done.unwrap();
    (all, count)
}

#[test]
fn results_of_any_number_of_workers_come_in_the_order_of_the_commands() {
    let file = many(23_456);
    let expected: Vec<u64> = (0..23_456).collect();
    for workers in [1, 2, 7] {
        assert_eq!(taken(&mut open_again(&file), workers), (expected.clone(), 23_456));
    }
    // A reader that can't open its file again has no other threads.
    assert_eq!(taken(&mut open(&file), 2), (expected, 23_456));
}

/// JSON lines of all commands, formatted by two workers.
fn lines_of_workers(file: &[u8]) -> Vec<String> {
    let format = |work: Work<'_>| {
        let mut lines = Vec::new();
        work.commands().try_for_each(|command| json::append_line(&command, &mut lines))?;
        Ok::<_, io::Error>(lines)
    };
    let mut reader = open_again(file);
    let mut all = Vec::new();
    let mut commands = reader.commands().unwrap();
    commands
        .in_parallel(
            vec![format; 2],
            |_, _| Choice::Take,
            |lines, _| {
                all.extend(lines?);
                Ok::<_, io::Error>(())
            },
        )
        .unwrap();
    String::from_utf8(all).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn commands_of_several_blocks_with_blobs_and_limits_are_as_one_thread_reads_them() {
    let mut w = Writer::new();
    let process = w.process(1, "p");
    let (a, b) = (w.thread(process, 10, 1), w.thread(process, 11, 2));
    w.blob(a, b"text of a string\0", 5);
    w.enter(a, SWAP, EFFECT, Some(3), &swap_args());
    w.command(b, CLEAR, Some(4), &Payload::new().u32(0));
    w.end_block();
    w.enter(b, GEN, 0, Some(5), &Payload::new().i32(1).u64(0));
    w.end_block();
    w.leave(b, GEN, EFFECT, None, &Payload::new().unobserved());
    w.leave(a, SWAP, 0, Some(6), &Payload::new().u32(1));
    w.end(EndReason::Exit, Vec::new());
    for file in [w.finish(), small_file(), many(9_000)] {
        assert_eq!(lines_of_workers(&file), lines(&file));
    }
}

#[test]
fn commands_that_are_left_out_are_counted_and_the_last_one_ends_the_reading() {
    let file = many(12_000);
    let mut reader = open_again(&file);
    let (mut all, mut count) = (Vec::new(), 0);
    let mut commands = reader.commands().unwrap();
    let choose = |command: &gapii_trace::Command<'_>, _: &_| match command.seq {
        Some(11_111) => Choice::Last,
        Some(seq) if seq % 1000 == 7 => Choice::Take,
        _ => Choice::Leave,
    };
    let done: io::Result<()> = commands.in_parallel(vec![seqs; 2], choose, |seqs, read| {
        all.extend(seqs);
        count += read;
        Ok(())
    });
    done.unwrap();
    let expected: Vec<u64> =
        (0..12).map(|n| n * 1000 + 7).take_while(|seq| *seq < 11_111).collect();
    assert_eq!(all, [&expected[..], &[11_111]].concat());
    assert_eq!(count, 11_112);
}

#[test]
fn error_of_a_worker_comes_once_and_after_the_results_before_it() {
    let file = many(40_000);
    let mut reader = open_again(&file);
    let mut commands = reader.commands().unwrap();
    let fail = |work: Work<'_>| {
        let seqs = seqs(work);
        match seqs.iter().find(|seq| **seq % 15_000 == 14_999) {
            Some(seq) => Err(io::Error::other(seq.to_string())),
            None => Ok(seqs),
        }
    };
    let (mut all, mut errors) = (Vec::new(), 0);
    let done = commands.in_parallel(
        vec![fail; 3],
        |_, _| Choice::Take,
        |result, _| {
            errors += u64::from(result.is_err());
            all.extend(result?);
            Ok::<_, io::Error>(())
        },
    );
    assert_eq!(done.unwrap_err().to_string(), "14999");
    assert_eq!(errors, 1);
    let expected: Vec<u64> = (0..all.len() as u64).collect();
    assert_eq!(all, expected);
    assert!((14_999 - COMMANDS_MAX..14_999).contains(&(all.len() as u64)), "{}", all.len());
}

#[test]
#[should_panic(expected = "a scoped thread panicked")]
fn panic_of_a_worker_ends_the_reading() {
    let file = many(40_000);
    let mut reader = open_again(&file);
    let mut commands = reader.commands().unwrap();
    let panic = |work: Work<'_>| assert!(!seqs(work).contains(&20_000), "number 20,000");
    let done = commands.in_parallel(vec![panic; 2], |_, _| Choice::Take, |(), _| Ok(()));
    let _: io::Result<()> = done;
}

#[test]
fn reader_runs_ahead_by_few_batches_only() {
    let file = many(60_000);
    let mut reader = open_again(&file);
    let mut commands = reader.commands().unwrap();
    let (read, is_released) = (AtomicU64::new(0), AtomicBool::new(false));
    let most = 2 * IN_FLIGHT_PER_WORKER * COMMANDS_MAX;
    let wait = |work: Work<'_>| {
        let deadline = Instant::now() + Duration::from_secs(1);
        // The first batch waits until the reader stands still; a reader without a limit would come to the end.
        while !is_released.load(Ordering::Relaxed)
            && read.load(Ordering::Relaxed) < 60_000
            && Instant::now() < deadline
        {
            std::thread::yield_now();
        }
        is_released.store(true, Ordering::Relaxed);
        (work.commands().len() as u64, read.load(Ordering::Relaxed))
    };
    let choose = |_: &gapii_trace::Command<'_>, _: &_| {
        read.fetch_add(1, Ordering::Relaxed);
        Choice::Take
    };
    let mut first = None;
    let done: io::Result<()> = commands.in_parallel(vec![wait; 2], choose, |(_, read), _| {
        first.get_or_insert(read);
        Ok(())
    });
    done.unwrap();
    let first = first.unwrap();
    assert!(first <= most, "{first} commands were read while the first batch was held");
}
