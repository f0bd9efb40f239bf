//! Bytes that are no requests: the connection ends, the broker goes on.

use std::net::Shutdown;

use kafka_protocol::messages::*;

use super::super::bounds::{self, ITEMS_MAX};
use super::super::request::REQUEST_BYTES_MAX;
use super::super::serve::CONNECTIONS_MAX;
use super::super::shapes::served;
use super::wire::{Visitor, versions, visit_all};
use super::*;

/// Sends `bytes`, then nothing more, and reads until the broker ends the connection.
fn poke(broker: &Broker, bytes: &[u8]) -> usize {
    let mut client = RawClient::connect(broker);
    client.send(bytes);
    client.stream.shutdown(Shutdown::Write).unwrap();
    let mut answers = 0;
    while client.answer().is_some() {
        answers += 1;
    }
    answers
}

fn assert_alive(broker: &Broker) {
    RawClient::connect(broker).call(1, &MetadataRequest::default().with_topics(None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_prefix_of_every_request_ends_its_connection_only() {
    struct Prefixes<'a>(&'a Broker);
    impl Visitor for Prefixes<'_> {
        fn visit<R: Request>(&mut self, make: fn(i16) -> R) {
            // The oldest layout and the newest, which is the flexible one where there is one.
            for version in [*versions::<R>().start(), *versions::<R>().end()] {
                let whole = frame(version, &make(version));
                for end in 0..whole.len() {
                    // Cut short on the wire, and cut short with a length that says so.
                    assert_eq!(poke(self.0, &whole[..end]), 0);
                    if end >= 4 {
                        let mut cut = whole[..end].to_vec();
                        let length = u32::try_from(end - 4).unwrap();
                        cut[..4].copy_from_slice(&length.to_be_bytes());
                        poke(self.0, &cut);
                    }
                }
            }
        }
    }
    let broker = broker().await;
    visit_all(&mut Prefixes(&broker));
    assert_alive(&broker);
    eventually("all connections are closed", || {
        broker.connections_open() == 0
    });
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_byte_turned_over_ends_at_most_its_connection() {
    struct Flips<'a>(&'a Broker);
    impl Visitor for Flips<'_> {
        fn visit<R: Request>(&mut self, make: fn(i16) -> R) {
            for version in [*versions::<R>().start(), *versions::<R>().end()] {
                let whole = frame(version, &make(version));
                for place in 0..whole.len() {
                    for value in [0x00, 0x7f, 0x80, 0xff] {
                        let mut turned = whole.clone();
                        turned[place] = value;
                        poke(self.0, &turned);
                    }
                }
            }
        }
    }
    let broker = broker().await;
    visit_all(&mut Flips(&broker));
    assert_alive(&broker);
    broker.shutdown().await;
}

#[test]
fn a_length_is_believed_only_as_far_as_its_bytes_go() {
    let shape = served(ApiKey::DescribeGroups as i16).unwrap().shape;
    let plain = |count: i32, present: usize| {
        let mut body = count.to_be_bytes().to_vec();
        body.extend(std::iter::repeat_n(0, present * 2));
        bounds::check(shape, 0, false, &body).is_ok()
    };
    assert!(plain(-1, 0));
    assert!(plain(3, 3));
    assert!(!plain(3, 2));
    assert!(!plain(-2, 3));
    assert!(!plain(i32::MAX, 3));
    let most = i32::try_from(ITEMS_MAX).unwrap();
    assert!(plain(most, ITEMS_MAX));
    assert!(!plain(most + 1, ITEMS_MAX + 1));

    let compact = |count: &[u8]| bounds::check(shape, 5, true, count).is_ok();
    assert!(compact(&[0, 0, 0]));
    assert!(compact(&[2, 1, 0, 0]));
    assert!(!compact(&[0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_of_impossible_size_and_other_protocols_are_closed() {
    let broker = broker().await;
    let most = u32::try_from(REQUEST_BYTES_MAX).unwrap();
    for length in [0, 7, most + 1, u32::MAX] {
        let mut client = RawClient::connect(&broker);
        client.send(&length.to_be_bytes());
        assert_eq!(client.answer(), None, "length {length}");
    }
    for bytes in [
        &b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"[..],
        &[
            0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03,
        ][..],
    ] {
        let mut client = RawClient::connect(&broker);
        client.send(bytes);
        assert_eq!(client.answer(), None);
    }
    assert_alive(&broker);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_bounded_and_a_place_is_free_again_once_one_closes() {
    let broker = broker().await;
    let mut clients: Vec<RawClient> = (0..CONNECTIONS_MAX)
        .map(|_| RawClient::connect(&broker))
        .collect();
    for client in &mut clients {
        client.call(0, &ApiVersionsRequest::default());
    }
    assert_eq!(broker.connections_open(), CONNECTIONS_MAX);
    assert_eq!(RawClient::connect(&broker).answer(), None);
    clients.pop();
    eventually("a place is free", || {
        broker.connections_open() < CONNECTIONS_MAX
    });
    assert_alive(&broker);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_leaves_while_its_fetch_waits_frees_its_place() {
    let broker = broker().await;
    broker.hang(ApiKey::ListGroups);
    let mut client = RawClient::connect(&broker);
    client.send(&frame(0, &ListGroupsRequest::default()));
    eventually("the request hangs", || {
        broker.requests(ApiKey::ListGroups) == 1
    });
    drop(client);
    eventually("its connection is closed", || {
        broker.connections_open() == 0
    });
    broker.shutdown().await;
}
