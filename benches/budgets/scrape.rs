//! A scrape of a group with ten thousand tasks, over a real connection.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, ensure};
use evenkeel::config::Readiness;
use evenkeel::run::clock;
use evenkeel::show::http::{Guard, HttpLimits, serve};
use evenkeel::show::routes::Site;
use evenkeel::show::view::{AgentStats, Published, Pulse, SeriesLimits};
use evenkeel_core::answers::Answers;
use evenkeel_core::facts::input::Topic;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::Scale;
use crate::fleet::Fleet;
use crate::kafka::{Kafka, Kind};
use crate::report::{Held, Report, short};
use crate::stage::{self, Running};
use crate::stopwatch::{process_cpu_s, quantile, sorted};

pub(crate) fn run(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    report.settings(
        "server",
        "one thread, as the agent has; client on another; one connection, kept",
    );
    for kind in Kind::of(scale) {
        let kafka = kind.start(&runtime)?;
        let answers = runtime.block_on(large(&kafka))?;
        kafka.end(&runtime);
        measure(scale, report, (&runtime, kind.told()), answers)?;
    }
    Ok(())
}

fn measure(
    scale: Scale,
    report: &mut Report,
    (runtime, broker): (&Runtime, &str),
    answers: Answers,
) -> anyhow::Result<()> {
    let tasks: i32 = answers
        .configured
        .iter()
        .flat_map(|all| &all.connectors)
        .map(|one| one.tasks)
        .sum();
    report.settings(
        "group",
        format!(
            "{tasks} tasks of 1,000 connectors on 50 workers, {} without an owner; {broker}",
            answers.without_owner().len()
        ),
    );
    let (told, published) = watch::channel(Arc::new(Published {
        groups: vec![Arc::new(answers)],
        agent: AgentStats {
            started: Some(clock::now()),
            ..AgentStats::default()
        },
    }));
    let pulse = Arc::new(Pulse::of(1));
    // Answers grow stale after 30 s; they are published as the loop does it.
    let site = Site::new(
        published,
        Arc::clone(&pulse),
        frozen(&told),
        Readiness::Lenient,
        SeriesLimits::default(),
    );
    pulse.beat(0, frozen(&told)());
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    let (_sender, guards) = watch::channel(Arc::<Guard>::default());
    let limits = HttpLimits {
        connection_age_max: stage::WAIT_MAX * 10,
        ..HttpLimits::default()
    };
    runtime.spawn(serve(
        listener,
        Arc::new(site),
        guards,
        limits,
        std::future::pending(),
    ));
    let requests = scale.of(50_000, 1_000);
    let client = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    for (format, accept) in [
        ("text", "text/plain"),
        ("OpenMetrics", "application/openmetrics-text"),
    ] {
        let count = requests / 2;
        let measured = client.block_on(scrape(address, accept, count))?;
        let (times, beside) = (sorted(&measured.ms), sorted(&measured.beside_ms));
        let (p99, beside_p99) = (quantile(&times, 0.99), quantile(&beside, 0.99));
        report.row(
            format!("scrape of 10,000 tasks, {format}, {count} requests, {broker}"),
            (
                format!(
                    "p50 {} ms, p99 {} ms; {} bytes",
                    short(quantile(&times, 0.5)),
                    short(p99),
                    measured.bytes
                ),
                format!(
                    "/livez in between: p50 {} ms, p99 {} ms; \
                     both ends use {} ms of processor a scrape",
                    short(quantile(&beside, 0.5)),
                    short(beside_p99),
                    short(measured.cpu_ms),
                ),
            ),
            ("p99 ≤ 5 ms", Held::beside(p99, 5.0, beside_p99)),
        );
    }
    Ok(())
}

/// The moment of the answers: they stay as true as they were.
fn frozen(told: &watch::Sender<Arc<Published>>) -> evenkeel::show::routes::Now {
    let arrived = told
        .borrow()
        .groups
        .first()
        .and_then(|answers| answers.arrived);
    let arrived = arrived.unwrap_or(clock::now());
    Arc::new(move || arrived)
}

/// What the real pipeline says of a large group of which a tenth is between two owners.
async fn large(kafka: &Kafka) -> anyhow::Result<Answers> {
    let mut fleet = Fleet::new(50, 1_000, 10);
    kafka.settle(&mut fleet, 10)?;
    let value = fleet.round(22, clock::now().0)?;
    kafka.write(Topic::Offsets, [(Fleet::key()?, value)])?;
    let mut agent = Running::start(kafka.settings()).await?;
    agent.until_fresh().await?;
    agent
        .until("work without an owner", |published| {
            published
                .groups
                .first()
                .is_some_and(|answers| answers.without_owner().len() == 50 * 22)
        })
        .await?;
    let answers = agent.published.borrow().groups.first().cloned();
    let answers = answers.context("nothing published")?;
    agent.end().await?;
    Ok(Arc::unwrap_or_clone(answers))
}

struct Scrapes {
    ms: Vec<f64>,
    beside_ms: Vec<f64>,
    bytes: usize,
    cpu_ms: f64,
}

/// So many scrapes, and a request that costs nothing after every tenth.
async fn scrape(
    address: std::net::SocketAddr,
    accept: &str,
    count: usize,
) -> anyhow::Result<Scrapes> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut out = Scrapes {
        ms: Vec::new(),
        beside_ms: Vec::new(),
        bytes: 0,
        cpu_ms: 0.0,
    };
    let mut buffer = Vec::new();
    let cpu = process_cpu_s();
    for number in 0..count {
        let began = Instant::now();
        out.bytes = get(&mut stream, &mut buffer, ("/metrics", accept)).await?;
        out.ms.push(began.elapsed().as_secs_f64() * 1e3);
        if number % 10 == 0 {
            let began = Instant::now();
            get(&mut stream, &mut buffer, ("/livez", "text/plain")).await?;
            out.beside_ms.push(began.elapsed().as_secs_f64() * 1e3);
        }
    }
    out.cpu_ms = (process_cpu_s() - cpu) * 1e3 / count as f64;
    Ok(out)
}

/// One request and its whole answer; gives the size of the body.
async fn get(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
    (path, accept): (&str, &str),
) -> anyhow::Result<usize> {
    let request = format!("GET {path} HTTP/1.1\r\nhost: bench\r\naccept: {accept}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    buffer.clear();
    let mut whole = None;
    loop {
        ensure!(
            stream.read_buf(buffer).await? > 0,
            "the server closed the connection"
        );
        if whole.is_none()
            && let Some(head) = buffer.windows(4).position(|four| four == b"\r\n\r\n")
        {
            let head_text = std::str::from_utf8(&buffer[..head])?;
            ensure!(
                head_text.starts_with("HTTP/1.1 200 "),
                "{path}: {head_text}"
            );
            let length = head_text
                .lines()
                .find_map(|line| {
                    line.to_ascii_lowercase()
                        .strip_prefix("content-length:")
                        .map(str::to_owned)
                })
                .context("an answer without a length")?;
            let body: usize = length.trim().parse()?;
            whole = Some((head + 4 + body, body));
        }
        if let Some((total, body)) = whole
            && buffer.len() >= total
        {
            return Ok(body);
        }
    }
}
