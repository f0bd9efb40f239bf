//! Reads the newest of the group's records once a second, and nothing between: while there
//! are more of them than the byte budget allows.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use evenkeel_core::facts::input::{InputKind, Reached, Record, Sampled, Topic};
use evenkeel_core::facts::time::EventTime;
use evenkeel_core::wire::group_record::GroupMetadata;

use super::budget::{BYTES_PER_S, Calm, Sample};
use super::emit::Stopped;
use super::frontier::Progress;
use super::resume::Bounds;
use super::search::{Limits, search};
use super::session::{Again, Halt, Session};
use super::source::ChunkReader;
use super::tail::note_epoch;

/// How often.
const EVERY: Duration = Duration::from_secs(1);

/// How long a poll waits between two samples: then it is looked whether all is over.
const POLL_WAIT: Duration = Duration::from_millis(50);

/// Reads so from `progress` on, and moves it along, until all is to be read again: the
/// records have become few, or this agent has become one of those that read all.
pub(super) fn read(
    session: &Session,
    group: &str,
    progress: &mut Progress,
    epochs: &mut BTreeMap<i32, i32>,
) -> Result<(), Halt> {
    tracing::warn!(
        group,
        bytes_per_second_max = BYTES_PER_S,
        "more bytes of group records than the budget allows: the newest is read once a second"
    );
    tell(session, progress.partition, progress.next, true)?;
    session.unassign()?;
    let result = sample(session, group, progress, epochs);
    if result == Err(Halt::Stopped) {
        return result;
    }
    // However it ends: whoever reads on leaves nothing out.
    tell(session, progress.partition, progress.next, false)?;
    tracing::info!(group, "all group records are read again");
    result?;
    session.assign(&[*progress])
}

fn sample(
    session: &Session,
    group: &str,
    progress: &mut Progress,
    epochs: &mut BTreeMap<i32, i32>,
) -> Result<(), Halt> {
    let mut calm = Calm::default();
    while session.shared.may_sample() {
        rest(session)?;
        let Some(bounds) = session.bounds()? else {
            continue;
        };
        let bounds = bounds
            .iter()
            .find(|all| all.partition == progress.partition);
        let Some(bounds) = bounds else { continue };
        let newest = newest(session, group, progress, bounds)?;
        let told = newest.as_ref().map(to_sample);
        if let Some(record) = newest {
            note_epoch(epochs, &record)?;
            session.shared.pass(record)?;
        }
        reach(session, progress, bounds.end)?;
        if calm.is_over(told) {
            break;
        }
    }
    Ok(())
}

/// The newest record of the group since the last one, if there is one. What lies between is
/// told to be left out.
fn newest(
    session: &Session,
    group: &str,
    progress: &mut Progress,
    bounds: &Bounds,
) -> Result<Option<Record>, Halt> {
    let Bounds { low, end, .. } = *bounds;
    if end < progress.next {
        return Err(Halt::Again(Again::Replaced));
    }
    let from = low.max(progress.next);
    let mut reader = ChunkReader::unshown(session, group, bounds);
    let mut found = search(&mut reader, from, end, &limits())?;
    session.unassign()?;
    if found.first > progress.next {
        tell(session, progress.partition, found.first, true)?;
        progress.next = found.first;
    }
    Ok(found.records.pop_back())
}

/// In small steps: in a storm one of the last few records is the group's.
fn limits() -> Limits {
    Limits {
        chunk_offsets_min: 4,
        window_ms: 0,
        window_offsets: 0,
        records_max: 1,
        ..Limits::default()
    }
}

fn to_sample(record: &Record) -> Sample {
    let value = record.value.as_deref().unwrap_or_default();
    let decoded = GroupMetadata::decode(value).ok();
    let known = decoded.and_then(|decoded| decoded.known());
    Sample {
        generation: known.map_or(0, |group| group.generation),
        at: record.timestamp.unwrap_or(EventTime(0)),
        bytes: u64::try_from(value.len()).unwrap_or(u64::MAX),
    }
}

/// Waits for the next sample. Callbacks of the client are served by polling alone.
fn rest(session: &Session) -> Result<(), Halt> {
    let due = Instant::now() + EVERY;
    while Instant::now() < due && session.shared.may_sample() {
        session.poll(POLL_WAIT)?;
        if session.shared.emitter.is_stopped() {
            return Err(Halt::Stopped);
        }
        if let Some(again) = session.shared.outdated() {
            return Err(Halt::Again(again));
        }
    }
    Ok(())
}

fn reach(session: &Session, progress: &mut Progress, end: i64) -> Result<(), Stopped> {
    if end <= progress.told {
        return Ok(());
    }
    progress.next = end;
    progress.told = end;
    session.shared.emitter.send(InputKind::Reached(Reached {
        topic: Topic::Offsets,
        partition: progress.partition,
        offset: end,
    }))
}

fn tell(session: &Session, partition: i32, offset: i64, on: bool) -> Result<(), Stopped> {
    let sampled = Sampled {
        partition,
        offset,
        on,
    };
    session.shared.emitter.send(InputKind::Sampled(sampled))
}
