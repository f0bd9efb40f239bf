//! The APIs the broker serves: versions, and the shape of each request.
//!
//! Source: the request schemas in Kafka's `clients/src/main/resources/common/message/`.

use kafka_protocol::messages::ApiKey;

use super::bounds::{Field, Kind};

/// One API as ApiVersions announces it.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) api: ApiKey,
    pub(super) min: i16,
    pub(super) max: i16,
    pub(super) shape: &'static [Field],
}

impl Served {
    pub(super) fn versions(&self) -> std::ops::RangeInclusive<i16> {
        self.min..=self.max
    }
}

/// The API with that number, if it is served.
pub(super) fn served(api_key: i16) -> Option<&'static Served> {
    SERVED.iter().find(|served| served.api as i16 == api_key)
}

const fn since(from: i16, kind: Kind) -> Field {
    between(from, i16::MAX, kind)
}

const fn between(from: i16, to: i16, kind: Kind) -> Field {
    Field { from, to, kind }
}

const BOOL: Kind = Kind::Fixed(1);
const INT8: Kind = Kind::Fixed(1);
const INT16: Kind = Kind::Fixed(2);
const INT32: Kind = Kind::Fixed(4);
const INT64: Kind = Kind::Fixed(8);
const UUID: Kind = Kind::Fixed(16);
const TEXTS: Kind = Kind::List(&Kind::Text);
const INT32S: Kind = Kind::List(&INT32);

/// Produce is listed because librdkafka fetches from no broker that lacks it; every record is refused.
pub(super) const SERVED: &[Served] = &[
    api(ApiKey::Produce, 3, 13, PRODUCE),
    api(ApiKey::Fetch, 4, 18, FETCH),
    api(ApiKey::ListOffsets, 1, 10, LIST_OFFSETS),
    api(ApiKey::Metadata, 0, 13, METADATA),
    api(ApiKey::OffsetCommit, 2, 9, OFFSET_COMMIT),
    api(ApiKey::OffsetFetch, 1, 9, OFFSET_FETCH),
    api(ApiKey::FindCoordinator, 0, 6, FIND_COORDINATOR),
    api(ApiKey::JoinGroup, 0, 9, JOIN_GROUP),
    api(ApiKey::Heartbeat, 0, 4, HEARTBEAT),
    api(ApiKey::LeaveGroup, 0, 5, LEAVE_GROUP),
    api(ApiKey::SyncGroup, 0, 5, SYNC_GROUP),
    api(ApiKey::DescribeGroups, 0, 6, DESCRIBE_GROUPS),
    api(ApiKey::ListGroups, 0, 5, LIST_GROUPS),
    api(ApiKey::ApiVersions, 0, 4, API_VERSIONS),
    api(ApiKey::OffsetForLeaderEpoch, 2, 4, OFFSET_FOR_LEADER_EPOCH),
];

const fn api(api: ApiKey, min: i16, max: i16, shape: &'static [Field]) -> Served {
    Served {
        api,
        min,
        max,
        shape,
    }
}

const PRODUCE: &[Field] = &[
    since(3, Kind::Text),
    since(0, INT16),
    since(0, INT32),
    since(
        0,
        Kind::Rows(&[
            between(0, 12, Kind::Text),
            since(13, UUID),
            since(0, Kind::Rows(&[since(0, INT32), since(0, Kind::Blob)])),
        ]),
    ),
];

const FETCH: &[Field] = &[
    between(0, 14, INT32),
    since(0, INT32),
    since(0, INT32),
    since(3, INT32),
    since(4, INT8),
    since(7, INT32),
    since(7, INT32),
    since(
        0,
        Kind::Rows(&[
            between(0, 12, Kind::Text),
            since(13, UUID),
            since(
                0,
                Kind::Rows(&[
                    since(0, INT32),
                    since(9, INT32),
                    since(0, INT64),
                    since(12, INT32),
                    since(5, INT64),
                    since(0, INT32),
                ]),
            ),
        ]),
    ),
    since(
        7,
        Kind::Rows(&[
            between(7, 12, Kind::Text),
            since(13, UUID),
            since(7, INT32S),
        ]),
    ),
    since(11, Kind::Text),
];

const LIST_OFFSETS: &[Field] = &[
    since(0, INT32),
    since(2, INT8),
    since(
        0,
        Kind::Rows(&[
            since(0, Kind::Text),
            since(
                0,
                Kind::Rows(&[since(0, INT32), since(4, INT32), since(0, INT64)]),
            ),
        ]),
    ),
    since(10, INT32),
];

const METADATA: &[Field] = &[
    since(0, Kind::Rows(&[since(10, UUID), since(0, Kind::Text)])),
    since(4, BOOL),
    between(8, 10, BOOL),
    since(8, BOOL),
];

const OFFSET_COMMIT: &[Field] = &[
    since(0, Kind::Text),
    since(1, INT32),
    since(1, Kind::Text),
    since(7, Kind::Text),
    between(2, 4, INT64),
    since(
        0,
        Kind::Rows(&[
            since(0, Kind::Text),
            since(
                0,
                Kind::Rows(&[
                    since(0, INT32),
                    since(0, INT64),
                    since(6, INT32),
                    since(0, Kind::Text),
                ]),
            ),
        ]),
    ),
];

const OFFSET_FETCH_TOPICS: Kind = Kind::Rows(&[since(0, Kind::Text), since(0, INT32S)]);

const OFFSET_FETCH: &[Field] = &[
    between(0, 7, Kind::Text),
    between(0, 7, OFFSET_FETCH_TOPICS),
    since(
        8,
        Kind::Rows(&[
            since(8, Kind::Text),
            since(9, Kind::Text),
            since(9, INT32),
            since(8, OFFSET_FETCH_TOPICS),
        ]),
    ),
    since(7, BOOL),
];

const FIND_COORDINATOR: &[Field] = &[between(0, 3, Kind::Text), since(1, INT8), since(4, TEXTS)];

const JOIN_GROUP: &[Field] = &[
    since(0, Kind::Text),
    since(0, INT32),
    since(1, INT32),
    since(0, Kind::Text),
    since(5, Kind::Text),
    since(0, Kind::Text),
    since(0, Kind::Rows(&[since(0, Kind::Text), since(0, Kind::Blob)])),
    since(8, Kind::Text),
];

const HEARTBEAT: &[Field] = &[
    since(0, Kind::Text),
    since(0, INT32),
    since(0, Kind::Text),
    since(3, Kind::Text),
];

const LEAVE_GROUP: &[Field] = &[
    since(0, Kind::Text),
    between(0, 2, Kind::Text),
    since(
        3,
        Kind::Rows(&[
            since(3, Kind::Text),
            since(3, Kind::Text),
            since(5, Kind::Text),
        ]),
    ),
];

const SYNC_GROUP: &[Field] = &[
    since(0, Kind::Text),
    since(0, INT32),
    since(0, Kind::Text),
    since(3, Kind::Text),
    since(5, Kind::Text),
    since(5, Kind::Text),
    since(0, Kind::Rows(&[since(0, Kind::Text), since(0, Kind::Blob)])),
];

const DESCRIBE_GROUPS: &[Field] = &[since(0, TEXTS), since(3, BOOL)];

const LIST_GROUPS: &[Field] = &[since(4, TEXTS), since(5, TEXTS)];

const API_VERSIONS: &[Field] = &[since(3, Kind::Text), since(3, Kind::Text)];

const OFFSET_FOR_LEADER_EPOCH: &[Field] = &[
    since(3, INT32),
    since(
        0,
        Kind::Rows(&[
            since(0, Kind::Text),
            since(
                0,
                Kind::Rows(&[since(0, INT32), since(0, INT32), since(0, INT32)]),
            ),
        ]),
    ),
];
