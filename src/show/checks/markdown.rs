//! `docs/checks.md`, from the table of checks.

use evenkeel_core::checks::releases::tables;
use evenkeel_core::checks::{self, Check, is_watched};

const HEAD: &str = "\
# Checks

Written from the table in the code; do not edit (`cargo xtask docs`).

Most rebalances that go wrong come from settings that each look right alone: each clock answers one question about patience, they
stand in different files on different machines, and nothing holds them to each other. `evenkeel check FILE…` does. What files
are read is in [check-formats.md](check-formats.md).

- **error**: will break, or is broken. **warning**: breaks under load, or at the next failure. **info**: good to know.
- Every value that is compared is shown with where it was read: file and line, a variable, a default. A default is that of the
  release that `--kafka-release`, the file or the tag of an image of Confluent's names, else of the newest known one; it counts only
  where all that is set is known.
- A value that is missing leaves a check *undecided*, and the missing value is named; where it is set to what only the running worker
  can look up (`${…}`), with its place (in JSON its value is `[set where the worker runs]`). Nothing is guessed.
- Values that no file holds (*watched* below) come from a running group: with `--live` `evenkeel check` reads it, too; without, checks
  that need them are undecided.
- The agent (`evenkeel run`) holds the same table against the group that it watches: `/api/v1/checks`, `evenkeel_check_info`. It knows
  the session and rebalance timeout and the address of each member, hosts, protocols, what each had read of the config topic,
  generations that came to nothing, stops that were given up, how long restarts, stops and sync phases took, and a
  leader's delay once somebody left while it led: a new leader's first round and the rest of a running delay are no evidence. A delay that
  a leader once had counts while somebody who was there then is still the same process. The last 64 generations count. What brokers
  allow, how many there are and how the topics are kept it asks every ten minutes, where DESCRIBE_CONFIGS allows it
  ([polls.md](polls.md)). Of the worker beside it it knows the clocks in its file, and names there that are no settings of a worker; what no file sets has no default there, since
  images and scripts may set it. Releases count where `worker_release` of the group names one.
- The agent does not know the consumer groups of sinks and the files of other workers: checks that need these are undecided there. Of
  what connectors set it knows the two clocks of their producers, and nothing else that a check compares.
- What is measured, and when it stays undecided, is [below](#what-is-measured).
- Passwords are never shown; of a value that Kafka refuses, and of a setting that is not known, only the name is.

## What is measured

Each is the longest that was seen, at least: where the records give bounds, the lower one counts, so that a check fires only on what is
certain. It is shown with how often that was seen.

| what | from | undecided |
| --- | --- | --- |
| how long restarts take | a worker's last stop, else the end of the join without it, until its successor is in the group | before three were seen; where one is only known to be no shorter and is below the delay |
| how long tasks take to stop | the record that tells a worker to stop one until it wrote that it did | before one was seen; a worker that ends stops all at once and is not measured |
| after how long a worker was out while it stopped tasks | a worker was told to stop work, or a connector of which it had tasks got others, was out of the group once its `rebalance.timeout.ms` was over, and came back with a claim | else. It is told until its `rebalance.timeout.ms` is longer |
| how long the sync phase takes | the end of the join until the record, of generations that were completed | before one was seen |
| how long rebalances take | the active time of episodes that are over ([episodes.md](episodes.md)) | before one is over |
| how far apart workers start | a group that was empty: `group.initial.rebalance.delay.ms` (no longer than the largest `rebalance.timeout.ms`) before the end of its first join, until the record before the one that brings the last worker. Workers belong to one start while each comes within two minutes of the one before; an address that comes again is a restart | where the first generation was not read. Workers that all came in one generation were close enough: 0 |
| how long connectors hold up their worker | a worker was told to start a connector, and had no old tasks to stop that may have held it up, was out of the group when its own `rebalance.timeout.ms` was over and no session later, and came back with a claim: from that record until the last one without it. So, too, where it had just come back from that and was out again as long after, since Kafka makes a call that failed once more. Told from the second time on. It is forgotten when that worker is another process, or has started a connector and stayed; what was seen of a worker that had just come back, once it stays for longer than its timeouts and the minute that Kafka waits at most before the next try | else. A call that ends in time leaves no record, and one that begins later than with a start cannot be told from a process that was frozen: departures say `unresponsive` of both ([episodes.md](episodes.md)) |
| the age of the session key | the newest `session-key` record of the config topic: when it arrived, where the agent was there, else its time, which the leader's clock told; that counts as later by as much as clocks of leaders may be behind. Up to when that topic was last read to its end. The key itself is never kept | while the group does not speak `sessioned`, and in the first minute of a generation, in which a leader may still renew it; for a key that was there before, where the clock of a leader is known to be behind and nothing says by how much at most |
| how long a stranger's task has been RUNNING | the disagreement `running_on_departed_worker`, where nobody else has written of the task since | where the status topic is not read |

In steps of ten seconds where it goes on.

## What is not built

Two checks need the consumer groups of sink connectors, which are not read yet: `poll_interval_below_gap` is always undecided, and
`sink_outlives_worker` is decided only where a worker's file sets `consumer.session.timeout.ms`. A dead worker's consumers in their groups,
and whether tasks and members of a sink's group are as many, are told with those groups, too.

## With the running group

`evenkeel check --live [FILE…]` connects as `--config`, `--bootstrap` or `EVENKEEL_*` say, else as the first properties file among the
files does, reads what the agent reads and asks brokers and topics for their settings; `--wait SECONDS` (30) is the longest it takes,
and it ends sooner when all is known or nothing more will come. Workers of files are found again among the members: by the address that
they advertise, the file of the connection by the addresses of this machine, and one file by the one member there is. What members
told goes over what files say. Other members are compared, too, and so are groups of one cluster with each other. Progress is on standard error.

A right that is missing is named with the principal that lacks it, in every format; one that is needed (READ on the topics, DESCRIBE on
the group) makes the exit code 1, and DESCRIBE_CONFIGS only leaves checks undecided.

Exit codes: 0; 1 where something of `--fail-on` severity was found, or a right is missing; 64 a wrong command line; 69 no broker answers,
or none lets us in; 78 a file that cannot be read, or a configuration with mistakes.
";

/// The document.
#[must_use]
pub fn markdown() -> String {
    let mut out = String::from(HEAD);
    out.push_str(&format!(
        "\nSettings, defaults and bounds come from the jars of Kafka {}.\n",
        releases()
    ));
    out.push_str("\n| check | severity | fires when |\n| --- | --- | --- |\n");
    for check in sorted() {
        out.push_str(&format!(
            "| [{id}](#{id}) | {} | {} |\n",
            check.severity.word(),
            check.title,
            id = check.id
        ));
    }
    let mut harm = None;
    for check in sorted() {
        if harm != Some(check.harm) {
            harm = Some(check.harm);
            out.push_str(&format!("\n## {}\n", check.harm.headline()));
        }
        section(&mut out, check);
    }
    out
}

/// By what becomes of it, then the worst first.
fn sorted() -> Vec<&'static Check> {
    let mut all: Vec<_> = checks::all().collect();
    all.sort_by_key(|check| (check.harm, check.severity));
    all
}

fn section(out: &mut String, check: &Check) {
    let inputs = check.inputs.iter().map(|input| {
        let is_setting = input.contains('.') && !input.contains(' ');
        match (is_setting, is_watched(input)) {
            (true, false) => format!("`{input}`"),
            (true, true) => format!("`{input}` (watched)"),
            (false, true) => format!("{input} (watched)"),
            (false, false) => (*input).to_owned(),
        }
    });
    let inputs: Vec<String> = inputs.collect();
    out.push_str(&format!(
        "\n### {}\n\n{}: {}.\n\n{}\n\n{}\n\nCompares: {}.\n",
        check.id,
        capitalised(check.severity.word()),
        check.title,
        check.consequence,
        check.advice,
        inputs.join(", ")
    ));
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn releases() -> String {
    let releases: Vec<String> = tables().releases.iter().map(ToString::to_string).collect();
    match releases.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => releases.concat(),
    }
}
