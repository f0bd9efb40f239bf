//! One group: feeds its engine, asks for ends when a verdict waits, and hands out what
//! the engine says. The only place that mutates an engine.

use std::future::{self, Future};
use std::io;
use std::time::Duration;

use evenkeel_core::answers::Answers;
use evenkeel_core::engine::{Change, Engine};
use evenkeel_core::facts::input::{Input, InputKind};
use evenkeel_core::facts::time::ArrivalTime;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};

use crate::run::clock;
use crate::run::shutdown::Ending;

/// How often answers are published at most. A storm of 250 generations a second then
/// costs twenty projections a second, not 250.
const PUBLISH_EVERY: Duration = Duration::from_millis(50);

/// How soon ends are asked for again while a verdict waits for them: one round trip to a
/// broker, or a little more. Each question without success doubles it, up to the pace at
/// which the reader asks anyway: a topic that does not answer is not to be pressed.
const ASK_AFTER_MIN: Duration = Duration::from_millis(100);
const ASK_AFTER_MAX: Duration = Duration::from_secs(10);

/// How often time passes when nothing else happens.
const TICK_EVERY: Duration = Duration::from_secs(1);

/// Inputs taken before somebody else on this thread gets a turn.
const INPUTS_AT_ONCE: usize = 256;

/// What a group loop talks to.
pub trait Surroundings {
    /// Ask where the topics end, soon.
    fn ask_ends(&mut self);

    /// An input was taken; what it changed.
    ///
    /// # Errors
    /// What was taken could not be written down; the loop ends with it.
    fn took(&mut self, engine: &Engine, input: &Input, changes: &[Change]) -> io::Result<()>;

    /// What may be shown now.
    fn publish(&mut self, engine: &Engine, answers: Answers, now: ArrivalTime);

    /// Looks at an input before it is taken. An engine that comes back takes it, and all that
    /// follow, in place of the one before.
    fn meet(&mut self, _input: &mut Input) -> Option<Engine> {
        None
    }

    /// Ready when there is something to publish although no input came.
    fn woken(&mut self) -> impl Future<Output = ()> + Send {
        future::pending()
    }

    /// The last input was taken, the last answers published.
    fn ended(&mut self, _engine: &Engine) -> impl Future<Output = ()> + Send {
        future::ready(())
    }
}

/// Feeds `engine` from `inputs` until the end begins or the inputs end.
///
/// # Errors
/// What [`Surroundings::took`] says.
pub async fn run(
    mut engine: Engine,
    mut inputs: mpsc::Receiver<Input>,
    surroundings: &mut impl Surroundings,
    ending: Ending,
) -> io::Result<()> {
    let mut tick = tokio::time::interval(TICK_EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut publish_at = Instant::now();
    let mut ask_at = Instant::now();
    let mut ask_after = ASK_AFTER_MIN;
    let mut unpublished = true;
    let mut batch = Vec::with_capacity(INPUTS_AT_ONCE);
    let ending = ending.wait();
    tokio::pin!(ending);
    loop {
        let wants_ends = engine.wants_ends();
        if !wants_ends {
            ask_after = ASK_AFTER_MIN;
            ask_at = Instant::now();
        }
        tokio::select! {
            biased;
            () = &mut ending => break,
            taken = inputs.recv_many(&mut batch, INPUTS_AT_ONCE) => {
                if taken == 0 {
                    break;
                }
                for mut input in batch.drain(..) {
                    if let Some(other) = surroundings.meet(&mut input) {
                        engine = other;
                    }
                    let changes = engine.apply(&input);
                    surroundings.took(&engine, &input, &changes)?;
                }
                unpublished = true;
            }
            _ = tick.tick() => {
                let input = Input { at: clock::now(), kind: InputKind::Tick };
                let changes = engine.apply(&input);
                surroundings.took(&engine, &input, &changes)?;
                unpublished = true;
            }
            () = tokio::time::sleep_until(ask_at), if wants_ends => {
                surroundings.ask_ends();
                ask_at = Instant::now() + ask_after;
                ask_after = (ask_after * 2).min(ASK_AFTER_MAX);
            }
            () = tokio::time::sleep_until(publish_at), if unpublished => {}
            () = surroundings.woken() => unpublished = true,
        }
        if unpublished && Instant::now() >= publish_at {
            surroundings.publish(&engine, engine.answers(), clock::now());
            unpublished = false;
            publish_at = Instant::now() + PUBLISH_EVERY;
        }
    }
    surroundings.publish(&engine, engine.answers(), clock::now());
    surroundings.ended(&engine).await;
    Ok(())
}
