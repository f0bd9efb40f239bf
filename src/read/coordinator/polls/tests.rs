//! The loop with a scripted source, on tokio's own clock.

use std::collections::VecDeque;
use std::sync::Mutex;

use super::super::security::Unfit;
use super::*;

/// What the script answers, and what it was asked.
#[derive(Clone, Default)]
struct Script(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    /// Errors to come; without one the answer is good.
    errors: VecDeque<AskError>,
    /// Whether every question fails with this.
    broken: Option<AskError>,
    state: Option<PolledState>,
    asked: Vec<Ask>,
    reconnected: u32,
    cluster: Option<Cluster>,
    cluster_error: Option<AskError>,
    cluster_asked: u32,
    hangs: bool,
}

impl Script {
    fn set(&self, change: impl FnOnce(&mut Inner)) {
        change(&mut self.0.lock().unwrap());
    }

    async fn ask(&self, ask: Ask) -> Result<Option<PolledState>, AskError> {
        let (hangs, answer) = {
            let mut inner = self.0.lock().unwrap();
            inner.asked.push(ask);
            let error = inner.errors.pop_front().or_else(|| inner.broken.clone());
            (inner.hangs, error.map_or(Ok(inner.state), Err))
        };
        if hangs {
            std::future::pending::<()>().await;
        }
        answer
    }
}

fn answered<T>(value: T) -> Answered<T> {
    Answered {
        asked: ArrivalTime(7),
        at: ArrivalTime(8),
        bytes: 100,
        value,
    }
}

impl GroupSource for Script {
    async fn list(&mut self) -> Result<Option<Answered<Option<PolledState>>>, AskError> {
        let state = self.ask(Ask::List).await?;
        Ok(Some(answered(state)))
    }

    async fn describe(&mut self) -> Result<Answered<Description>, AskError> {
        let state = self.ask(Ask::Describe).await?;
        Ok(answered(Description {
            state: state.unwrap_or(PolledState::Stable),
            protocol_type: "connect".to_owned(),
            protocol: "sessioned".to_owned(),
            members: Vec::new(),
        }))
    }

    async fn cluster(&mut self) -> Result<Option<Answered<Cluster>>, AskError> {
        let mut inner = self.0.lock().unwrap();
        inner.cluster_asked += 1;
        match &inner.cluster_error {
            Some(error) => Err(error.clone()),
            None => Ok(inner.cluster.clone().map(answered)),
        }
    }

    fn reconnect(&mut self, _: &Connection) {
        self.set(|inner| inner.reconnected += 1);
    }
}

struct Stage {
    script: Script,
    wanted: watch::Sender<Wanted>,
    inputs: mpsc::Receiver<Input>,
    counters: Arc<PollCounters>,
    task: tokio::task::JoinHandle<()>,
}

fn stage(script: Script, room: usize) -> Stage {
    let (wanted, wishes) = watch::channel(Wanted::new(Connection::default()));
    let (sender, inputs) = mpsc::channel(room);
    let counters = Arc::<PollCounters>::default();
    let began = Instant::now();
    let now: Now = Arc::new(move || {
        let ms = began.elapsed().as_millis();
        ArrivalTime(i64::try_from(ms).unwrap())
    });
    let polls = Polls::new("connect".into(), sender, now, Arc::clone(&counters));
    let task = tokio::spawn(polls.run(script.clone(), wishes));
    Stage {
        script,
        wanted,
        inputs,
        counters,
        task,
    }
}

impl Stage {
    async fn next(&mut self) -> (i64, Polled) {
        let input = tokio::time::timeout(Duration::from_secs(400), self.inputs.recv());
        let input = input.await.expect("an input").expect("the task lives");
        match input.kind {
            InputKind::Polled(polled) => (input.at.0, polled),
            other => panic!("{other:?}"),
        }
    }

    async fn answer(&mut self) -> PollAnswer {
        self.next().await.1.answer
    }
}

#[tokio::test(start_paused = true)]
async fn answers_are_handed_on_with_their_own_times() {
    let script = Script::default();
    let mut stage = stage(script, 8);
    let (at, first) = stage.next().await;
    assert_eq!((at, first.asked), (8, ArrivalTime(7)));
    assert!(matches!(first.answer, PollAnswer::Described(_)));
    assert_eq!(stage.answer().await, PollAnswer::Listed(None));
    let state = Some(PolledState::PreparingRebalance);
    stage.script.set(|inner| inner.state = state);
    assert_eq!(stage.answer().await, PollAnswer::Listed(state));
    let PollAnswer::Described(description) = stage.answer().await else {
        panic!("not described");
    };
    assert_eq!(description.state, PolledState::PreparingRebalance);
    assert_eq!(stage.counters.lists.get(), 2);
    assert_eq!(stage.counters.descriptions.get(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_told_once_then_every_30_s_and_again_when_it_is_another() {
    let script = Script::default();
    let doing = "DescribeGroups";
    script.set(|inner| inner.broken = Some(AskError::Timeout { doing }));
    let mut stage = stage(script, 8);
    let failed = |trouble| PollAnswer::Failed(trouble);
    let (first, polled) = stage.next().await;
    assert_eq!(polled.answer, failed(Trouble::Unreachable));
    let (second, polled) = stage.next().await;
    assert_eq!(polled.answer, failed(Trouble::Unreachable));
    assert!((30_000..=45_000).contains(&(second - first)), "{second}");
    // Another error of the same kind is no news for the engine.
    stage
        .script
        .set(|inner| inner.broken = Some(AskError::Closed));
    let (third, _) = stage.next().await;
    assert!(third - second >= 30_000);
    stage
        .script
        .set(|inner| inner.broken = Some(AskError::Credentials));
    let (fourth, polled) = stage.next().await;
    assert_eq!(polled.answer, failed(Trouble::Unauthenticated));
    assert!(fourth - third <= 10_000);
    // An answer ends it; the same failure is news after that.
    stage.script.set(|inner| inner.broken = None);
    assert!(matches!(stage.answer().await, PollAnswer::Described(_)));
    stage
        .script
        .set(|inner| inner.errors.push_back(AskError::Credentials));
    assert_eq!(stage.answer().await, failed(Trouble::Unauthenticated));
    assert!(stage.counters.failures.get() > 8);
}

#[tokio::test(start_paused = true)]
async fn wishes_take_effect_at_once() {
    let mut stage = stage(Script::default(), 8);
    stage.answer().await;
    let began = Instant::now();
    stage.wanted.send_modify(|wanted| wanted.pace = Pace::Fast);
    assert_eq!(stage.answer().await, PollAnswer::Listed(None));
    assert!(began.elapsed() <= Duration::from_millis(500));
    stage.wanted.send_modify(|wanted| wanted.every_turn = true);
    assert!(matches!(stage.answer().await, PollAnswer::Described(_)));
    assert!(began.elapsed() <= Duration::from_millis(1_000));
}

#[tokio::test(start_paused = true)]
async fn a_question_that_hangs_is_broken_off_by_other_settings_and_by_the_end() {
    let script = Script::default();
    script.set(|inner| inner.hangs = true);
    let mut stage = stage(script, 8);
    tokio::time::sleep(Duration::from_secs(1)).await;
    // A change of pace breaks nothing off, and is not forgotten either.
    stage.wanted.send_modify(|wanted| wanted.pace = Pace::Fast);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(stage.script.0.lock().unwrap().asked, [Ask::Describe]);
    stage.script.set(|inner| inner.hangs = false);
    stage
        .wanted
        .send_modify(|wanted| wanted.reconnect(Connection::default()));
    assert!(matches!(stage.answer().await, PollAnswer::Described(_)));
    assert_eq!(stage.script.0.lock().unwrap().reconnected, 1);
    let began = Instant::now();
    stage.answer().await;
    assert!(began.elapsed() <= Duration::from_millis(500), "still slow");
    stage.script.set(|inner| inner.hangs = true);
    tokio::time::sleep(Duration::from_secs(1)).await;
    stage.wanted.send_modify(|wanted| wanted.stop = true);
    stage.task.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_task_ends_with_its_handle_and_with_its_inputs() {
    let stage_a = stage(Script::default(), 8);
    drop(stage_a.wanted);
    stage_a.task.await.unwrap();
    let stage_b = stage(Script::default(), 8);
    drop(stage_b.inputs);
    stage_b.task.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_full_channel_holds_up_the_questions_and_queues_nothing() {
    let mut stage = stage(Script::default(), 1);
    stage.wanted.send_modify(|wanted| wanted.pace = Pace::Fast);
    tokio::time::sleep(Duration::from_secs(61)).await;
    let asked = stage.script.0.lock().unwrap().asked.len();
    assert!((8..=14).contains(&asked), "{asked}");
    stage.answer().await;
    stage.answer().await;
    stage.answer().await;
}

#[tokio::test(start_paused = true)]
async fn settings_that_polls_cannot_use_are_told_once_and_wait_for_others() {
    let script = Script::default();
    let unfit = Unfit::Missing {
        name: "sasl.username",
    };
    script.set(|inner| inner.broken = Some(unfit.into()));
    let mut stage = stage(script, 8);
    assert_eq!(stage.answer().await, PollAnswer::Failed(Trouble::Other));
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(stage.script.0.lock().unwrap().asked.len(), 1);
    stage.script.set(|inner| inner.broken = None);
    stage
        .wanted
        .send_modify(|wanted| wanted.reconnect(Connection::default()));
    assert!(matches!(stage.answer().await, PollAnswer::Described(_)));
}

/// Settings are handed on as an input of their own; that they cannot be had is no trouble of
/// the polls.
#[tokio::test(start_paused = true)]
async fn how_brokers_are_set_is_handed_on_and_is_no_trouble_where_it_is_not_told() {
    let script = Script::default();
    let doing = "DescribeConfigs";
    script.set(|inner| inner.cluster_error = Some(AskError::Timeout { doing }));
    let mut stage = stage(script, 8);
    assert!(matches!(stage.answer().await, PollAnswer::Described(_)));
    assert_eq!(stage.answer().await, PollAnswer::Listed(None));
    let told = Cluster {
        brokers: Some(3),
        ..Cluster::default()
    };
    stage.script.set(|inner| {
        inner.cluster_error = None;
        inner.cluster = Some(told.clone());
    });
    let began = Instant::now();
    let input = loop {
        let input = stage.inputs.recv().await.unwrap();
        match input.kind {
            InputKind::Cluster(cluster) => break cluster,
            InputKind::Polled(polled) => {
                assert!(!matches!(polled.answer, PollAnswer::Failed(_)));
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(input, told);
    assert!(began.elapsed() <= Duration::from_secs(61));
    stage.script.set(|inner| assert_eq!(inner.cluster_asked, 2));
    // No poll failed.
    assert_eq!(stage.counters.failures.get(), 0);
}
