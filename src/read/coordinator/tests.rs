//! The polls against brokers: the embedded one, and a fake that says what a test wants.

mod embedded;
mod fake;
mod hostile;
mod moves;
mod secured;
mod tokens;
mod trust;

use std::sync::Arc;
use std::time::{Duration, Instant};

use evenkeel_core::facts::input::{Input, InputKind, Trouble};
use evenkeel_core::facts::poll::{Description, PollAnswer, PolledState};
use evenkeel_core::facts::time::ArrivalTime;
use tokio::sync::mpsc;

use super::{Pace, PollHandle, PollSettings, start};
use crate::read::connection::{Connection, Hidden};
use crate::read::kafka::Now;

const GROUP: &str = "connect";

/// No wait in these tests may last longer.
const DEADLINE: Duration = Duration::from_secs(30);

/// Polls that run, and what comes of them.
struct Polled {
    handle: PollHandle,
    inputs: mpsc::Receiver<Input>,
}

fn now() -> Now {
    let began = Instant::now();
    Arc::new(move || {
        let passed = i64::try_from(began.elapsed().as_millis()).unwrap();
        ArrivalTime(1_800_000_000_000 + passed)
    })
}

fn connection(brokers: impl ToString, more: &[(&str, &str)]) -> Connection {
    let mut connection = Connection::default();
    let brokers = Hidden(brokers.to_string());
    connection
        .properties
        .insert("bootstrap.servers".to_owned(), brokers);
    for (name, value) in more {
        let value = Hidden((*value).to_owned());
        connection.properties.insert((*name).to_owned(), value);
    }
    connection
}

/// Fast polls of the group over `connection`.
fn poll(connection: Connection) -> Polled {
    let (sender, inputs) = mpsc::channel(64);
    let group = GROUP.to_owned();
    let handle = start(
        PollSettings {
            connection,
            group,
            topics: Vec::new(),
            mask: None,
        },
        now(),
        sender,
    );
    handle.set_pace(Pace::Fast);
    Polled { handle, inputs }
}

impl Polled {
    async fn next(&mut self) -> PollAnswer {
        let input = tokio::time::timeout(DEADLINE, self.inputs.recv()).await;
        let input = input.expect("an input in time").expect("polls go on");
        let InputKind::Polled(polled) = input.kind else {
            panic!("another input");
        };
        assert!(polled.asked <= input.at, "answered before it was asked");
        polled.answer
    }

    /// Waits for the answer that is looked for; gives how many came before it.
    async fn until(&mut self, wanted: impl Fn(&PollAnswer) -> bool) -> PollAnswer {
        let began = Instant::now();
        loop {
            let answer = self.next().await;
            if wanted(&answer) {
                return answer;
            }
            assert!(began.elapsed() < DEADLINE, "not seen, last was {answer:?}");
        }
    }

    async fn until_listed(&mut self, state: Option<PolledState>) {
        self.until(|answer| *answer == PollAnswer::Listed(state))
            .await;
    }

    async fn until_described(&mut self, state: PolledState) -> Description {
        let is_it = |answer: &PollAnswer| match answer {
            PollAnswer::Described(description) => description.state == state,
            _ => false,
        };
        match self.until(is_it).await {
            PollAnswer::Described(description) => description,
            _ => unreachable!(),
        }
    }

    async fn until_failed(&mut self, trouble: Trouble) {
        self.until(|answer| *answer == PollAnswer::Failed(trouble))
            .await;
    }
}
