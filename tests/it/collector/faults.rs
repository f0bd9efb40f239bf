//! Collectors that are not there, do not answer, refuse, are slow, or go and come back: the
//! sidecar before each of them follows the group as the one before a good collector does,
//! answers at once, counts what it could not send, and ends in time.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use evenkeel_testbed::scenario::{Agent, Demo};
use evenkeel_testbed::{Collector, Fault, Proxy, Trace, wait_until};
use serde_json::json;

use super::beside::{ARRIVED_MAX, GENERATIONS, NEXT, PLAYED_MAX, TRACES, await_traces, sidecar};
use super::{capture, is_without_collector, program};

/// A scrape takes a few milliseconds; a sidecar that waited for a collector would take
/// as long as its timeout. This lies between, also on a busy machine.
const SCRAPE_MAX: Duration = Duration::from_secs(1);

/// A sidecar ends within this whatever its collector does.
const ENDED_MAX: Duration = Duration::from_secs(5);

/// How much later than the first a sidecar may know the newest generation.
const BEHIND_MAX: Duration = Duration::from_secs(3);

/// What a sidecar may have more in memory than the one whose collector is well.
const MORE_BYTES_MAX: f64 = 6.0 * 1024.0 * 1024.0;

const GENERATION: &str = r#"evenkeel_generation{group="connect"}"#;

#[test]
fn no_collector_holds_up_a_sidecar() {
    if is_without_collector() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut demo = Demo::prepare().unwrap();
    let good = Collector::start().unwrap();
    let slow = Collector::start().unwrap();
    let mut leaving = Collector::start().unwrap();
    let mut frozen = Collector::start().unwrap();
    let hanging = Proxy::before(good.grpc_port()).unwrap();
    hanging.set(Fault::Hang);
    let delaying = Proxy::before(slow.http_port()).unwrap();
    delaying.set(Fault::Delay(Duration::from_millis(300)));
    let nobody = {
        let gone = Proxy::before(good.http_port()).unwrap();
        gone.port()
    };
    let overloaded = Refusing::start("503 Service Unavailable");
    let strict = Refusing::start("400 Bad Request");
    // Whoever sends all shows every fault in each episode.
    let http = |port: u16| {
        json!({ "endpoint": format!("http://127.0.0.1:{port}"), "copies": "all",
                "timeout_ms": 2000 })
    };
    let grpc = |port: u16| {
        json!({ "endpoint": format!("http://127.0.0.1:{port}"), "copies": "all",
                "timeout_ms": 2000, "protocol": "grpc" })
    };
    let to = [
        ("good", http(good.http_port())),
        ("slow", http(delaying.port())),
        ("leaving", grpc(leaving.grpc_port())),
        ("frozen", http(frozen.http_port())),
        ("nobody", grpc(nobody)),
        ("hanging", grpc(hanging.port())),
        ("overloaded", http(overloaded.port)),
        ("strict", http(strict.port)),
    ];
    let agents: BTreeMap<&str, Agent> = to
        .iter()
        .map(|(name, traces)| (*name, sidecar(&demo, folder.path(), (name, NEXT), traces)))
        .collect();

    let watch = Watch::start(&agents);
    demo.play(&program(), &capture("kill_leader"), folder.path())
        .unwrap();
    demo.await_generation(3, PLAYED_MAX).unwrap();
    let before = await_traces(&leaving, 1).len();
    leaving.kill().unwrap();
    frozen.freeze().unwrap();
    demo.await_generation(7, PLAYED_MAX).unwrap();
    leaving.resume().unwrap();
    frozen.thaw().unwrap();
    demo.await_generation(GENERATIONS, PLAYED_MAX).unwrap();
    let newest = Instant::now();
    for (name, agent) in &agents {
        wait_until(&format!("{name} to follow"), BEHIND_MAX, || {
            Ok((agent.series(GENERATION)? == Some(GENERATIONS as f64)).then_some(()))
        })
        .unwrap();
    }
    assert!(newest.elapsed() < BEHIND_MAX + SCRAPE_MAX);
    await_traces(&good, TRACES);
    await_traces(&slow, TRACES);
    // What it took and had not written when it was killed is lost; what it did not take waits
    // for it. A request that it took and did not answer comes twice.
    let after = wait_until("what waited for the collector", ARRIVED_MAX, || {
        let traces = Trace::all(&Trace::once(&leaving.spans()?)?)?;
        Ok((traces.len() >= TRACES - 1).then_some(traces))
    })
    .unwrap();
    assert!(after.len() > before);
    assert_eq!(
        after.last().unwrap().root.attributes["evenkeel.cause"],
        "worker_lost"
    );
    // One that only stood still has all, some perhaps twice.
    wait_until("what waited for the frozen one", ARRIVED_MAX, || {
        let traces = Trace::all(&Trace::once(&frozen.spans()?)?)?;
        Ok((traces.len() == TRACES).then_some(()))
    })
    .unwrap();
    watch.end();

    let whole = Trace::all(&good.spans().unwrap()).unwrap();
    let all: usize = whole.iter().map(|trace| trace.spans().count()).sum();
    for well in ["good", "slow"] {
        // A slow answer comes after the spans.
        wait_until("the last answer", ARRIVED_MAX, || {
            Ok((Spans::of(&agents[well]).exported == all as f64).then_some(()))
        })
        .unwrap();
    }
    let counts: BTreeMap<&str, Spans> = agents
        .iter()
        .map(|(name, agent)| (*name, Spans::of(agent)))
        .collect();
    println!("{counts:?}");
    for well in ["good", "slow"] {
        assert_eq!(counts[well].failed, 0.0, "{well}");
        assert_eq!(counts[well].waiting, 0.0, "{well}");
    }
    assert_eq!(counts["strict"].failed, all as f64, "refused for good");
    for away in ["nobody", "hanging", "overloaded", "strict"] {
        assert_eq!(counts[away].exported, 0.0, "{away}");
        let waiting = if away == "strict" { 0.0 } else { all as f64 };
        assert_eq!(counts[away].waiting, waiting, "{away}");
    }
    let memory = |name: &str| counts[name].resident_bytes;
    for name in agents.keys() {
        let more = memory(name) - memory("good");
        assert!(more < MORE_BYTES_MAX, "{name} has {more} bytes more");
        // The derivation is the same: no fault of a collector changes what is counted.
        let told = derived(&agents[name]);
        assert_eq!(told, derived(&agents["good"]), "{name}");
    }
    for (name, agent) in agents {
        let asked = Instant::now();
        agent.stop().unwrap();
        let lasted = asked.elapsed();
        assert!(lasted < ENDED_MAX, "{name} took {lasted:?} to end");
        // What nobody took is said, and how much it was.
        let log = folder.path().join(format!("{name}.out"));
        let log = std::fs::read_to_string(log).unwrap();
        let lost = log
            .lines()
            .find(|line| line.contains("spans not sent before the end"));
        let is_away = ["nobody", "hanging", "overloaded"].contains(&name);
        assert_eq!(lost.is_some(), is_away, "{name}: {log}");
        if let Some(lost) = lost {
            assert!(lost.contains(&format!("spans={all}")), "{name}: {lost}");
        }
    }
}

/// What a sidecar counted of its spans, and its memory.
#[derive(Debug)]
struct Spans {
    exported: f64,
    failed: f64,
    waiting: f64,
    resident_bytes: f64,
}

impl Spans {
    fn of(agent: &Agent) -> Spans {
        let metrics = agent.metrics().unwrap();
        let sum = |name: &str| -> f64 {
            let lines = metrics.lines().filter(|line| line.starts_with(name));
            lines
                .map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap())
                .sum()
        };
        Spans {
            exported: sum("evenkeel_spans_exported_total"),
            failed: sum("evenkeel_spans_failed_total"),
            waiting: sum("evenkeel_spans_waiting"),
            resident_bytes: sum("process_resident_memory_bytes"),
        }
    }
}

/// Counters of the group, which come of its records alone.
fn derived(agent: &Agent) -> Vec<String> {
    let metrics = agent.metrics().unwrap();
    let names = ["evenkeel_generations_total{", "evenkeel_rebalances_total{"];
    let lines = metrics.lines();
    let lines = lines.filter(|line| names.iter().any(|name| line.starts_with(name)));
    lines.map(str::to_owned).collect()
}

/// Scrapes all sidecars all the time, and knows the slowest answer.
struct Watch {
    ended: Arc<AtomicBool>,
    thread: thread::JoinHandle<BTreeMap<String, (u32, Duration)>>,
}

impl Watch {
    fn start(agents: &BTreeMap<&str, Agent>) -> Watch {
        let ports: Vec<(String, u16)> = agents
            .iter()
            .map(|(name, agent)| ((*name).to_owned(), agent.port()))
            .collect();
        let ended = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&ended);
        let thread = thread::spawn(move || {
            let mut slowest: BTreeMap<String, (u32, Duration)> = BTreeMap::new();
            while !is_over.load(Ordering::Relaxed) {
                for (name, port) in &ports {
                    let asked = Instant::now();
                    let at_most = SCRAPE_MAX * 5;
                    let answer = evenkeel_testbed::request(*port, "GET", "/metrics", None, at_most);
                    answer.unwrap().ok().unwrap();
                    let (count, longest) = slowest.entry(name.clone()).or_default();
                    *count += 1;
                    *longest = asked.elapsed().max(*longest);
                }
                thread::sleep(Duration::from_millis(100));
            }
            slowest
        });
        Watch { ended, thread }
    }

    fn end(self) {
        self.ended.store(true, Ordering::Relaxed);
        let slowest = self.thread.join().unwrap();
        println!("slowest scrapes: {slowest:?}");
        for (name, (count, longest)) in slowest {
            assert!(count > 50, "{name} was asked {count} times");
            assert!(longest < SCRAPE_MAX, "{name} took {longest:?} to answer");
        }
    }
}

/// A server that answers every request with this status.
struct Refusing {
    port: u16,
    ended: Arc<AtomicBool>,
}

impl Refusing {
    fn start(status: &'static str) -> Refusing {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let ended = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&ended);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(mut stream) = stream else { continue };
                let patience = Some(Duration::from_secs(2));
                stream.set_read_timeout(patience).unwrap();
                if read_request(&mut stream).is_ok() {
                    let answer = format!(
                        "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    );
                    stream.write_all(answer.as_bytes()).ok();
                }
            }
        });
        Refusing { port, ended }
    }
}

/// Reads one request whole: who closes before that resets the connection.
fn read_request(stream: &mut TcpStream) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 16 * 1024];
    loop {
        let length = stream.read(&mut chunk)?;
        bytes.extend_from_slice(&chunk[..length]);
        let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
        let Some((head, _)) = text.split_once("\r\n\r\n") else {
            if length == 0 {
                return Ok(());
            }
            continue;
        };
        let body = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if length == 0 || bytes.len() >= end.unwrap_or(0) + 4 + body.unwrap_or(0_usize) {
            return Ok(());
        }
    }
}

impl Drop for Refusing {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // It looks once more.
        TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).ok();
    }
}
