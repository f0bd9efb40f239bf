//! The capture format: round trips, every cut, damage, and what later releases add.

mod samples;

use std::io::Write as _;

use evenkeel_core::facts::input::{Input, InputKind};
use evenkeel_core::facts::time::ArrivalTime;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::{CaptureError, CaptureReader, CaptureWriter, Header, KafkaReleases};
use samples::{record, samples};

fn header() -> Header {
    Header {
        recorder: Some("a test".to_owned()),
        kafka: Some(KafkaReleases {
            broker: Some("4.1.0".to_owned()),
            workers: None,
        }),
        ..Header::new(1_700_000_000_000, Some("kill-and-return".to_owned()))
    }
}

fn written(inputs: &[Input]) -> Vec<u8> {
    let mut writer = CaptureWriter::new(Vec::new(), &header()).unwrap();
    for input in inputs {
        writer.write(input).unwrap();
    }
    writer.finish().unwrap()
}

fn gzip(lines: &[&str]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    for line in lines {
        writeln!(out, "{line}").unwrap();
    }
    out.finish().unwrap()
}

const HEADER: &str =
    r#"{"format":"evenkeel-capture","version":1,"evenkeel":"0.1.0","recorded_at_ms":5}"#;

/// The inputs that came, and the error that ended them.
fn read_all(bytes: &[u8]) -> (Vec<Input>, Option<CaptureError>) {
    let reader = match CaptureReader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut inputs = Vec::new();
    for item in reader {
        match item {
            Ok(input) => inputs.push(input),
            Err(error) => return (inputs, Some(error)),
        }
    }
    (inputs, None)
}

#[test]
fn gives_back_what_was_written() {
    let inputs = samples();
    let bytes = written(&inputs);
    let mut reader = CaptureReader::new(bytes.as_slice()).unwrap();
    assert_eq!(*reader.header(), header());
    let back: Vec<Input> = reader.by_ref().map(Result::unwrap).collect();
    assert_eq!(back, inputs);
    assert_eq!(reader.skipped(), super::Skipped::default());
    assert!(reader.next().is_none(), "nothing after the end marker");
}

/// The names in a line are a promise: captures are kept for years.
#[test]
fn writes_stable_field_names() {
    let inputs = samples();
    let mut text = String::new();
    let bytes = written(&inputs);
    std::io::Read::read_to_string(
        &mut flate2::read::GzDecoder::new(bytes.as_slice()),
        &mut text,
    )
    .unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        r#"{"format":"evenkeel-capture","version":1,"evenkeel":"0.1.0","recorded_at_ms":1700000000000,"scenario":"kill-and-return","recorder":"a test","kafka":{"broker":"4.1.0"}}"#
    );
    let expected = [
        r#"{"at":1700000001500,"kind":"settings","cluster_id":"4L6g3nShT-eMCtK--X86sw","group":"connect-cluster","offsets_topic":"__consumer_offsets","offsets_partition":13,"config_topic":"connect-configs","config_partitions":1,"status_topic":"connect-status","status_partitions":5,"worker_release":"3.9.1","own_worker":null,"own_addresses":["10.0.0.7"],"worker_settings":[{"name":"session.timeout.ms","value":"10000","source":"connect.properties:3"}]}"#,
        r#"{"at":1700000003000,"kind":"settings","cluster_id":null,"group":"","offsets_topic":"","offsets_partition":0,"config_topic":"","config_partitions":0,"status_topic":"","status_partitions":0,"worker_release":null,"own_worker":null,"masked":true}"#,
        r#"{"at":1700000004500,"kind":"start","topic":"offsets","partition":13,"offset":12,"end":99,"anew":true}"#,
        r#"{"at":1700000006000,"kind":"record","topic":"status","partition":3,"offset":1,"ts":1700000000001,"key":"t:status-task-a-0","value":"t:{\"state\":\"RUNNING\"}"}"#,
        r#"{"at":1700000007500,"kind":"record","topic":"status","partition":3,"offset":2,"epoch":7,"ts":1700000000002,"key":"b:AAIAAWc=","value":"b:AAP//g=="}"#,
        r#"{"at":1700000010500,"kind":"record","topic":"status","partition":3,"offset":4,"epoch":7,"ts":1700000000004}"#,
        r#"{"at":1700000015000,"kind":"reached","topic":"config","partition":0,"offset":9223372036854775807}"#,
        r#"{"at":1700000016500,"kind":"ends","topic":"status","asked":-5,"ends":[[0,10],[4,0]]}"#,
        r#"{"at":1700000018000,"kind":"access","topic":"offsets","trouble":"denied"}"#,
        r#"{"at":1700000019500,"kind":"access","topic":"offsets","trouble":null,"asked":-7}"#,
        r#"{"at":1700000021000,"kind":"polled","asked":1699999999990,"listed":null}"#,
        r#"{"at":1700000022500,"kind":"polled","asked":1699999999990,"listed":"preparing_rebalance"}"#,
        r#"{"at":1700000024000,"kind":"polled","asked":1699999999990,"failed":"denied"}"#,
        r#"{"at":1700000025500,"kind":"polled","asked":1699999999990,"described":{"state":"stable","protocol_type":"connect","protocol":"sessioned","members":[{"member_id":"connect-1-a","client_id":"connect-1","client_host":"/10.0.0.7","metadata":"b:AAL/","assignment":"t:"}]}}"#,
        r#"{"at":1700000027000,"kind":"tick"}"#,
        r#"{"at":1700000028500,"kind":"sampled","partition":7,"offset":12,"on":true}"#,
        r#"{"at":1700000030000,"kind":"cluster","brokers":3,"coordinator":{"trouble":"denied"},"topics":[{"role":"config","name":"connect-configs","partitions":1,"replicas":null,"settings":{"values":{"cleanup.policy":"compact"}}}]}"#,
        r#"{"at":1700000030000,"kind":"end","inputs":20}"#,
    ];
    for line in expected {
        assert!(lines.contains(&line), "no line {line} in {text}");
    }
}

/// A file cut at any byte gives only inputs that were written, in order, and says
/// how many; what was flushed before the cut is all there.
#[test]
fn every_prefix_reads_up_to_the_cut() {
    let inputs = samples();
    let mut writer = CaptureWriter::new(Vec::new(), &header()).unwrap();
    let mut flushed: Vec<(usize, usize)> = vec![(writer.get_ref().len(), 0)];
    for (n, input) in inputs.iter().enumerate() {
        writer.write(input).unwrap();
        writer.flush().unwrap();
        flushed.push((writer.get_ref().len(), n + 1));
    }
    let bytes = writer.finish().unwrap();
    let header_len = flushed[0].0;
    for cut in 0..bytes.len() {
        let (read, error) = read_all(&bytes[..cut]);
        assert!(inputs.starts_with(&read), "cut at {cut}");
        let safe = flushed
            .iter()
            .filter(|(len, _)| *len <= cut)
            .map(|(_, n)| *n)
            .max();
        assert!(
            read.len() >= safe.unwrap_or(0),
            "cut at {cut}: flushed but lost"
        );
        match error {
            Some(CaptureError::NotACapture { .. }) => assert!(cut < header_len, "cut at {cut}"),
            Some(CaptureError::Cut { inputs }) => assert_eq!(inputs, read.len() as u64),
            // Only the gzip trailer is missing: the end marker was read.
            None => assert_eq!(read.len(), inputs.len(), "cut at {cut}"),
            other => panic!("cut at {cut}: {other:?}"),
        }
    }
    assert!(read_all(&bytes).1.is_none());
}

#[test]
fn a_flipped_byte_never_passes_silently() {
    let inputs = samples();
    let bytes = written(&inputs);
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        let (read, error) = read_all(&damaged);
        // Bytes of the gzip header and trailer carry nothing; where all inputs
        // came, they must be the right ones.
        if error.is_none() {
            assert_eq!(read, inputs, "byte {at}");
        }
    }
}

#[test]
fn pushes_out_within_seconds_of_arrival_time() {
    let mut writer = CaptureWriter::new(Vec::new(), &header()).unwrap();
    let mut at = 1_700_000_000_000;
    let mut lens = vec![writer.get_ref().len()];
    for offset in 0..50 {
        at += 100;
        let kind = record(offset, Some(b"k"), None);
        let at = ArrivalTime(at);
        writer.write(&Input { at, kind }).unwrap();
        lens.push(writer.get_ref().len());
    }
    // 5 s of records, nobody called flush: the file grew at 2 s and at 4 s.
    let (read, _) = read_all(writer.get_ref());
    assert_eq!(read.len(), 40);
    assert_eq!(lens[19], lens[0]);
    assert!(lens[20] > lens[19]);
}

#[test]
fn keeps_sparse_ticks_and_the_last() {
    let mut writer = CaptureWriter::new(Vec::new(), &header()).unwrap();
    for n in 1..=25 {
        let at = ArrivalTime(1_700_000_000_000 + n * 100);
        let kind = InputKind::Tick;
        writer.write(&Input { at, kind }).unwrap();
    }
    let bytes = writer.finish().unwrap();
    let (read, error) = read_all(&bytes);
    assert!(error.is_none());
    let at: Vec<i64> = read.iter().map(|input| input.at.0 % 1_000_000).collect();
    assert_eq!(at, [1_000, 2_000, 2_500]);
}

#[test]
fn skips_and_counts_what_a_later_release_adds() {
    let bytes = gzip(&[
        HEADER,
        r#"{"at":1,"kind":"poll","state":"Stable"}"#,
        r#"{"at":2,"kind":"tick","because":"x","why":1}"#,
        r#"{"at":3,"kind":"reached","topic":"config","partition":0,"offset":4,"new":true}"#,
        r#"{"at":3,"kind":"end","inputs":3}"#,
        "whatever follows",
    ]);
    let mut reader = CaptureReader::new(bytes.as_slice()).unwrap();
    let read: Vec<Input> = reader.by_ref().map(Result::unwrap).collect();
    assert_eq!(read.len(), 2);
    let skipped = super::Skipped {
        kinds: 1,
        fields: 3,
    };
    assert_eq!(reader.skipped(), skipped);
}

#[track_caller]
fn check_error(bytes: &[u8], expected: &str) {
    let (_, error) = read_all(bytes);
    assert_eq!(error.unwrap().to_string(), expected);
}

#[test]
fn says_what_is_wrong() {
    check_error(b"", "not an evenkeel capture: it has no first line");
    check_error(b"hello, world", "not an evenkeel capture: it is not gzip");
    check_error(
        &gzip(&["{}"]),
        "not an evenkeel capture: its first line does not say so",
    );
    check_error(
        &gzip(&["no json"]),
        "not an evenkeel capture: its first line is not JSON",
    );
    check_error(
        &gzip(&[&HEADER.replace("\"version\":1", "\"version\":2")]),
        "capture version 2 is not supported, this release reads versions 1 to 1",
    );
    check_error(
        &gzip(&[HEADER]),
        "the capture is cut: it ends after 0 inputs, without its end marker",
    );
    check_error(
        &gzip(&[HEADER, r#"{"at":1,"kind":"tick"}"#, r#"{"at":2,"ki"#]),
        "capture line 3: not a JSON object (Eof)",
    );
    check_error(
        &gzip(&[HEADER, r#"{"at":1,"kind":"tick"}"#, "", ""]),
        "capture line 3: not a JSON object (Eof)",
    );
    check_error(
        &gzip(&[
            HEADER,
            r#"{"at":1,"kind":"reached","topic":"config","partition":0}"#,
        ]),
        "capture line 2: missing field `offset`",
    );
    check_error(
        &gzip(&[
            HEADER,
            r#"{"at":1,"kind":"record","topic":"geheim","partition":0,"offset":1}"#,
        ]),
        "capture line 2: field topic is not what it should be",
    );
    check_error(
        &gzip(&[
            HEADER,
            r#"{"at":1,"kind":"record","topic":"config","partition":0,"offset":1,"key":"x"}"#,
        ]),
        "capture line 2: field key begins with neither t: nor b:",
    );
    check_error(
        &gzip(&[HEADER, r#"{"at":1,"kind":"end","inputs":7}"#]),
        "the capture's end marker counts 7 inputs, 0 were read",
    );
}
