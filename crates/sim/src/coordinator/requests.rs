//! What the coordinator does with a request, by the state of the group.

use std::collections::BTreeMap;

use super::{Coordinator, Effect, Group, Member, State, Timer};
use crate::protocol::{Meta, Reply, Ticket, Told, Why};
use crate::truth::{Removed, Trigger};

/// A brand-new member that waits in JoinGroup is given up after this long.
const NEW_MEMBER_JOIN_MS: i64 = 300_000;

// === impl Coordinator ===

impl Coordinator {
    pub(super) fn join(&mut self, ticket: Ticket, member: Option<String>, meta: Meta, why: Why) {
        if self.group.is_none() {
            let group = Group::new(self.clock.at(self.now));
            let saved = group.saved();
            self.group = Some(group);
            self.out.push(Effect::Created);
            if self.manner.java {
                self.append(Some(saved));
            }
        }
        match member {
            None => self.give_id(ticket, &meta),
            Some(id) => self.join_as(ticket, id, meta, why),
        }
    }

    fn give_id(&mut self, ticket: Ticket, meta: &Meta) {
        let (high, low) = (self.rng.next_u64(), self.rng.next_u64());
        let id = format!(
            "{}-{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            meta.client_id,
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            0x8000 | (low >> 48) & 0x3fff,
            low & 0xffff_ffff_ffff
        );
        let until = self.now + meta.session_ms;
        if let Some(group) = &mut self.group {
            group.pending.insert(id.clone(), until);
        }
        let timer = Timer::Pending(id.clone());
        self.out.push(Effect::Timer(until, timer));
        self.reply(ticket, Reply::MemberIdRequired(id));
    }

    fn join_as(&mut self, ticket: Ticket, id: String, meta: Meta, why: Why) {
        let Some(group) = &mut self.group else { return };
        if group.pending.remove(&id).is_some() {
            // Whose it is, and who it was before, the scribe knows.
            let trigger = Trigger::Joined {
                worker: String::new(),
                member: id.clone(),
                successor_of: None,
            };
            let until = self.now + NEW_MEMBER_JOIN_MS;
            let member = Member {
                meta,
                joining: Some(ticket),
                syncing: None,
                synced: false,
                deadline_ms: Some(until),
            };
            group.leader.get_or_insert_with(|| id.clone());
            group.members.push((id.clone(), member));
            // Only a group that never had a generation is waited for once more.
            group.joined_meanwhile |= group.generation == 0;
            self.out.push(Effect::Timer(until, Timer::Session(id)));
            return self.prepare(trigger);
        }
        let state = group.state;
        let leads = group.leader.as_deref() == Some(&id);
        let Some(member) = group.member_mut(&id).filter(|_| state != State::Empty) else {
            return self.reply(ticket, Reply::UnknownMember);
        };
        let same = member.meta == meta;
        if (state == State::Completing && same) || (state == State::Stable && same && !leads) {
            let joined = group.joined(&id);
            return self.reply(ticket, joined);
        }
        member.meta = meta;
        member.joining = Some(ticket);
        member.deadline_ms = None;
        self.prepare(Trigger::Rejoined { member: id, why });
    }

    pub(super) fn sync(
        &mut self,
        ticket: Ticket,
        id: &str,
        generation: i32,
        handed: Option<BTreeMap<String, Told>>,
    ) {
        let now = self.now;
        let Some(group) = &mut self.group else {
            return self.reply(ticket, Reply::UnknownMember);
        };
        let (state, current) = (group.state, group.generation);
        let told = group.told.get(id).cloned().unwrap_or_default();
        let Some(member) = group.member_mut(id).filter(|_| state != State::Empty) else {
            return self.reply(ticket, Reply::UnknownMember);
        };
        if generation != current {
            return self.reply(ticket, Reply::IllegalGeneration);
        }
        match state {
            State::Empty | State::Preparing => self.reply(ticket, Reply::Rebalancing),
            State::Stable => {
                member.synced = true;
                member.deadline_ms = Some(now + member.meta.session_ms);
                self.watch_session(id);
                self.reply(ticket, Reply::Synced(told));
            }
            State::Completing => {
                member.synced = true;
                member.syncing = Some(ticket);
                member.deadline_ms = None;
                let leads = group.leader.as_deref() == Some(id);
                if let Some(handed) = handed.filter(|_| leads) {
                    group.told = handed;
                    let (saved, phase) = (group.saved(), group.phase);
                    let (least, most) = self.manner.append_ms;
                    let done = now + self.rng.between(least, most);
                    self.out.push(Effect::Recorded(saved.clone()));
                    self.append(Some(saved));
                    self.out.push(Effect::Timer(done, Timer::Appended(phase)));
                }
            }
        }
    }

    pub(super) fn heartbeat(&mut self, ticket: Ticket, id: &str, generation: i32) {
        let now = self.now;
        let Some(group) = &mut self.group else {
            return self.reply(ticket, Reply::UnknownMember);
        };
        let (state, current) = (group.state, group.generation);
        let Some(member) = group.member_mut(id).filter(|_| state != State::Empty) else {
            return self.reply(ticket, Reply::UnknownMember);
        };
        if generation != current {
            return self.reply(ticket, Reply::IllegalGeneration);
        }
        if member.joining.is_none() && member.syncing.is_none() {
            member.deadline_ms = Some(now + member.meta.session_ms);
            self.watch_session(id);
        }
        let reply = if state == State::Preparing {
            Reply::Rebalancing
        } else {
            Reply::Alive
        };
        self.reply(ticket, reply);
    }

    pub(super) fn leave(&mut self, id: &str) {
        let pending = self.group.as_mut().and_then(|g| g.pending.remove(id));
        if pending.is_some() {
            return self.maybe_complete();
        }
        self.remove(id, Removed::Left);
    }
}
