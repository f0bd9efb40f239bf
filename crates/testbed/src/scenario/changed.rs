//! What a connection is made from changes while the agent runs: a certificate, an authority,
//! a password in the worker's file, a token. Each change is taken up without a restart, what
//! does not hold is named and survived, and nothing is counted twice.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::agent::Agent;
use super::compare::Expected;
use super::counts::{at_rest, counted_alike};
use super::membership::{connector, nothing_unassigned, owned};
use super::secured::{KEY_TEXT, quiet, seen};
use super::stage::Stage;
use super::tokens::Tokens;
use crate::format::random_id;
use crate::group::Group;
use crate::properties::{self, Properties, put};
use crate::security::{AGENT_USER, Access, Right, Security, User};
use crate::spec::ClusterSpec;
use crate::truth::Comparison;
use crate::wait::wait_until;

const NOTHING: Expected = Expected {
    unassigned: None,
    deadline: None,
    downgraded_by: None,
    dated_ms_max: None,
};

/// Files are looked at every 10 s; reading the new ones takes a moment, and longer on a busy machine.
const TAKEN_MAX: Duration = Duration::from_secs(20);
/// A client tries all brokers with a growing pause before it is sure.
const NAMED_MAX: Duration = Duration::from_secs(60);
/// How long a token is good, and how long a login with it.
const TOKEN_LIFE: Duration = Duration::from_secs(20);

const OK: &str = r#"evenkeel_config_reloads_total{result="ok"}"#;
const FAILED: &str = r#"evenkeel_config_reloads_total{result="failed"}"#;

pub(super) fn spec() -> anyhow::Result<ClusterSpec> {
    let mut spec = ClusterSpec::of(1);
    spec.brokers.security = Some(Security::new()?);
    // Otherwise a connection outlives the token it was opened with (KIP-368).
    let life_ms = TOKEN_LIFE.as_millis().to_string();
    put(
        &mut spec.brokers.settings,
        [(
            "listener.name.sasl_ssl.oauthbearer.connections.max.reauth.ms",
            life_ms,
        )],
    );
    Ok(spec)
}

/// The four sidecars, and what each is made from.
struct Scene {
    folder: PathBuf,
    certificates: PathBuf,
    mtls: Agent,
    store: Agent,
    password: Agent,
    token: Agent,
}

pub(super) fn changed(stage: &mut Stage) -> anyhow::Result<()> {
    stage.cluster.start_processes(&["worker-1"])?;
    connector(stage, "alpha", 1)?;
    stage.await_truth("a worker with a connector", NOTHING, |truth| {
        owned(truth) == 2 && nothing_unassigned(truth)
    })?;
    let group = stage.cluster.groups().first().context("a group")?.clone();
    let rights = Right::of_observer(AGENT_USER, &group);
    stage.cluster.grant(&rights)?;

    let canaries = [0, 1].map(|_| random_id().map(|id| format!("canary-{id}")));
    let [wrong, next] = canaries;
    let (wrong, next) = (wrong?, next?);
    let folder = stage.cluster.folder().join("changed");
    fs::create_dir_all(&folder)?;
    let tokens = Tokens::keep(AGENT_USER, &folder.join("token"), TOKEN_LIFE)?;
    let scene = scene(stage, &group, folder, &wrong)?;
    let mut comparison = Comparison::new();
    for agent in [&scene.mtls, &scene.store, &scene.token] {
        seen(agent, agent.name())?;
    }
    unauthenticated(&scene.password)?;

    // Another certificate, an authority that no broker has, the right password, no new token.
    let counts = |agents: &[&Agent]| -> anyhow::Result<_> {
        let first = [stage.agent("first")?];
        let counts = at_rest(&[&first[..], agents].concat())?;
        let (first, others) = counts.split_first().context("the first sidecar")?;
        let pairs = others.iter().map(|other| (first.clone(), other.clone()));
        Ok(pairs.collect::<Vec<_>>())
    };
    let names = ["mtls", "store", "token"];
    let seeing = [&scene.mtls, &scene.store, &scene.token];
    let mut before: Vec<_> = names.into_iter().zip(counts(&seeing)?).collect();
    let own = stage.cluster.user(AGENT_USER)?.clone();
    let right = own.password.clone();
    let next_user = User {
        password: next.clone(),
        ..own.clone()
    };
    tokens.renew(false);
    scene.replace("evenkeel-next.both.pem", "keystore.pem")?;
    scene.replace("other-trust.p12", "trust.p12")?;
    worker_file(stage, &group, &scene.folder, &own)?;
    for agent in [&scene.mtls, &scene.store, &scene.password] {
        taken(agent, 1.0, &mut comparison)?;
    }
    seen(&scene.mtls, "the next certificate")?;
    seen(&scene.password, "the right password")?;
    before.extend(["password"].into_iter().zip(counts(&[&scene.password])?));
    unauthenticated(&scene.store)?;
    unauthenticated(&scene.token)?;

    // Work changes while two are blind; then an expired certificate, the authority is back,
    // the password is rotated, the token is renewed.
    connector(stage, "alpha", 3)?;
    stage.rest("more tasks while two are blind", NOTHING)?;
    stage.cluster.set_password(AGENT_USER, &next)?;
    tokens.renew(true);
    scene.replace("evenkeel-expired.both.pem", "keystore.pem")?;
    scene.replace("trust.p12", "trust.p12")?;
    worker_file(stage, &group, &scene.folder, &next_user)?;
    for agent in [&scene.mtls, &scene.store, &scene.password] {
        taken(agent, 2.0, &mut comparison)?;
    }
    for agent in [&scene.store, &scene.password, &scene.token] {
        seen(agent, agent.name())?;
    }
    unauthenticated(&scene.mtls)?;
    connector(stage, "alpha", 2)?;
    stage.rest("fewer tasks while one is blind", NOTHING)?;

    // Half a file is no file: what was there before stays in use.
    let keystore = scene.folder.join("trust.p12");
    let whole = fs::read(&keystore)?;
    fs::write(&keystore, &whole[..whole.len() / 2])?;
    scene.replace("evenkeel.both.pem", "keystore.pem")?;
    taken(&scene.mtls, 3.0, &mut comparison)?;
    seen(&scene.mtls, "a valid certificate again")?;
    refused(&scene.store, &mut comparison)?;
    fs::write(&keystore, &whole)?;
    seen(&scene.store, "the whole file")?;

    let secrets: Vec<String> = [wrong, next, right, KEY_TEXT.to_owned()]
        .into_iter()
        .chain([stage.cluster.certificates()?.password().to_owned()])
        .chain(tokens.written())
        .collect();
    for agent in [&scene.mtls, &scene.store, &scene.password, &scene.token] {
        quiet(agent, &secrets, &mut comparison)?;
    }
    for agent in [scene.mtls, scene.store, scene.password, scene.token] {
        stage.adopt(agent);
    }
    for (name, before) in &before {
        counted_alike(stage, ("after all changes", name), before, &mut comparison)?;
    }
    stage.count(comparison)?;
    stage.rest("all changes are made", NOTHING)?;
    Ok(())
}

impl Scene {
    /// Puts a certificate's file in place of another, at once and whole.
    fn replace(&self, with: &str, name: &str) -> anyhow::Result<()> {
        put_file(&self.certificates.join(with), &self.folder.join(name))
    }
}

fn put_file(from: &Path, to: &Path) -> anyhow::Result<()> {
    let new = to.with_extension("new");
    fs::copy(from, &new).with_context(|| format!("copy {}", from.display()))?;
    fs::rename(&new, to).with_context(|| format!("replace {}", to.display()))
}

/// Starts the four, one of them with a wrong password.
fn scene(stage: &Stage, group: &Group, folder: PathBuf, wrong: &str) -> anyhow::Result<Scene> {
    let certificates = stage.cluster.certificates()?;
    let user = stage.cluster.user(AGENT_USER)?;
    let start = |name: &str, access: Access, settings: Vec<(&str, String)>| {
        let mut all = settings_of(stage, group, access, user)?;
        put(&mut all, settings);
        let file = folder.join(format!("{name}.properties"));
        properties::write(&all, &file)?;
        stage.agent_beside(name, &file)
    };
    let here = |name: &str| folder.join(name).display().to_string();
    put_file(
        &certificates.file("evenkeel.both.pem"),
        &folder.join("keystore.pem"),
    )?;
    put_file(&certificates.file("trust.p12"), &folder.join("trust.p12"))?;
    let mtls = vec![("ssl.keystore.location", here("keystore.pem"))];
    let store = vec![("ssl.truststore.location", here("trust.p12"))];
    let module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLogin";
    let token = vec![
        ("sasl.jaas.config", format!("{module}Module required;")),
        (
            "sasl.login.callback.handler.class",
            format!("{module}CallbackHandler"),
        ),
        (
            "sasl.oauthbearer.token.endpoint.url",
            format!("file://{}", here("token")),
        ),
    ];
    let strange = User {
        password: wrong.to_owned(),
        ..user.clone()
    };
    worker_file(stage, group, &folder, &strange)?;
    Ok(Scene {
        certificates: certificates.folder().to_owned(),
        mtls: start("mtls", Access::MtlsPem, mtls)?,
        store: start("store", Access::Mtls, store)?,
        token: start("token", Access::Oauth, token)?,
        password: stage.agent_beside("password", &folder.join("password.properties"))?,
        folder,
    })
}

/// What a worker's file says, for evenkeel's own user.
fn settings_of(
    stage: &Stage,
    group: &Group,
    access: Access,
    user: &User,
) -> anyhow::Result<Properties> {
    let mut all = access.java(user, stage.cluster.certificates()?)?;
    put(
        &mut all,
        [
            (
                "bootstrap.servers",
                stage.cluster.bootstrap_of(access.listener())?,
            ),
            ("group.id", group.group_id.clone()),
            ("config.storage.topic", group.config_topic.clone()),
            ("offset.storage.topic", group.offset_topic.clone()),
            ("status.storage.topic", group.status_topic.clone()),
        ],
    );
    Ok(all)
}

/// Writes the file with the password of `user`.
fn worker_file(stage: &Stage, group: &Group, folder: &Path, user: &User) -> anyhow::Result<()> {
    let all = settings_of(stage, group, Access::Scram512, user)?;
    let file = folder.join("password.properties");
    let new = file.with_extension("new");
    properties::write(&all, &new)?;
    fs::rename(&new, &file).with_context(|| format!("replace {}", file.display()))
}

/// Waits until as many changes are taken up, and no longer than files are looked at.
fn taken(agent: &Agent, changes: f64, comparison: &mut Comparison) -> anyhow::Result<()> {
    let name = agent.name();
    let began = Instant::now();
    let told = wait_until(
        &format!("{name}: the change to be taken"),
        TAKEN_MAX,
        || {
            let told = agent.series(OK)?;
            ensure!(told >= Some(changes), "{told:?} of {changes}");
            Ok(Some(told))
        },
    )?;
    comparison.equal(&format!("{name}: changes taken"), &Some(changes), &told);
    comparison.equal(&format!("{name}: runs"), &true, &agent.runs());
    eprintln!(
        "  {name}: change {changes} taken within {:?}",
        began.elapsed()
    );
    Ok(())
}

/// Waits until a change is refused, which must cost nothing.
fn refused(agent: &Agent, comparison: &mut Comparison) -> anyhow::Result<()> {
    let name = agent.name();
    let told = wait_until(
        &format!("{name}: half a file to be refused"),
        TAKEN_MAX,
        || {
            let told = agent.series(FAILED)?;
            ensure!(told >= Some(1.0), "{told:?}");
            Ok(Some(told))
        },
    )?;
    comparison.equal(&format!("{name}: changes refused"), &Some(1.0), &told);
    let current = agent.state()?["current"].as_bool();
    comparison.equal(&format!("{name}: still current"), &Some(true), &current);
    eprintln!("  {name}: half a file is refused");
    Ok(())
}

/// Waits until the refusal is named.
fn unauthenticated(agent: &Agent) -> anyhow::Result<()> {
    let name = agent.name();
    wait_until(
        &format!("{name}: the refusal to be named"),
        NAMED_MAX,
        || {
            let reasons = agent.reasons()?;
            let told = reasons.iter().any(|r| r.reason == "unauthenticated");
            ensure!(told, "{reasons:?}");
            Ok(Some(()))
        },
    )?;
    eprintln!("  {name}: refused, and says so");
    Ok(())
}
