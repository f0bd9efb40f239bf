//! Every bound of the core, with its unit and its reason.

/// Rounds shown in the answers: an hour of a calm group, a minute of a loop.
pub const ROUNDS_SHOWN_MAX: usize = 64;

/// Rounds whose outcome is not settled. A loop of 250 generations a second that waits
/// one second for its barrier needs 250; beyond this the oldest is settled as unknown.
pub const ROUNDS_OPEN_MAX: usize = 1024;

/// Answers about a topic's end that were not read up to yet. Older ones are met first,
/// so the first and the newest are enough; a few more keep the steps small.
pub const ENDS_PENDING_MAX: usize = 8;

/// Milliseconds after which an input that was not confirmed current makes the group's
/// answers stale.
pub const FRESH_MS_MAX: i64 = 30_000;

/// Milliseconds between a deadline on the coordinator's clock and the proof that no
/// record older than it is still on its way: the coordinator's linger and the
/// replication of one append (`offsets.commit.timeout.ms` bounds the latter at 5 s).
pub const TIMER_SLACK_MS: i64 = 5_000;

/// How long a worker that leaves waits for what it runs to stop, unless it is set otherwise
/// (`task.shutdown.graceful.timeout.ms`; no topic tells it).
pub const GRACEFUL_DEFAULT_MS: i64 = 5_000;

/// Proofs kept that a worker completed a generation: (worker, generation) pairs.
pub const GENERATION_PROOFS_MAX: usize = 4096;

/// Seconds of generations kept for the recent windows.
pub const RECENT_WINDOW_S_MAX: i64 = 1800;

/// Findings shown at once.
pub const FINDINGS_MAX: usize = 100;

/// Distinct unknown types and versions counted apart; the rest counts as `other`.
pub const UNKNOWN_LABELS_MAX: usize = 20;

/// Items that left their owner and are not configured, remembered in case they are
/// configured again before anybody owns them.
pub const UNOWNED_MEMORY_MAX: usize = 100_000;

/// Milliseconds without proof that nothing is unread after which a missing generation
/// number is no longer proof of an aborted round: the broker may have compacted the
/// records in between away.
pub const WHOLE_GAP_MS_MAX: i64 = 60_000;

/// Task numbers held in a dense table; larger ones, which only damaged bytes have, cost
/// a tree instead of memory.
pub const TASKS_DENSE_MAX: usize = 10_000;

/// Tasks of one connector that are taken as configured. A commit may name any number; more
/// than this is a damaged or hostile record, and the rest is left out with a finding.
pub const TASKS_PER_CONNECTOR_MAX: i32 = 10_000;

/// Connector names remembered. Names are never forgotten while the agent runs, so a
/// script that creates and deletes for ever must meet a bound: later names share one.
pub const NAMES_MAX: usize = 200_000;

/// Milliseconds that a finding about an event is shown, such as a clock that stepped back.
pub const EVENT_SHOWN_MS: i64 = 1_800_000;

/// Entries of the dense table of owners, all connectors together: 8 MB.
pub const OWNER_SLOTS_MAX: usize = 4_000_000;

/// Runs of statuses remembered for one worker and generation; numbers come again when the
/// group is created anew.
pub const PROOF_RUNS_MAX: usize = 8;

/// Instants kept of one run. A worker writes a status for each item it starts, so the
/// first of them lie close to the round that they prove.
pub const PROOF_RUN_SEEN_MAX: usize = 16;

/// Milliseconds without a status after which a new run begins.
pub const PROOF_RUN_GAP_MS: i64 = 60_000;

/// Tasks of all connectors together that are taken as configured; what commits name beyond
/// it is left out with a finding.
pub const TASKS_MAX: i32 = 100_000;

/// Changes of the config topic remembered by offset: what lies between two group records.
pub const CONFIG_CHANGES_MAX: usize = 4096;

/// Items whose statuses are remembered: as many as are remembered without an owner. A topic
/// that names more is written to by something that is no Connect worker.
pub const STATUS_ITEMS_MAX: usize = UNOWNED_MEMORY_MAX;

/// Statuses remembered of one item: a move takes two, a restart three.
pub const STATUSES_PER_ITEM_MAX: usize = 64;

/// Items whose status was deleted, remembered until this many others were.
pub const DESTROYED_MAX: usize = 1000;

/// Statuses that wait for the record of their generation; the oldest is taken before its turn
/// when there are more. In a cold start all that workers wrote may be read before it: this is
/// ten of each of 10,000 tasks, about 20 MB while it lasts.
pub const HELD_STATUSES_MAX: usize = 100_000;

/// Stretches of downtime that are over and wait for the record that says why.
pub const STRETCHES_OVER_MAX: usize = 100_000;

/// How long before a connector's stop it may have been configured anew for the stop to come of
/// that: the worker's herder has other work, too.
pub const RESTARTED_BY_MS: i64 = 10_000;

/// Pairs of instants remembered of one worker's clock.
pub const SKEW_PAIRS_MAX: usize = 64;

/// Workers whose clocks are remembered.
pub const SKEW_WORKERS_MAX: usize = 500;

/// Milliseconds in which a departed worker may come back, or somebody in its place.
pub const DEPARTURE_WINDOW_MS: i64 = 600_000;

/// Departures of the last minutes that are remembered.
pub const DEPARTURES_OPEN_MAX: usize = 1000;

/// Causes kept of one episode.
pub const CAUSES_SHOWN_MAX: usize = 20;

/// Rounds kept of one episode.
pub const EPISODE_ROUNDS_SHOWN_MAX: usize = 32;

/// Pieces of work shown of one round that took longest to stop, and as many to start.
pub const EPISODE_SLOWEST_SHOWN_MAX: usize = 5;

/// Members that came, kept of one episode.
pub const EPISODE_JOINED_SHOWN_MAX: usize = 50;

/// Departures kept of one episode.
pub const EPISODE_DEPARTURES_SHOWN_MAX: usize = 50;

/// Closed episodes that are shown.
pub const EPISODES_SHOWN_MAX: usize = 100;

/// Milliseconds without any move after which an episode in which something is pending and
/// nothing is scheduled closes unresolved.
pub const UNRESOLVED_MS: i64 = 60_000;

/// Milliseconds by which a scheduled delay may seem to be over early: members count it from
/// when they received the assignment, on their clocks.
pub const DELAY_EARLY_MS: i64 = 500;

/// Connectors and reasons whose downtime is counted. Beyond it those that are configured no more
/// are forgotten; 1,000 connectors have 6,000.
pub const UNAVAILABLE_MAX: usize = 20_000;

/// Workers whose departures are counted apart; the rest counts as `other`.
pub const DEPARTED_WORKERS_MAX: usize = 200;

/// Beginnings of rebalances that polls saw, remembered until their records are judged.
pub const REBALANCES_SEEN_MAX: usize = 32;

/// Steps from record to record that wait for their barrier: more than a second of a loop of
/// 250 generations a second. Beyond this the oldest is judged by what was read.
pub const STEPS_WAITING_MAX: usize = 320;

/// Milliseconds by which a worker's last stops may be stamped later than the group was without
/// it: its clock may be ahead by as much without anybody knowing. A verdict on how it left waits
/// as long, so that every sidecar has the same to judge by.
pub const LAST_STOPS_MS: i64 = 1_000;

/// How far the agent's clock may be behind the others' for the history to tell it so.
pub const CLOCKS_APART_MS_MAX: i64 = 3_600_000;

/// Milliseconds by which one record may arrive faster than the fastest that was seen.
pub const ARRIVAL_SLACK_MS: i64 = 20;

/// Connectors of which it is shown that their tasks are bunched.
pub const BALANCE_CONNECTORS_SHOWN_MAX: usize = 100;

/// Runs of failed rounds remembered: two minutes of a loop take 120, or one for each round
/// where others lie between them. Beyond this the oldest are not counted.
pub const PATTERN_FAILED_RUNS_MAX: usize = 1024;

/// Follow-ups that revoked again, remembered for the pattern.
pub const PATTERN_FOLLOWUPS_MAX: usize = 64;

/// Offsets of configuration that persons wrote, remembered until a group record is past them.
pub const PATTERN_WRITES_MAX: usize = 1024;

/// Commits remembered for the pattern: one a connector and generation.
pub const PATTERN_COMMITS_MAX: usize = 1024;

/// Departures remembered for the pattern: half an hour of a rollout of a large group.
pub const PATTERN_DEPARTURES_MAX: usize = 1000;

/// Durations remembered of each habit: enough for a median, few enough to forget what was.
pub const HABIT_SAMPLES_MAX: usize = 20;

/// Successor chains whose habits are remembered; the one that did nothing longest goes first.
pub const HABIT_CHAINS_MAX: usize = 500;

/// Connectors whose habits are remembered.
pub const HABIT_CONNECTORS_MAX: usize = 2000;

/// Workers with the same clocks that are held against the checks: the others would say the
/// same, twenty times a second while a large group is in a storm.
pub const CHECK_WORKERS_ALIKE_MAX: usize = 20;

/// Workers in all that are held against the checks.
pub const CHECK_WORKERS_MAX: usize = 100;

/// Checks that fire and are shown.
pub const CHECKS_FIRED_MAX: usize = 200;

/// Milliseconds in which config mismatches are counted for the checks.
pub const CHECK_MISMATCHES_MS: i64 = 3_600_000;

/// Milliseconds between two workers of one start of the whole group: whoever comes later than
/// that was added to it.
pub const CHECK_START_GAP_MS: i64 = 120_000;

/// Connectors whose producers are held against the checks, those with the least patience first.
pub const CHECK_PRODUCERS_MAX: usize = 200;

/// Restarts that have to be measured before the delay is held against them.
pub const CHECK_RESTARTS_MIN: u64 = 3;

/// How often a connector has to hold up its worker before that is told: once may be chance.
pub const CHECK_HELD_UP_MIN: u64 = 2;

/// Milliseconds after which Kafka asks a connector for its tasks again, at most
/// (`DistributedHerder.RECONFIGURE_CONNECTOR_TASKS_BACKOFF_MAX_MS`).
pub const CONNECT_RETRY_MS_MAX: i64 = 60_000;

/// Milliseconds after which work that somebody is told to have, and of which nobody says what
/// was expected, is a disagreement; or the worker's rebalance timeout, where that is longer.
pub const DISAGREES_AFTER_MS: i64 = 60_000;

/// Disagreements remembered, and as many pieces of work that may come to be one.
pub const DISAGREEMENTS_MAX: usize = UNOWNED_MEMORY_MAX;

/// Disagreements that are shown; how many there are is told.
pub const DISAGREEMENTS_SHOWN_MAX: usize = 500;

/// Disagreements that are over, remembered to be shown.
pub const DISAGREEMENTS_OVER_MAX: usize = 50;

/// Connectors and tasks that do not run, shown one by one; how many there are is told.
pub const STATES_SHOWN_MAX: usize = 500;
