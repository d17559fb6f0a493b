//! Compares a trace with the programs' calls.

use std::collections::BTreeMap;
use std::io::BufReader;

use gapii_abi::atom::GapCause;
use gapii_control::trigger::Trigger;
use gapii_trace::{Footer, TraceReader, verify};

use super::calls::Calls;
use super::client::Client;

/// The calls that a capture has of a thread, by number, in the stream's order.
type Found = BTreeMap<u32, Vec<u32>>;

/// Returns a sentence that describes the first difference, if there is one.
pub fn check(client: &Client, calls: &Calls) -> Result<(), String> {
    let file = client.file.try_clone().map_err(|error| error.to_string())?;
    let mut reader = TraceReader::open(BufReader::new(file)).map_err(|error| error.to_string())?;
    if client.has_no_footer {
        return in_order(&mut reader, client, calls).map(drop);
    }
    let verification = verify(&mut reader).map_err(|error| error.to_string())?;
    if !verification.ok {
        return Err(format!("does not verify: {:?}", verification.problems));
    }
    let found = in_order(&mut reader, client, calls)?;
    let footer = reader.footer().ok_or("no footer")?;
    let restarted = footer.gaps.iter().find(|gap| gap.cause == GapCause::Restarted);
    // A capture that is told to stop holds no ring space for its blocks on their way.
    if let (Some(gap), false) = (restarted, client.was_slow || client.is_stopped) {
        return Err(format!("a restart has lost what nobody had put aside: {gap:?}"));
    }
    if footer.gaps.is_empty() && footer.lost.records == 0 {
        check_whole(client, footer, &found, calls)?;
    }
    Ok(())
}

/// Reads all calls. No call may stand before a call that had been published when it was begun. None may be of a recording that
/// the capture before had ordered, or come before the frame that the capture waits for.
fn in_order(
    reader: &mut TraceReader<BufReader<std::fs::File>>,
    client: &Client,
    calls: &Calls,
) -> Result<Found, String> {
    let mut found = Found::new();
    let mut latest_reserved = 0;
    let from_frame = match client.capture.plan.when {
        Some(Trigger::Frame(frame)) => frame,
        _ => 0,
    };
    let mut commands = reader.commands().map_err(|error| error.to_string())?;
    while let Some(command) = commands.next_command().map_err(|error| error.to_string())? {
        if command.name() != "glUniform4f" {
            continue;
        }
        let payload = command.enter_payload().and_then(<[u8]>::first_chunk);
        let number = u32::from_le_bytes(*payload.ok_or("a call has no payload")?);
        let tid = command.tid;
        let call = calls.get(tid, number);
        let call = call.ok_or_else(|| format!("thread {tid} has made no call {number}"))?;
        if client.left.contains(&call.recording) {
            return Err(format!("call {number} of thread {tid} is of a capture before"));
        }
        if call.frames < from_frame {
            return Err(format!("call {number} of thread {tid} comes before frame {from_frame}"));
        }
        let published = call.published.unwrap_or(u64::MAX);
        if published < latest_reserved {
            return Err(format!("call {number} of thread {tid} comes behind what began after it"));
        }
        latest_reserved = latest_reserved.max(call.reserved);
        let of_thread = found.entry(tid).or_default();
        if of_thread.last().is_some_and(|last| *last >= number) {
            return Err(format!("call {number} of thread {tid} comes behind a later one"));
        }
        of_thread.push(number);
    }
    Ok(found)
}

/// Checks a capture without a gap: it has all calls of a thread from one of them on, up to one.
fn check_whole(
    client: &Client,
    footer: &Footer,
    found: &Found,
    calls: &Calls,
) -> Result<(), String> {
    for (tid, numbers) in found {
        let skipped = numbers.windows(2).find(|pair| pair[1] != pair[0] + 1);
        let recording = |number| calls.get(*tid, number).map(|call| call.recording);
        match skipped {
            Some(pair) if recording(pair[0]) == recording(pair[1]) => {
                return Err(format!("thread {tid} lacks what is between {pair:?}"));
            }
            _ => {}
        }
    }
    if client.saw_the_end && footer.processes.len() == client.began.len() {
        check_end(client, found, calls)?;
    }
    Ok(())
}

/// Checks that the capture has the last calls that were published in its recordings.
fn check_end(client: &Client, found: &Found, calls: &Calls) -> Result<(), String> {
    for recording in client.began.iter().flatten() {
        for (tid, published) in calls.published_in(*recording) {
            let Some(numbers) = found.get(&tid) else { continue };
            if numbers.last() < published.last() {
                let last = published.last();
                return Err(format!("thread {tid} has published up to {last:?}, not {numbers:?}"));
            }
        }
    }
    Ok(())
}
