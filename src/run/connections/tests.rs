//! Settings that change below a running agent.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use evenkeel_core::facts::input::{Input, InputKind};
use evenkeel_core::facts::time::ArrivalTime;
use tokio::sync::{mpsc, watch};

use super::*;
use crate::config::Mistake;
use crate::read::connection::{Connection, Hidden};
use crate::read::group;
use crate::run::shutdown::Shutdown;
use crate::show::view::Published;

fn now() -> ArrivalTime {
    ArrivalTime(1_700_000_000_000)
}

fn settings_of(name: &str, broker: &str, ca: &Path) -> ReadSettings {
    let properties = [
        ("bootstrap.servers", broker.to_owned()),
        ("ssl.ca.location", ca.display().to_string()),
    ];
    let properties = properties.map(|(name, value)| (name.to_owned(), Hidden(value)));
    ReadSettings {
        connection: Connection {
            properties: properties.into(),
            token_file: None,
        },
        group: name.to_owned(),
        offsets_topic: "__consumer_offsets".to_owned(),
        config_topic: format!("{name}-configs"),
        status_topic: format!("{name}-status"),
        own_addresses: vec!["10.0.0.7".to_owned()],
        ..ReadSettings::default()
    }
}

/// Two groups, whose settings a test changes.
struct World {
    said: Arc<Mutex<Result<Settings, Mistakes>>>,
    look: Look,
    readers: Vec<Arc<GroupReader>>,
    inputs: Vec<mpsc::Receiver<Input>>,
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ca = folder.path().join("ca.pem");
        fs::write(&ca, "").unwrap();
        let all = Settings {
            groups: vec![
                settings_of("a", "127.0.0.1:1", &ca),
                settings_of("b", "127.0.0.1:2", &ca),
            ],
            files: vec![folder.path().join("worker.properties"), ca],
            ..Settings::default()
        };
        let said = Arc::new(Mutex::new(Ok::<_, Mistakes>(all.clone())));
        let (mut readers, mut inputs) = (Vec::new(), Vec::new());
        for settings in &all.groups {
            // Without the file that is no certificate.
            let mut settings = settings.clone();
            settings.connection.properties.remove("ssl.ca.location");
            let (sender, receiver) = mpsc::channel(1_000);
            readers.push(Arc::new(
                group::start(settings, Arc::new(now), sender).unwrap(),
            ));
            inputs.push(receiver);
        }
        let load = {
            let said = Arc::clone(&said);
            move || match &*said.lock().unwrap() {
                Ok(settings) => Ok(settings.clone()),
                Err(mistakes) => Err(Mistakes(mistakes.0.clone())),
            }
        };
        let load = Load::new(load, || vec!["10.0.0.7".to_owned()]);
        Self {
            said,
            look: Look::new(load, all),
            readers,
            inputs,
            folder,
        }
    }

    fn say(&self, change: impl FnOnce(&mut Settings)) {
        let mut all = self.look.now.clone();
        change(&mut all);
        *self.said.lock().unwrap() = Ok(all);
        self.touch("worker.properties");
    }

    fn touch(&self, file: &str) {
        let path = self.folder.path().join(file);
        let before = fs::read_to_string(&path).unwrap_or_default();
        fs::write(&path, format!("{before}x")).unwrap();
    }

    fn again(&mut self) -> (Vec<String>, Vec<String>) {
        match self.look.again(&self.readers) {
            Seen::Changed {
                reconnected,
                lasting,
            } => (reconnected, lasting),
            other => panic!("{other:?}"),
        }
    }

    /// The settings that group `place` was told, the first of all left out.
    fn told(&mut self, place: usize) -> Vec<Option<String>> {
        let mut told = Vec::new();
        while let Ok(input) = self.inputs[place].try_recv() {
            if let InputKind::Settings(settings) = input.kind {
                told.push(settings.own_worker);
            }
        }
        told
    }
}

#[tokio::test]
async fn a_group_goes_on_with_what_is_said_of_its_name() {
    let mut world = World::new();
    world.say(|all| all.groups.reverse());
    assert_eq!(
        world.again(),
        (vec![], vec![]),
        "another order is no change"
    );
    let ca = world.folder.path().join("ca.pem");
    world.say(|all| all.groups = vec![settings_of("b", "127.0.0.1:3", &ca)]);
    let (reconnected, lasting) = world.again();
    assert_eq!(reconnected, ["b"]);
    assert_eq!(lasting, ["group a is not there any more"]);
    let brokers = |world: &World| {
        let groups = world.look.now.groups.iter();
        let value =
            |group: &ReadSettings| group.connection.properties["bootstrap.servers"].0.clone();
        groups.map(value).collect::<Vec<_>>()
    };
    assert_eq!(brokers(&world), ["127.0.0.1:1", "127.0.0.1:3"]);
    world.say(|all| all.groups[0].config_topic = "another".to_owned());
    let (reconnected, lasting) = world.again();
    assert_eq!(reconnected, [""; 0]);
    assert!(lasting[0].contains("the config topic of group a is another instead of a-configs"));
}

#[tokio::test]
async fn only_what_a_connection_is_made_of_makes_new_ones() {
    let mut world = World::new();
    assert!(matches!(world.look.again(&world.readers), Seen::Nothing));
    world.touch("worker.properties");
    assert_eq!(world.again().0, [""; 0], "a comment, say");
    world.touch("ca.pem");
    assert_eq!(world.again().0, ["a", "b"], "read by others than us");
    world.say(|all| all.groups[1].own_worker = Some("b:8083".to_owned()));
    assert_eq!(world.again().0, [""; 0]);
    assert!(world.told(0).iter().all(Option::is_none));
}

#[tokio::test]
async fn what_is_refused_is_tried_again_and_told_once() {
    let mut world = World::new();
    let mistake = |what: &str| {
        Err(Mistakes(vec![Mistake {
            path: "kafka".to_owned(),
            found: what.to_owned(),
            expected: "something else".to_owned(),
            hint: None,
            origin: None,
        }]))
    };
    *world.said.lock().unwrap() = mistake("nothing");
    world.touch("worker.properties");
    assert!(matches!(world.look.again(&world.readers), Seen::Refused(_)));
    assert!(matches!(world.look.again(&world.readers), Seen::Nothing));
    *world.said.lock().unwrap() = mistake("too little");
    assert!(matches!(world.look.again(&world.readers), Seen::Refused(_)));
    // What was amiss may be a file that nobody watches: it holds without any change here.
    let all = world.look.now.clone();
    *world.said.lock().unwrap() = Ok(all);
    assert_eq!(world.again(), (vec![], vec![]));
    assert!(matches!(world.look.again(&world.readers), Seen::Nothing));
}

/// The worker's file names another group: what is shown is still true, and of the one before.
#[tokio::test]
async fn a_group_of_another_name_is_pending_and_no_success() {
    let World {
        said,
        look,
        readers,
        inputs: _inputs,
        folder,
    } = World::new();
    let (publisher, mut published) = watch::channel(Arc::default());
    let shutdown = Shutdown::new();
    let reloads = Reloads::new(Arc::new(publisher));
    let every = Duration::from_millis(10);
    let mut all = look.now.clone();
    all.groups[0].group = "c".to_owned();
    tokio::spawn(follow(look, readers, reloads, every, shutdown.ending()));
    *said.lock().unwrap() = Ok(all);
    fs::write(folder.path().join("worker.properties"), "group.id=c").unwrap();
    let is_told = |published: &Arc<Published>| !published.agent.pending.is_empty();
    let told = tokio::time::timeout(Duration::from_secs(10), published.wait_for(is_told));
    let agent = told.await.unwrap().unwrap().agent.clone();
    assert_eq!((agent.reloads.ok, agent.reloads.failed), (0, 1));
    let pending = ["group a is not there any more", "group c is new"];
    assert_eq!(agent.pending, pending);
}
