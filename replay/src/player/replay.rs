//! Entry point: reads the whole trace once (the survey), refuses with everything that the driver or system lacks, and
//! then plays the trace from its first command on. Skipped commands are no errors.

use std::collections::{HashMap, HashSet};
use std::io::{Read, Seek};
use std::sync::Arc;
use std::time::Instant;

use gapii_follow::follow::Follower;
use gapii_trace::TraceReader;

use super::known::functions;
use super::options::{Options, ReplayError};
use super::playing::{Observers, Player};
use crate::driver::{Driver, Loader};
use crate::events::Events;
use crate::level_zero;
use crate::memory::{Memory, Outputs};
use crate::names::Names;
use crate::objects::{Egl, LevelZero, Mappings, PendingErrors, Places};
use crate::parts::Parts;
use crate::report::Report;
use crate::survey::Survey;
use crate::tally::Tally;
use crate::threads::{self, Threads};

/// Plays the trace of `reader` from its first command on, with driver functions from `loader`.
///
/// Reads the whole trace once before it plays the first command. The error says what the driver or
/// system lacks; skipped commands are not errors, but counted in the report.
pub fn replay<R: Read + Seek + Send>(
    reader: &mut TraceReader<R>,
    loader: &dyn Loader,
    options: Options,
    events: &mut dyn Events,
) -> Result<Report, ReplayError> {
    let table = functions(&reader.header().description)?;
    reader.keep_decoded(options.limits.kept_bytes);
    let end = options.frames.as_ref().map_or(u64::MAX, |frames| frames.end);
    let Some(survey) = Survey::of(reader, end, events)? else {
        return Ok(Report { cancelled: true, ..Report::default() });
    };
    let apis = survey.apis();
    if let Some(why) = apis.iter().find_map(|api| loader.lacks(*api)) {
        return Err(ReplayError::Library(why));
    }
    let driver = Arc::new(Driver::load(loader, &apis));
    let egl = Egl::open(&driver, &survey, options.window).map_err(|lacks| missing(&lacks))?;
    let limits = options.limits;
    let Options { images, mut checksums, mut benchmark, verify, .. } = options;
    checksums.set_last(survey.last_frame);
    let last_frame = survey.last_frame;
    let parts = Parts {
        driver,
        memory: Memory::new(limits.input_bytes, options.unknown).map_err(ReplayError::Memory)?,
        outputs: Outputs::new(limits.output_bytes).map_err(ReplayError::Memory)?,
        names: Names::new(limits.names),
        mappings: Mappings::default(),
        places: Places::default(),
        follower: Follower::default(),
        survey,
        egl,
        level_zero: LevelZero::default(),
        tally: Tally::default(),
        limits,
        window: options.window,
        threads: Threads::new(limits.threads),
        call_outputs: Vec::new(),
        facts: HashMap::new(),
        wide_arrays: HashSet::new(),
        mode_arrays: HashMap::new(),
        pending_errors: PendingErrors::default(),
        ended_mode: (0, 0),
    };
    let total = reader.footer().map_or(0, |footer| footer.totals.calls);
    let begun = Instant::now();
    benchmark.begin(begun, last_frame);
    let observers = Observers { images, checksums, benchmark, verify };
    let player = Player::new(reader.commands()?, table, (parts, observers), events);
    let player = player.limited(options.frames, options.stop_after, total).held(options.hold);
    let player = player.repeating(last_frame, options.repeats).lacking(&options.lacks);
    let Some(mut player) = threads::play(player) else {
        return Err(ReplayError::Missing("a thread of the replay ended early".to_owned()));
    };
    player.parts.egl.close(&player.parts.names);
    let are_idle = level_zero::settle(&mut player.parts.level_zero, &player.parts.driver);
    if let Some(failure) = player.failure.take() {
        return Err(failure.into());
    }
    let Player { parts, observers, frames_ended, is_cancelled, .. } = player;
    let looked_at = observers.checksums.finish();
    let report = Report {
        frames: frames_ended,
        cancelled: is_cancelled,
        has_surfaces: parts.survey.uses_egl(),
        verified: observers.verify.finish(),
        seconds: begun.elapsed().as_secs_f64(),
        threads: parts.threads.count(),
        threads_at_once: parts.threads.most_alive(),
        images: observers.images.finish().map_err(ReplayError::Images)?,
        checksums: looked_at.checksums,
        frames_missed: looked_at.missed,
        frame_times: observers.benchmark.finish(),
        driver: looked_at.driver,
        last_picture: looked_at.last_picture,
        ..Report::of(parts.tally.finished(limits.listed_skips))
    };
    if !are_idle {
        // A device may still use it.
        std::mem::forget(parts.memory);
    }
    Ok(report)
}

/// The error that names everything the driver lacks, one thing per line if there are several.
fn missing(lacks: &[String]) -> ReplayError {
    ReplayError::Missing(match lacks {
        [only] => only.clone(),
        many => many.iter().map(|lack| format!("\n  {lack}")).collect(),
    })
}
