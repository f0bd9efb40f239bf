//! Routes a request to the code that answers it, after the faults that apply to its API.

use bytes::BytesMut;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::api_versions_response::ApiVersion;
use kafka_protocol::messages::produce_response::{PartitionProduceResponse, TopicProduceResponse};
use kafka_protocol::messages::{
    ApiKey, ApiVersionsRequest, ApiVersionsResponse, ProduceRequest, ProduceResponse,
};

use super::request::{Request, RequestError};
use super::serve::Peer;
use super::shapes::SERVED;
use super::shared::Shared;
use super::{committed, fetch, groups, membership, metadata, offsets};

/// The frame that answers `request`; `None` for a request that wants no answer.
pub(super) async fn dispatch(
    shared: &Shared,
    peer: Peer,
    request: &Request,
) -> Result<Option<BytesMut>, RequestError> {
    let api = request.served.api;
    let version = request.version;
    shared.faults.hold(api).await;
    let frame = match api {
        ApiKey::ApiVersions => api_versions(shared, request),
        ApiKey::Produce => return produce(request),
        ApiKey::Fetch => request.answer(&fetch::fetch(shared, &request.body()?, version).await),
        ApiKey::ListOffsets => request.answer(&offsets::list(shared, &request.body()?, version)),
        ApiKey::OffsetForLeaderEpoch => {
            request.answer(&offsets::epoch_ends(shared, &request.body()?))
        }
        ApiKey::Metadata => request.answer(&metadata::describe(shared, &request.body()?, version)),
        ApiKey::FindCoordinator => {
            request.answer(&groups::find_coordinator(shared, &request.body()?, version))
        }
        ApiKey::ListGroups => request.answer(&groups::list(shared, &request.body()?)),
        ApiKey::DescribeGroups => {
            request.answer(&groups::describe(shared, &request.body()?, version))
        }
        ApiKey::JoinGroup => {
            let body = request.body()?;
            request.answer(&membership::join(shared, peer, &request.client_id, &body))
        }
        ApiKey::SyncGroup => request.answer(&membership::sync(shared, &request.body()?)),
        ApiKey::Heartbeat => request.answer(&membership::heartbeat(shared, &request.body()?)),
        ApiKey::LeaveGroup => request.answer(&membership::leave(shared, &request.body()?, version)),
        ApiKey::OffsetCommit => request.answer(&committed::commit(shared, &request.body()?)),
        ApiKey::OffsetFetch => request.answer(&committed::fetch(shared, &request.body()?, version)),
        other => Err(RequestError::UnknownApi(other as i16)),
    };
    frame.map(Some)
}

fn api_versions(shared: &Shared, request: &Request) -> Result<BytesMut, RequestError> {
    let error = if !request.version_served() {
        Some(ResponseError::UnsupportedVersion)
    } else {
        request.body::<ApiVersionsRequest>()?;
        shared.faults.on_request(ApiKey::ApiVersions)
    };
    let answer = ApiVersionsResponse::default()
        .with_error_code(error.map_or(0, |error| error.code()))
        .with_api_keys(
            SERVED
                .iter()
                .map(|served| {
                    ApiVersion::default()
                        .with_api_key(served.api as i16)
                        .with_min_version(served.min)
                        .with_max_version(served.max)
                })
                .collect(),
        );
    // A client that asks in an unknown version is answered in the first one (KIP-511).
    let version = if request.version_served() {
        request.version
    } else {
        0
    };
    request.answer_in(version, &answer)
}

/// Refuses every record: the topics of this broker are written through its handle only.
fn produce(request: &Request) -> Result<Option<BytesMut>, RequestError> {
    let body: ProduceRequest = request.body()?;
    if body.acks == 0 {
        return Ok(None);
    }
    let refused = ResponseError::TopicAuthorizationFailed.code();
    let responses = body
        .topic_data
        .iter()
        .map(|topic| {
            TopicProduceResponse::default()
                .with_name(topic.name.clone())
                .with_topic_id(topic.topic_id)
                .with_partition_responses(
                    topic
                        .partition_data
                        .iter()
                        .map(|partition| {
                            PartitionProduceResponse::default()
                                .with_index(partition.index)
                                .with_error_code(refused)
                                .with_base_offset(-1)
                        })
                        .collect(),
                )
        })
        .collect();
    request
        .answer(&ProduceResponse::default().with_responses(responses))
        .map(Some)
}
