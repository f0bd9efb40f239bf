//! Phases of a round: join, sync, the slowest worker's stops and starts.

use serde_json::Value;

use super::{Compared, FAR, Kind, Range, Told, ended_ms, later, span};
use crate::scenario::compare::{FIRST_DATED_MS_MAX, number};
use crate::truth::{ItemKind, Step, Stint, TruthGeneration, TruthMember, What, Work};

/// Milliseconds that a record may have been on its way when nothing says how long it was.
const WAY_MS: i64 = 20;

impl Compared<'_> {
    pub(super) fn round(&mut self, place: usize, round: &Value, polled: &Value) {
        let Some(generation) = self.generation(place).cloned() else {
            return;
        };
        let what = format!("generation {}", generation.generation);
        if let Some(stored_ms) = generation.assignment_ms {
            let sync_ms = stored_ms - generation.join_end_ms;
            let told = Told::of(&round["sync"]);
            self.add(Kind::Sync, &what, told, (sync_ms, sync_ms));
            if let Some(cell) = self.cells.last_mut().filter(|_| place == 0) {
                cell.slack_ms = FIRST_DATED_MS_MAX;
            }
        }
        self.join(&generation, &what, (round, polled));
        if let Some(truth) = self.stops(place, &generation) {
            self.add(Kind::StopByLogs, &what, Told::of(&round["stop"]), truth);
            self.add(Kind::Stop, &what, Told::of(&polled["stop"]), truth);
        }
        if let Some(truth) = self.starts(&generation) {
            self.add(Kind::StartByLogs, &what, Told::of(&round["start"]), truth);
            self.add(Kind::Start, &what, Told::of(&polled["start"]), truth);
        }
    }

    /// The preparation began after one poll that did not see it was asked, and before the next
    /// was answered: so the interval is no wider than that, and what the way of a record may
    /// make an answer seem older. It is put on the coordinator's clock as a whole, so any two
    /// polls in a row that it touches may be those.
    fn join(
        &mut self,
        generation: &TruthGeneration,
        what: &str,
        (round, polled): (&Value, &Value),
    ) {
        let Some(prepared_ms) = generation.prepared_ms else {
            return;
        };
        let truth = generation.join_end_ms - prepared_ms;
        let told = Told::of(&polled["join"]);
        let ended_ms = number(&round["join_ended"]).unwrap_or_default();
        let width = told.as_ref().map(|told| {
            let (early, late) = (ended_ms - told.range.1, ended_ms - told.range.0);
            let pairs = self.polls.windows(2);
            let touched = pairs.filter(|pair| pair[0].0 <= late && pair[1].1 >= early);
            let between = touched.map(|pair| pair[1].1 - pair[0].0).max();
            between.unwrap_or(0) + WAY_MS
        });
        self.add(Kind::Join, what, told, (truth, truth));
        if let Some(cell) = self.cells.last_mut() {
            cell.width_ms_max = width;
        }
    }

    /// What a worker starts after it applied a round: what it was handed, and tasks that it
    /// had and starts anew before it says that it has finished.
    pub(super) fn started_items(&self, member: &TruthMember) -> Option<Vec<&Stint>> {
        let worker = member.worker.as_deref()?;
        let (Some(assigned), Some(applied_ms)) = (&member.assigned, member.applied_ms) else {
            // Who was handed nothing has nothing to start, whether it heard of it or not.
            return member
                .assigned
                .as_ref()
                .is_some_and(Work::is_empty)
                .then(Vec::new);
        };
        let own = || {
            let all = self.truth.stints.iter();
            all.filter(move |stint| {
                stint.worker == worker && stint.start_asked_ms >= Some(applied_ms)
            })
        };
        let mut items: Vec<&Stint> = Vec::new();
        for (kind, names) in [
            (ItemKind::Connector, &assigned.connectors),
            (ItemKind::Task, &assigned.tasks),
        ] {
            for name in names {
                let mut of_item = own();
                items.push(of_item.find(|s| s.item.kind == kind && s.item.name == *name)?);
            }
        }
        let anew = own().filter(|stint| {
            stint.item.kind == ItemKind::Task
                && member.finished_ms >= stint.start_asked_ms
                && !assigned.tasks.contains(&stint.item.name)
        });
        items.extend(anew);
        Some(items)
    }

    /// When the last start of a round was told by a status; `None` where the logs do not say
    /// it, the inner one where nothing started.
    pub(super) fn last_start(&self, generation: &TruthGeneration) -> Option<Option<Range>> {
        let mut last: Option<Range> = None;
        for member in &generation.members {
            let skew_ms = self.skew_ms(member.worker.as_deref()?);
            for stint in self.started_items(member)? {
                let at = self.running(stint)?;
                let at = (at.0 - skew_ms, at.1.saturating_sub(skew_ms));
                last = Some(last.map_or(at, |last| later(last, at)));
            }
        }
        Some(last)
    }

    fn starts(&self, generation: &TruthGeneration) -> Option<Range> {
        let stored_ms = generation.assignment_ms?;
        let last = self.last_start(generation)??;
        Some(span((stored_ms, stored_ms), last))
    }

    /// Between which instants RUNNING, or FAILED, was written, by the worker's clock: after
    /// the start of the fixture ended, and before it was read back, where that was logged.
    /// Tasks of Connect 2.5.1 write RUNNING before they are started, those of 2.8.2 after it
    /// (`WorkerTask.doRun`).
    fn running(&self, stint: &Stint) -> Option<Range> {
        let asked_ms = stint.start_asked_ms?;
        // A connector that is resumed starts within its stint once more.
        let first = self.truth.events.iter().find(|event| {
            let is_it = event.process == stint.worker && event.at_ms >= asked_ms;
            let What::Item { item, step } = &event.what else {
                return false;
            };
            is_it
                && *item == stint.item
                && matches!(step, Step::StartEnds | Step::Started | Step::Failed)
        })?;
        let from_ms = match (stint.item.kind, &first.what) {
            (ItemKind::Task, _) if self.tells_before_start => asked_ms,
            _ => first.at_ms,
        };
        let read_ms = stint.running_read_ms;
        Some((from_ms, read_ms.unwrap_or(FAR).max(from_ms)))
    }

    /// Stops that the record asks for count from it; those before the join from the first
    /// sign of the round, of which the logs say only where it lies.
    fn stops(&self, place: usize, generation: &TruthGeneration) -> Option<Range> {
        let stored_ms = generation.assignment_ms?;
        let stored = (stored_ms, stored_ms);
        let before = place
            .checked_sub(1)
            .and_then(|place| self.generation(place))?;
        let sign = self.first_sign(before, generation);
        let mut slowest: Option<Range> = None;
        for member in &generation.members {
            let mut old = before.members.iter();
            if !old.any(|old| old.member_id == member.member_id) {
                continue;
            }
            let asked = self.stops_asked(member)?.into_iter();
            let own = self.own_stops(before, generation, member).into_iter();
            for (stint, from) in asked.map(|s| (s, stored)).chain(own.map(|s| (s, sign))) {
                let lasted = span(from, self.stopped(stint)?);
                slowest = Some(slowest.map_or(lasted, |slowest| later(slowest, lasted)));
            }
        }
        slowest
    }

    /// What the record told a member to stop; `None` if the logs do not show it stopping.
    fn stops_asked(&self, member: &TruthMember) -> Option<Vec<&Stint>> {
        let revoked = member.revoked.as_ref()?;
        if revoked.is_empty() {
            return Some(Vec::new());
        }
        let (worker, from_ms) = (member.worker.as_deref()?, member.received_ms?);
        let stopped = |kind, name: &String| {
            self.truth.stints.iter().find(|stint| {
                stint.worker == worker
                    && stint.item.kind == kind
                    && stint.item.name == *name
                    && stint.stop_asked_ms >= Some(from_ms)
            })
        };
        let connectors = revoked.connectors.iter();
        let connectors = connectors.map(|name| stopped(ItemKind::Connector, name));
        let tasks = revoked.tasks.iter();
        connectors
            .chain(tasks.map(|name| stopped(ItemKind::Task, name)))
            .collect()
    }

    /// What a member stopped itself before it joined this round: all it has under the eager
    /// protocol, tasks that are written anew under the others.
    fn own_stops(
        &self,
        before: &TruthGeneration,
        now: &TruthGeneration,
        member: &TruthMember,
    ) -> Vec<&Stint> {
        let (Some(worker), Some(joined_ms)) = (member.worker.as_deref(), member.joined_ms) else {
            return Vec::new();
        };
        let window = before.join_end_ms + self.skew_ms(worker)..joined_ms;
        let eager = now.protocol.as_deref() == Some("default");
        let all = self.truth.stints.iter().filter(|stint| {
            stint.worker == worker
                && stint
                    .stop_asked_ms
                    .is_some_and(|at_ms| window.contains(&at_ms))
                && (eager || stint.item.kind == ItemKind::Task)
                && !was_revoked(before, worker, stint)
        });
        all.collect()
    }

    /// When UNASSIGNED was written, by the coordinator's clock.
    fn stopped(&self, stint: &Stint) -> Option<Range> {
        let skew_ms = self.skew_ms(&stint.worker);
        let (from, to) = unassigned(stint)?;
        Some((from - skew_ms, to.saturating_sub(skew_ms)))
    }

    /// Where the first sign of a round in the logs lies, which is a configuration that was
    /// written or a first stop: no earlier than the script's first call since the join phase
    /// before, no later than the first stop of somebody who left or who stopped before the
    /// join.
    pub(super) fn first_sign(&self, before: &TruthGeneration, now: &TruthGeneration) -> Range {
        let ended = now.join_end_ms;
        let window = before.join_end_ms..ended;
        let requests = self.truth.events.iter().filter(|event| {
            matches!(event.what, What::Request { .. })
                && (window.contains(&event.at_ms) || window.contains(&ended_ms(event)))
        });
        let asked_ms = requests.map(|event| event.at_ms).min();
        let stays = |old: &TruthMember| now.members.iter().any(|m| m.member_id == old.member_id);
        let staying = now.members.iter();
        let mut stops: Vec<&Stint> = staying
            .flat_map(|member| self.own_stops(before, now, member))
            .collect();
        let anew = !stops.is_empty();
        for old in before.members.iter().filter(|old| !stays(old)) {
            let own = self.truth.stints.iter().filter(|stint| {
                let skew_ms = self.skew_ms(&stint.worker);
                let asked_ms = stint.stop_asked_ms.map(|at_ms| at_ms - skew_ms);
                old.worker.as_ref() == Some(&stint.worker)
                    && asked_ms.is_some_and(|at_ms| window.contains(&at_ms))
            });
            stops.extend(own);
        }
        let told = stops.iter().filter_map(|stint| self.stopped(stint));
        let (mut first, mut latest) = (ended, ended);
        for stop in told {
            first = first.min(stop.0);
            latest = latest.min(stop.1);
        }
        // Who called nothing may have let a connector write tasks by itself; then they stop.
        let unasked_ms = if anew { before.join_end_ms } else { first };
        (asked_ms.unwrap_or(unasked_ms).min(first), latest)
    }
}

fn was_revoked(before: &TruthGeneration, worker: &str, stint: &Stint) -> bool {
    let member = before
        .member(worker)
        .and_then(|member| member.revoked.as_ref());
    member.is_some_and(|revoked| match stint.item.kind {
        ItemKind::Connector => revoked.connectors.contains(&stint.item.name),
        ItemKind::Task => revoked.tasks.contains(&stint.item.name),
    })
}

/// Between which instants UNASSIGNED was written: after the stop of the fixture ended, and before the herder saw it
/// or it was read back.
pub(super) fn unassigned(stint: &Stint) -> Option<Range> {
    if stint.timed_out {
        return None;
    }
    let from_ms = stint.stop_ended_ms.or(stint.stop_asked_ms)?;
    let read_ms = stint.unassigned_read_ms.unwrap_or(FAR);
    let to_ms = stint.stopped_ms.unwrap_or(FAR).min(read_ms);
    Some((from_ms.min(to_ms), to_ms))
}
