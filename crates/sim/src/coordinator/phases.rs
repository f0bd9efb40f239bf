//! The phases of a rebalance: how it begins, when the join phase ends, when it holds.

use std::collections::BTreeMap;

use super::record::Saved;
use super::{Coordinator, Effect, Group, Member, State, Timer};
use crate::protocol::{Meta, Reply};
use crate::truth::{Removed, Trigger};

// === impl Coordinator ===

impl Coordinator {
    /// Begins to prepare a rebalance, unless one is prepared already.
    pub(super) fn prepare(&mut self, trigger: Trigger) {
        let now = self.now;
        let initial_ms = self.manner.initial_delay_ms;
        let Some(group) = &mut self.group else { return };
        if group.state == State::Preparing {
            self.out.push(Effect::Trigger(trigger));
            return self.maybe_complete();
        }
        let formed = group.state == State::Empty;
        let interrupted = group.state == State::Completing;
        group.state = State::Preparing;
        group.state_since_ms = self.clock.at(now);
        let most_ms = group.rebalance_ms_max();
        if formed {
            group.initial_left_ms = Some((most_ms - initial_ms).max(0));
            group.joined_meanwhile = false;
        }
        let waiting: Vec<_> = group
            .members
            .iter_mut()
            .filter_map(|(_, member)| member.syncing.take())
            .collect();
        for ticket in waiting {
            self.reply(ticket, Reply::Rebalancing);
        }
        if interrupted {
            self.renew_sessions();
        }
        let phase = self.next_phase();
        if let Some(group) = &mut self.group {
            group.phase = phase;
        }
        if formed {
            self.out.push(Effect::Trigger(Trigger::GroupFormed));
        }
        self.out.push(Effect::Trigger(trigger));
        let until = now + if formed { initial_ms } else { most_ms };
        self.out.push(Effect::Timer(until, Timer::Join(phase)));
        self.maybe_complete();
    }

    /// Ends the join phase if nobody is missing.
    pub(super) fn maybe_complete(&mut self) {
        let all = self.group.as_ref().is_some_and(|group| {
            group.state == State::Preparing
                && group.initial_left_ms.is_none()
                && group.pending.is_empty()
                && group.members.iter().all(|(_, m)| m.joining.is_some())
        });
        if all {
            self.complete();
        }
    }

    pub(super) fn join_timer(&mut self, phase: u64) {
        let now = self.now;
        let delay_ms = self.manner.initial_delay_ms;
        let Some(group) = &mut self.group else { return };
        if group.phase != phase || group.state != State::Preparing {
            return;
        }
        match group.initial_left_ms {
            Some(left) if group.joined_meanwhile && left > 0 => {
                let next = delay_ms.min(left);
                group.joined_meanwhile = false;
                group.initial_left_ms = Some((left - delay_ms).max(0));
                self.out.push(Effect::Timer(now + next, Timer::Join(phase)));
            }
            _ => self.complete(),
        }
    }

    /// Ends the join phase; who has not joined is out.
    fn complete(&mut self) {
        let now = self.now;
        let phase = self.next_phase();
        let Some(group) = &mut self.group else { return };
        let missing: Vec<String> = group
            .members
            .iter()
            .filter(|(_, member)| member.joining.is_none())
            .map(|(id, _)| id.clone())
            .collect();
        group.members.retain(|(_, member)| member.joining.is_some());
        group.initial_left_ms = None;
        group.phase = phase;
        group.generation += 1;
        group.told.clear();
        group.state_since_ms = self.clock.at(now);
        group.elect();
        let most_ms = group.rebalance_ms_max();
        let emptied = group.members.is_empty();
        group.state = if emptied {
            State::Empty
        } else {
            State::Completing
        };
        group.version = (!emptied).then(|| group.best_version());
        let saved = group.saved();
        let mut replies = Vec::new();
        let ids: Vec<String> = group.members.iter().map(|(id, _)| id.clone()).collect();
        for id in &ids {
            let joined = group.joined(id);
            if let Some(member) = group.member_mut(id) {
                member.synced = false;
                replies.extend(member.joining.take().map(|ticket| (ticket, joined)));
            }
        }
        for id in missing {
            self.out
                .push(Effect::Trigger(Trigger::Kicked { member: id.clone() }));
            self.out.push(Effect::Removed(id, Removed::Kicked));
        }
        self.out.push(Effect::JoinEnded(saved.clone()));
        for (ticket, joined) in replies {
            self.reply(ticket, joined);
        }
        self.renew_sessions();
        if emptied {
            self.out.push(Effect::Recorded(saved.clone()));
            self.append(Some(saved));
        } else {
            let timer = Timer::Sync(phase);
            self.out.push(Effect::Timer(now + most_ms, timer));
        }
    }

    /// The record of the phase is replicated: the assignments hold, unless something
    /// came between.
    pub(super) fn appended(&mut self, phase: u64) {
        let Some(group) = &mut self.group else { return };
        if group.phase != phase || group.state != State::Completing {
            return;
        }
        group.state = State::Stable;
        group.state_since_ms = self.clock.at(self.now);
        let told = group.told.clone();
        let mut replies = Vec::new();
        for (id, member) in &mut group.members {
            let assignment = told.get(id).cloned().unwrap_or_default();
            replies.extend(member.syncing.take().map(|ticket| (ticket, assignment)));
        }
        self.out.push(Effect::Effective);
        for (ticket, assignment) in replies {
            self.reply(ticket, Reply::Synced(assignment));
        }
        self.renew_sessions();
    }

    /// Who has not asked for its assignment by now is out (KAFKA-12890).
    pub(super) fn sync_timer(&mut self, phase: u64) {
        let Some(group) = &mut self.group else { return };
        if group.phase != phase || !matches!(group.state, State::Completing | State::Stable) {
            return;
        }
        let missing: Vec<String> = group
            .members
            .iter()
            .filter(|(_, member)| !member.synced)
            .map(|(id, _)| id.clone())
            .collect();
        for id in missing {
            self.remove(&id, Removed::SyncKicked);
        }
    }

    pub(super) fn remove(&mut self, id: &str, how: Removed) {
        let Some(group) = &mut self.group else { return };
        let before = group.members.len();
        group.members.retain(|(member, _)| member != id);
        if group.members.len() == before {
            return;
        }
        if group.leader.as_deref() == Some(id) {
            group.leader = group.members.first().map(|(id, _)| id.clone());
        }
        let member = id.to_owned();
        let trigger = match how {
            Removed::Left => Trigger::Left { member },
            Removed::Expired => Trigger::Expired { member },
            Removed::Kicked | Removed::SyncKicked => Trigger::Kicked { member },
        };
        self.out.push(Effect::Removed(id.to_owned(), how));
        self.prepare(trigger);
    }

    /// All members have a whole session before them, except those that wait.
    pub(super) fn renew_sessions(&mut self) {
        let now = self.now;
        let Some(group) = &mut self.group else { return };
        let mut timers = Vec::new();
        for (id, member) in &mut group.members {
            if member.joining.is_none() && member.syncing.is_none() {
                let due = now + member.meta.session_ms;
                member.deadline_ms = Some(due);
                timers.push(Effect::Timer(due, Timer::Session(id.clone())));
            }
        }
        self.out.extend(timers);
    }

    pub(super) fn watch_session(&mut self, id: &str) {
        let member = self.group.as_mut().and_then(|group| group.member_mut(id));
        if let Some(due) = member.and_then(|member| member.deadline_ms) {
            self.out
                .push(Effect::Timer(due, Timer::Session(id.to_owned())));
        }
    }
}

// === impl Group ===

impl Group {
    pub(super) fn new(now_ms: i64) -> Self {
        Self {
            state: State::Empty,
            generation: 0,
            version: None,
            leader: None,
            members: Vec::new(),
            pending: BTreeMap::new(),
            told: BTreeMap::new(),
            state_since_ms: now_ms,
            phase: 0,
            initial_left_ms: None,
            joined_meanwhile: false,
        }
    }

    pub(super) fn member_mut(&mut self, id: &str) -> Option<&mut Member> {
        let found = self.members.iter_mut().find(|(member, _)| member == id);
        found.map(|(_, member)| member)
    }

    /// The leader stays if it joined; else the first that did leads.
    fn elect(&mut self) {
        let stays = self
            .leader
            .as_ref()
            .is_some_and(|leader| self.members.iter().any(|(id, _)| id == leader));
        if !stays {
            self.leader = self.members.first().map(|(id, _)| id.clone());
        }
    }

    /// The best protocol that all members offer.
    fn best_version(&self) -> i16 {
        let offered = self.members.iter().map(|(_, member)| member.meta.version);
        offered.min().unwrap_or(0)
    }

    fn rebalance_ms_max(&self) -> i64 {
        let each = self.members.iter().map(|(_, m)| m.meta.rebalance_ms);
        each.max().unwrap_or(0)
    }

    pub(super) fn joined(&self, id: &str) -> Reply {
        let leader = self.leader.clone().unwrap_or_default();
        let members = (leader == id).then(|| self.metas().into_iter().collect());
        Reply::Joined {
            generation: self.generation,
            leader,
            version: self.version.unwrap_or(0),
            members,
        }
    }

    pub(super) fn metas(&self) -> Vec<(String, Meta)> {
        self.members
            .iter()
            .map(|(id, member)| (id.clone(), member.meta.clone()))
            .collect()
    }

    pub(super) fn saved(&self) -> Saved {
        Saved {
            generation: self.generation,
            version: self.version,
            leader: self.leader.clone(),
            state_since_ms: self.state_since_ms,
            members: self.metas(),
            told: self.told.clone(),
            formed: self.generation > 0,
        }
    }
}
