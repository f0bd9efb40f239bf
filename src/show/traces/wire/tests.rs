//! One request, over HTTP and gRPC.

mod cut;
mod tls;

use std::time::{Duration, Instant};

use super::receiver::{Answer, Receiver, client, config, sample};
use super::{Client, Taken};
use crate::config::{Secret, TraceCompression, TraceProtocol};

const BOTH: [TraceProtocol; 2] = [TraceProtocol::Http, TraceProtocol::Grpc];

#[tokio::test]
async fn a_request_arrives_as_it_was_meant() {
    for protocol in BOTH {
        for compression in [TraceCompression::None, TraceCompression::Gzip] {
            let receiver = Receiver::start(Answer::Take).await;
            let mut config = config(receiver.address, protocol);
            config.compression = compression;
            config.headers = [("x-tenant".to_owned(), Secret::new("orders"))].into();
            let client = Client::new(config);
            let taken = client.send(&[sample(7, 3)]).await.unwrap();
            assert_eq!(taken, Taken::default());
            let [asked] = receiver.all().try_into().unwrap();
            assert_eq!(asked.headers.get("x-tenant").unwrap(), "orders");
            let agent = asked.headers.get("user-agent").unwrap().to_str().unwrap();
            assert!(agent.starts_with("evenkeel/"), "{agent}");
            match protocol {
                TraceProtocol::Http => {
                    assert_eq!(asked.path, "/v1/traces");
                    let kind = asked.headers.get("content-type").unwrap();
                    assert_eq!(kind, "application/x-protobuf");
                }
                TraceProtocol::Grpc => assert!(asked.path.ends_with(".TraceService/Export")),
            }
            let [resource] = asked.message.resource_spans.try_into().unwrap();
            let named = &resource.resource.unwrap().attributes[0];
            assert_eq!(named.key, "service.name");
            let spans = &resource.scope_spans[0].spans;
            assert_eq!(spans.len(), 3);
            assert_eq!(spans[0].trace_id, [7; 16]);
            assert_eq!(spans[0].start_time_unix_nano, 1_700_000_000_000_000_000);
            assert_eq!(spans[1].parent_span_id, spans[0].span_id);
            assert!(spans[0].parent_span_id.is_empty());
        }
    }
}

#[tokio::test]
async fn a_part_that_is_not_taken_is_told_with_its_reason() {
    for protocol in BOTH {
        let receiver = Receiver::start(Answer::Reject(2)).await;
        let taken = client(&receiver, protocol).send(&[sample(1, 3)]).await;
        let expected = Taken {
            rejected: 2,
            why: "too much".to_owned(),
        };
        assert_eq!(taken, Ok(expected));
    }
}

#[tokio::test]
async fn states_of_grpc_are_told_apart() {
    for (status, later) in [
        (14, true),
        (8, false),
        (4, true),
        (3, false),
        (7, false),
        (16, false),
    ] {
        let receiver = Receiver::start(Answer::Status(status)).await;
        let client = client(&receiver, TraceProtocol::Grpc);
        let error = client.send(&[sample(1, 1)]).await.unwrap_err();
        assert_eq!(error.retry_after().is_some(), later, "{error}");
        // Whom it does not know it will not, whatever is sent.
        let is_of_content = !later && status != 16;
        assert_eq!(error.is_of_content(), is_of_content, "{error}");
        assert!(error.to_string().contains("as you asked"), "{error}");
    }
}

#[tokio::test]
async fn how_long_a_receiver_asks_to_wait_is_read() {
    let second = Some(Duration::from_secs(1));
    // Of gRPC a quarter more.
    let more = Some(Duration::from_millis(1_250));
    for (protocol, status, expected) in [
        (TraceProtocol::Http, 429, second),
        (TraceProtocol::Http, 503, second),
        (TraceProtocol::Http, 400, None),
        (TraceProtocol::Grpc, 14, more),
        // Exhausted for now, as it says when to come again.
        (TraceProtocol::Grpc, 8, more),
        (TraceProtocol::Grpc, 3, None),
    ] {
        let receiver = Receiver::start(Answer::Busy(status, 1)).await;
        let error = client(&receiver, protocol).send(&[sample(1, 1)]).await;
        let error = error.unwrap_err();
        assert_eq!(error.retry_after(), expected, "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    // Patience has its bounds.
    let receiver = Receiver::start(Answer::Busy(14, 100)).await;
    let error = client(&receiver, TraceProtocol::Grpc)
        .send(&[sample(1, 1)])
        .await;
    let wait = error.unwrap_err().retry_after();
    assert_eq!(wait, Some(Duration::from_secs(60)));
}

#[tokio::test]
async fn who_does_not_answer_is_given_up_in_time() {
    for protocol in BOTH {
        let receiver = Receiver::start(Answer::Silence).await;
        let mut config = config(receiver.address, protocol);
        config.timeout_ms = 200;
        let begun = Instant::now();
        let error = Client::new(config).send(&[sample(1, 1)]).await;
        let error = error.unwrap_err();
        assert!(
            error.to_string().contains("did not answer within 200 ms"),
            "{error}"
        );
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test]
async fn nobody_there_is_an_error_that_names_the_address() {
    for protocol in BOTH {
        let mut receiver = Receiver::start(Answer::Take).await;
        receiver.die();
        tokio::time::sleep(Duration::from_millis(50)).await;
        let error = client(&receiver, protocol).send(&[sample(1, 1)]).await;
        let error = error.unwrap_err();
        assert!(
            error.to_string().contains(&receiver.address.to_string()),
            "{error}"
        );
        assert!(error.retry_after().is_some());
    }
}

#[test]
fn what_a_header_holds_is_not_printed() {
    let mut config = config(([127, 0, 0, 1], 4318).into(), TraceProtocol::Http);
    config.headers = [("authorization".to_owned(), Secret::new("Bearer hush"))].into();
    let client = Client::new(config);
    assert!(!format!("{client} {client:?}").contains("hush"));
}
