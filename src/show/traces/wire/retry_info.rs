//! How long a receiver that speaks gRPC asks to wait: a `google.rpc.RetryInfo` among the details
//! of its status (<https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto>;
//! OTLP, "OTLP/gRPC Throttling").

use std::time::Duration;

use hyper::header::{HeaderMap, HeaderName};
use openssl::base64;
use prost::Message;

use super::call::WAIT_MAX;

/// A serialized `google.rpc.Status`, in base64 as all binary metadata of gRPC.
const DETAILS: HeaderName = HeaderName::from_static("grpc-status-details-bin");

const KIND: &str = "google.rpc.RetryInfo";

/// `google.rpc.Status`, without the code and the message that stand in trailers of their own.
#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

/// `google.protobuf.Any`.
#[derive(Clone, PartialEq, Message)]
struct Any {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct RetryInfo {
    #[prost(message, optional, tag = "1")]
    retry_delay: Option<Delay>,
}

/// `google.protobuf.Duration`.
#[derive(Clone, PartialEq, Message)]
struct Delay {
    #[prost(int64, tag = "1")]
    seconds: i64,
    #[prost(int32, tag = "2")]
    nanos: i32,
}

/// How long it asks to wait, as far as it is listened to; `None` where it says nothing of it.
pub(super) fn wait(trailers: &HeaderMap) -> Option<Duration> {
    let text = trailers.get(DETAILS)?.to_str().ok()?.trim();
    // Padding may be left out.
    let padded = text.trim_end_matches('=');
    let padded = format!(
        "{padded:=<width$}",
        width = padded.len().next_multiple_of(4)
    );
    let bytes = base64::decode_block(&padded).ok()?;
    let status = Status::decode(&bytes[..]).ok()?;
    let is_asked = |any: &&Any| any.type_url.rsplit('/').next() == Some(KIND);
    let any = status.details.iter().find(is_asked)?;
    let delay = RetryInfo::decode(&any.value[..]).ok()?.retry_delay?;
    let (seconds, nanos) = (delay.seconds.try_into(), delay.nanos.try_into());
    // A delay that is none says that it may be tried again at once.
    let asked = Duration::from_secs(seconds.unwrap_or(0))
        .saturating_add(Duration::from_nanos(nanos.unwrap_or(0)));
    Some(asked.min(WAIT_MAX))
}
