//! D6: who left, how, and who came in its place.
//!
//! How, the first rule that applies:
//! 1. *graceful*: it wrote that it stopped everything that can write so.
//! 2. *graceful*: it stopped part of it, and was gone before a session could have ended: the
//!    rest did not heed the stop.
//! 3. *graceful*: it was gone sooner after it last joined than a session takes.
//! 4. *cut_short*: it stopped part of it, and was gone a session later, and later than who
//!    waits for the rest by default.
//! 5. *crashed*: it wrote nothing, and left something behind as running.
//! 6. *unresponsive*: a process of the same address comes back with a claim. Until then, or
//!    for `limits::DEPARTURE_WINDOW_MS`, what no stop decides is not settled.
//! 7. *unknown*: it had nothing that could write, or the time it took fits both 2 and 4.
//!
//! A stop that the config topic explains (tasks written anew, a connector deleted), or that the
//! record before asked for, is no evidence. Where several members advertise one address, nothing is said of how.
//!
//! The successor, among fresh members (without a claim), while work of the departed is lost
//! or within the window, the first rule that applies:
//! 1. the same address; 2. the same client host, where nobody else is on it;
//! 3. the only newcomer beside the only departed without a successor.
//! 4. Who comes back with a claim is no successor but the same process.

mod rules;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answers::{DepartureAnswer, DepartureHow, JoinedAnswer};
use crate::facts::ids::Kind;
use crate::facts::observation::{Claim, GroupSnapshot, Member};
use crate::facts::time::EventTime;
use crate::limits::{DEPARTURE_WINDOW_MS, DEPARTURES_OPEN_MAX};
use crate::story::steps::Turn;
use crate::story::switches::StoryRule;

/// Departures that are not settled, or may still find a successor.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Departures {
    open: Vec<Departure>,
    next: u64,
}

/// One departure.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Departure {
    /// Its number in this engine.
    pub key: u64,
    /// The member id.
    pub member: Arc<str>,
    /// The worker.
    pub worker: Arc<str>,
    /// Where it connected from.
    pub host: Arc<str>,
    /// How it left, as far as it is known.
    pub how: DepartureHow,
    /// Whether that is settled.
    pub settled: bool,
    /// What says so.
    pub evidence: String,
    /// The first generation without it.
    pub generation: i32,
    /// When that was recorded.
    pub recorded: EventTime,
    /// When the last join phase ended in which it was.
    pub joined: Option<EventTime>,
    /// The end of that join phase.
    pub gone_by: EventTime,
    /// When its last stop was written, on the coordinator's clock.
    pub stopped: Option<EventTime>,
    /// Its session timeout.
    pub session_timeout_ms: i32,
    /// How long the coordinator may have waited for the others once it was gone.
    pub rebalance_timeout_ms: i32,
    /// Connectors and tasks it had.
    pub owned: (u32, u32),
    /// Whether it happened while the agent watched.
    pub live: bool,
    /// Who came in its place, and in which generation.
    pub successor: Option<Successor>,
}

/// Who came in a departed worker's place.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Successor {
    /// Its member id.
    pub member: Arc<str>,
    /// Its worker.
    pub worker: Arc<str>,
    /// The first generation with it.
    pub generation: i32,
    /// Whether it is the same process, back with its claim.
    pub same: bool,
}

/// What a newcomer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// Nobody knows it.
    New,
    /// It takes the place of a departed worker.
    Successor(u64),
    /// It is a departed process, back with its claim.
    Returned(u64),
}

/// What a step changed.
#[derive(Debug, Default)]
pub struct Moves {
    /// Who left, by key.
    pub left: Vec<u64>,
    /// Who came, and what each of them is.
    pub came: Vec<(Arc<Member>, Arrival)>,
    /// Departures that are settled now.
    pub settled: Vec<Departure>,
    /// Departures of which more is known now.
    pub changed: Vec<Departure>,
}

// === impl Departures ===

impl Departures {
    /// Takes a step: who left, who came.
    pub fn judge(&mut self, turn: &Turn<'_>) -> Moves {
        let mut moves = Moves::default();
        let mut at_once = Vec::new();
        for (place, member) in turn.leavers() {
            let departure = self.departure(turn, place, member);
            moves.left.push(departure.key);
            if departure.settled {
                at_once.push(departure.key);
            }
            self.open.push(departure);
        }
        let newcomers: Vec<&Arc<Member>> = turn.newcomers().collect();
        let arrivals = self.arrivals(turn, &newcomers, &mut moves);
        let came = newcomers.into_iter().map(Arc::clone);
        moves.came.extend(came.zip(arrivals));
        // With who came in its place in the same record.
        let settled = at_once.iter().filter_map(|key| self.get(*key));
        moves.settled.extend(settled.cloned());
        while self.open.len() > DEPARTURES_OPEN_MAX {
            let mut oldest = self.open.remove(0);
            if !std::mem::replace(&mut oldest.settled, true) {
                moves.settled.push(oldest);
            }
        }
        moves
    }

    fn departure(&mut self, turn: &Turn<'_>, place: usize, member: &Member) -> Departure {
        self.next = self.next.saturating_add(1);
        let held = turn.held(place, member);
        let of = |kind| held.iter().filter(|item| item.kind() == kind).count();
        let count = |kind| u32::try_from(of(kind)).unwrap_or(u32::MAX);
        let verdict = rules::how(turn, place, member, &held);
        Departure {
            key: self.next,
            member: Arc::clone(&member.id),
            worker: Arc::clone(&member.worker),
            host: Arc::clone(&member.client_host),
            settled: verdict.settled,
            how: verdict.how,
            evidence: verdict.evidence,
            generation: turn.generation(),
            recorded: turn.step.recorded,
            joined: turn
                .step
                .before
                .as_deref()
                .map(|before| before.join_ended.unwrap_or(before.recorded)),
            gone_by: turn.step.join_ended,
            stopped: verdict.stopped,
            session_timeout_ms: member.session_timeout_ms,
            rebalance_timeout_ms: turn
                .step
                .before
                .as_deref()
                .map_or(0, GroupSnapshot::rebalance_timeout_ms_max),
            owned: (count(Kind::Connector), count(Kind::Task)),
            live: turn.step.live,
            successor: None,
        }
    }

    /// What each newcomer is: one rule for all of them before the next, so that the order
    /// of their ids, which nobody chose, decides nothing.
    fn arrivals(
        &mut self,
        turn: &Turn<'_>,
        newcomers: &[&Arc<Member>],
        moves: &mut Moves,
    ) -> Vec<Arrival> {
        let mut arrivals = vec![Arrival::New; newcomers.len()];
        for number in [4, 1, 2, 3] {
            if !turn.on(StoryRule::Successor(number)) {
                continue;
            }
            for (member, arrival) in newcomers.iter().zip(&mut arrivals) {
                let has_claim = matches!(member.claim, Claim::Items(_));
                if *arrival != Arrival::New || has_claim != (number == 4) {
                    continue;
                }
                if has_claim && !turn.on(StoryRule::Departure(6)) {
                    continue;
                }
                let place = match number {
                    1 | 4 => self.by_address(turn, member),
                    2 => self.by_host(turn, member),
                    _ => self.by_number(newcomers.len()),
                };
                if let Some(departed) = place.and_then(|place| self.open.get_mut(place)) {
                    *arrival = departed.take_place(turn, member, moves);
                }
            }
        }
        arrivals
    }

    /// The newest departure without a successor for which this holds.
    fn vacant(&self, is: impl Fn(&Departure) -> bool) -> Option<usize> {
        self.open
            .iter()
            .rposition(|departed| departed.successor.is_none() && is(departed))
    }

    /// Where several members advertise one address, it says nothing of any of them.
    fn by_address(&self, turn: &Turn<'_>, member: &Member) -> Option<usize> {
        let is_shared = |record: Option<&GroupSnapshot>| {
            record.is_some_and(|record| record.shares_worker(&member.worker))
        };
        let shared = is_shared(turn.step.before.as_deref()) || is_shared(turn.step.now.as_deref());
        self.vacant(|departed| departed.worker == member.worker)
            .filter(|_| !shared)
    }

    fn by_host(&self, turn: &Turn<'_>, member: &Member) -> Option<usize> {
        let on_host = |other: &&Arc<Member>| other.client_host == member.client_host;
        let alone = turn.now().iter().filter(on_host).count() == 1;
        self.vacant(|departed| departed.host == member.client_host)
            .filter(|_| alone)
    }

    fn by_number(&self, newcomers: usize) -> Option<usize> {
        let vacant = |departed: &&Departure| departed.successor.is_none();
        let only = self.open.iter().filter(vacant).count() == 1 && newcomers == 1;
        self.vacant(|_| true).filter(|_| only)
    }

    /// Time has passed up to `until`: settles what was not contradicted, and forgets what is
    /// over. `lost` says whether work of a member is still lost.
    pub fn expire(&mut self, until: EventTime, lost: impl Fn(&str) -> bool) -> Vec<Departure> {
        let mut settled = Vec::new();
        self.open.retain_mut(|departed| {
            let over = until.since_ms(departed.recorded) >= DEPARTURE_WINDOW_MS
                && (departed.successor.is_some() || !lost(&departed.member));
            if over && !std::mem::replace(&mut departed.settled, true) {
                settled.push(departed.clone());
            }
            !over
        });
        settled
    }

    /// The departure of this key, while it is remembered.
    #[must_use]
    pub fn get(&self, key: u64) -> Option<&Departure> {
        self.open.iter().find(|departed| departed.key == key)
    }

    /// Whether a member took the place of another.
    #[must_use]
    pub fn is_successor(&self, member: &str, of: &str) -> bool {
        self.open.iter().any(|departed| {
            &*departed.member == of
                && departed
                    .successor
                    .as_ref()
                    .is_some_and(|successor| &*successor.member == member)
        })
    }

    /// Those of the last minutes.
    pub fn recent(&self) -> impl Iterator<Item = &Departure> {
        self.open.iter()
    }

    /// Forgets all: the log is another one.
    pub fn clear(&mut self) {
        self.open.clear();
    }
}

// === impl Moves ===

impl Moves {
    /// Who came, as it is shown. The first record of a history does not tell who was there
    /// already.
    #[must_use]
    pub fn joined(&self, turn: &Turn<'_>, departures: &Departures) -> Vec<JoinedAnswer> {
        if turn.step.before.is_none() && turn.generation() > 1 {
            return Vec::new();
        }
        let departed = |key: &u64| departures.get(*key).map(|left| Arc::clone(&left.worker));
        let answer = |(member, arrival): &(Arc<Member>, Arrival)| JoinedAnswer {
            worker: Arc::clone(&member.worker),
            generation: turn.generation(),
            at: turn.step.join_ended,
            replaces: match arrival {
                Arrival::Successor(key) => departed(key),
                Arrival::New | Arrival::Returned(_) => None,
            },
            returned: matches!(arrival, Arrival::Returned(_)),
        };
        let mut joined: Vec<JoinedAnswer> = self.came.iter().map(answer).collect();
        joined.sort_by(|left, right| left.worker.cmp(&right.worker));
        joined
    }
}

// === impl Departure ===

impl Departure {
    /// Whether it stopped work before it was gone, or some of it.
    pub fn is_in_order(&self) -> bool {
        match self.how {
            DepartureHow::Graceful | DepartureHow::CutShort => true,
            // Either of these.
            DepartureHow::Unknown => self.stopped.is_some(),
            DepartureHow::Crashed | DepartureHow::Unresponsive => false,
        }
    }

    /// A member comes in its place, or is the same process again.
    fn take_place(&mut self, turn: &Turn<'_>, member: &Arc<Member>, moves: &mut Moves) -> Arrival {
        let returned = matches!(member.claim, Claim::Items(_));
        self.successor = Some(Successor {
            member: Arc::clone(&member.id),
            worker: Arc::clone(&member.worker),
            generation: turn.generation(),
            same: returned,
        });
        if returned && !self.settled {
            self.how = DepartureHow::Unresponsive;
            self.evidence = format!(
                "it came back in generation {} with its claim: the process had lived on",
                turn.generation()
            );
        }
        if !std::mem::replace(&mut self.settled, true) {
            moves.settled.push(self.clone());
        }
        moves.changed.push(self.clone());
        if returned {
            Arrival::Returned(self.key)
        } else {
            Arrival::Successor(self.key)
        }
    }

    /// As it is shown.
    #[must_use]
    pub fn answer(&self) -> DepartureAnswer {
        let session_ms = i64::from(self.session_timeout_ms);
        let waited_ms = i64::from(self.rebalance_timeout_ms.max(0));
        // It is missed a session after its last heartbeat. Then a join phase begins, of which
        // only the end is recorded, and which waits for the others up to their timeout.
        let since_ms = session_ms.saturating_add(waited_ms);
        // It was alive when it joined last.
        let since = self
            .gone_by
            .minus_ms(since_ms)
            .max(self.joined.unwrap_or(EventTime(i64::MIN)));
        let died = (since.min(self.gone_by), self.gone_by);
        let silent = matches!(self.how, DepartureHow::Crashed);
        DepartureAnswer {
            worker: Arc::clone(&self.worker),
            how: self.how,
            settled: self.settled,
            evidence: self.evidence.clone(),
            generation: self.generation,
            gone_by: self.gone_by,
            died_between: silent.then_some(died),
            owned: self.owned,
            successor: self
                .successor
                .as_ref()
                .filter(|successor| !successor.same)
                .map(|successor| (Arc::clone(&successor.worker), successor.generation)),
            returned: self
                .successor
                .as_ref()
                .filter(|successor| successor.same)
                .map(|successor| successor.generation),
        }
    }
}
