//! The cases: `fires`, `boundary`, `missing`.

use super::Case;

macro_rules! cases {
    ($($id:ident: $fires:literal, $boundary:literal, $missing:literal;)*) => {
        &[$(Case { id: stringify!($id), fires: $fires, boundary: $boundary, missing: $missing }),*]
    };
}

pub(super) const CASES: &[Case] = cases! {
    heartbeat_reaches_session:
        "worker a heartbeat.interval.ms=10000 session.timeout.ms=10000",
        "worker a heartbeat.interval.ms=9999 session.timeout.ms=10000",
        "member a session.timeout.ms=10000";
    session_outside_broker_limits:
        "worker a session.timeout.ms=5999\nlive session_min_ms 6000\nlive session_max_ms 30000",
        "worker a session.timeout.ms=6000\nworker b session.timeout.ms=30000\nlive session_min_ms 6000\nlive session_max_ms 30000",
        "worker a session.timeout.ms=5999\nlive session_max_ms 30000";
    session_outside_default_limits:
        "worker a session.timeout.ms=1800001",
        "worker a session.timeout.ms=1800000\nworker b session.timeout.ms=6000",
        "release none\nworker a session.timeout.ms=1800001";
    heartbeats_sparse:
        "worker a heartbeat.interval.ms=10001 session.timeout.ms=30000",
        "worker a heartbeat.interval.ms=10000 session.timeout.ms=30000",
        "worker a heartbeat.interval.ms=? session.timeout.ms=30000";
    session_reaches_rebalance:
        "worker a session.timeout.ms=60000",
        "worker a session.timeout.ms=59999",
        "release none\nworker a session.timeout.ms=60000";
    timeouts_differ:
        "member a session.timeout.ms=10000 rebalance.timeout.ms=60000\nmember b session.timeout.ms=10001 rebalance.timeout.ms=60000",
        "member a session.timeout.ms=10000 rebalance.timeout.ms=60000\nmember b session.timeout.ms=10000 rebalance.timeout.ms=60000",
        "member a session.timeout.ms=10000 rebalance.timeout.ms=60000";
    file_not_in_force:
        "worker a session.timeout.ms=30000\ntold a session.timeout.ms=10000 rebalance.timeout.ms=60000",
        "worker a session.timeout.ms=30000\ntold a session.timeout.ms=30000 rebalance.timeout.ms=60000",
        "worker a session.timeout.ms=30000";

    delay_zero_strands_work:
        "release 3.6.0\nworker a scheduled.rebalance.max.delay.ms=0",
        "release 3.6.1\nworker a scheduled.rebalance.max.delay.ms=0",
        "release none\nworker a scheduled.rebalance.max.delay.ms=0";
    session_above_delay:
        "worker a session.timeout.ms=30001 scheduled.rebalance.max.delay.ms=30000",
        "worker a session.timeout.ms=30000 scheduled.rebalance.max.delay.ms=30000",
        "member a session.timeout.ms=30001";
    delay_differs:
        "worker a scheduled.rebalance.max.delay.ms=10000\nworker b",
        "worker a scheduled.rebalance.max.delay.ms=300000\nworker b",
        "worker a scheduled.rebalance.max.delay.ms=10000";
    delay_drifts:
        "delays 300000 300000 10000",
        "delays 10000 300000 300000",
        "";
    delay_below_restart:
        "worker a scheduled.rebalance.max.delay.ms=30000\nlive restart_ms 30001",
        "worker a scheduled.rebalance.max.delay.ms=30000\nlive restart_ms 30000",
        "worker a scheduled.rebalance.max.delay.ms=30000";
    delay_without_loss:
        "live delay_at_loss 0\nlive leader_changed_at_loss 0",
        "live delay_at_loss 0\nlive leader_changed_at_loss 1",
        "live delay_at_loss 0";
    delay_zero:
        "release 3.7.0\nworker a scheduled.rebalance.max.delay.ms=0",
        "release 3.7.0\nworker a scheduled.rebalance.max.delay.ms=1",
        "worker a scheduled.rebalance.max.delay.ms=?";
    delay_far_above_restart:
        "worker a\nlive restart_ms 99999",
        "worker a\nlive restart_ms 100000",
        "worker a";
    delay_of_one_worker:
        "worker a scheduled.rebalance.max.delay.ms=10000\ncount 1",
        "worker a scheduled.rebalance.max.delay.ms=10000\ncount 2",
        "worker a scheduled.rebalance.max.delay.ms=10000";

    stops_exceed_rebalance:
        "worker a task.shutdown.graceful.timeout.ms=30000\nlive revoked_at_once 17",
        "worker a task.shutdown.graceful.timeout.ms=30000\nlive revoked_at_once 16",
        "worker a task.shutdown.graceful.timeout.ms=30000";
    graceful_near_rebalance:
        "worker a task.shutdown.graceful.timeout.ms=30001",
        "worker a task.shutdown.graceful.timeout.ms=30000",
        "member a rebalance.timeout.ms=60000";
    stop_exceeds_rebalance:
        "worker a\nlive stop_ms 60001",
        "worker a\nlive stop_ms 60000",
        "worker a";
    graceful_below_stop:
        "worker a\nlive stop_ms 5001",
        "worker a\nlive stop_ms 5000",
        "member a\nlive stop_ms 5001";
    killed_while_stopping:
        "worker a task.shutdown.graceful.timeout.ms=30000\ngrace a 29999",
        "worker a task.shutdown.graceful.timeout.ms=30000\ngrace a 30000",
        "worker a task.shutdown.graceful.timeout.ms=30000";
    graceful_below_flush:
        "worker a task.shutdown.graceful.timeout.ms=4999",
        "worker a task.shutdown.graceful.timeout.ms=5000",
        "worker a task.shutdown.graceful.timeout.ms=4999 offset.flush.timeout.ms=?";
    graceful_equals_flush:
        "worker a task.shutdown.graceful.timeout.ms=5000",
        "worker a\nworker b task.shutdown.graceful.timeout.ms=5001",
        "member a";
    connector_call_exceeds_rebalance:
        "worker a\nheld a 60001",
        "worker a\nheld a 60000",
        "worker a";
    admin_call_reaches_rebalance:
        "worker a admin.default.api.timeout.ms=60000",
        "worker a admin.default.api.timeout.ms=59999\nworker b",
        "worker a admin.default.api.timeout.ms=?";

    unsync_backoff_reaches_delay:
        "release 2.5.0\nworker a",
        "release 2.5.1\nworker a",
        "release none\nworker a worker.unsync.backoff.ms=1 scheduled.rebalance.max.delay.ms=1";
    catch_up_outlives_delay:
        "worker a worker.sync.timeout.ms=3000 scheduled.rebalance.max.delay.ms=23300",
        "worker a worker.sync.timeout.ms=3000 scheduled.rebalance.max.delay.ms=23400\nworker b worker.sync.timeout.ms=13 scheduled.rebalance.max.delay.ms=100",
        "worker a scheduled.rebalance.max.delay.ms=?";
    sync_reaches_rebalance:
        "worker a worker.sync.timeout.ms=60000",
        "worker a worker.sync.timeout.ms=59999",
        "member a rebalance.timeout.ms=60000";
    delay_zero_loops:
        "worker a scheduled.rebalance.max.delay.ms=0\nlive mismatches 1",
        "worker a scheduled.rebalance.max.delay.ms=0\nlive mismatches 0",
        "worker a scheduled.rebalance.max.delay.ms=0";
    request_below_sync_phase:
        "worker a\nlive sync_ms 40001",
        "worker a\nlive sync_ms 40000",
        "worker a";
    config_offsets_apart: "live behind_in_a_row 3", "live behind_in_a_row 2", "";
    config_mismatches: "live mismatches 1", "live mismatches 0", "";

    record_near_limit:
        "live record_bytes 800001\nlive record_bytes_max 1000000",
        "live record_bytes 800000\nlive record_bytes_max 1000000",
        "live record_bytes 1048588";
    protocol_below_proven:
        "live protocol 1\nlive protocol_best 2",
        "live protocol 2\nlive protocol_best 2",
        "live protocol 0";
    protocols_differ:
        "worker a connect.protocol=compatible\nworker b",
        "worker a connect.protocol=SESSIONED\nworker b",
        "worker a connect.protocol=compatible\nmember b";
    protocol_eager:
        "worker a connect.protocol=Eager",
        "worker a connect.protocol=compatible\nworker b",
        "member a";
    protocol_compatible:
        "worker a connect.protocol=compatible",
        "worker a",
        "release none\nworker a";
    generations_missing: "live missing_generations 11", "live missing_generations 10", "";
    key_ttl_below_rebalance:
        "worker a inter.worker.key.ttl.ms=59999",
        "worker a inter.worker.key.ttl.ms=60000",
        "member a rebalance.timeout.ms=60000";
    key_ttl_below_measured:
        "worker a inter.worker.key.ttl.ms=59999\nlive rebalance_ms 60000",
        "worker a inter.worker.key.ttl.ms=60000\nlive rebalance_ms 60000",
        "worker a inter.worker.key.ttl.ms=59999";
    key_not_renewed:
        "worker a\nlive key_age_ms 3660001",
        "worker a\nlive key_age_ms 3660000",
        "worker a";
    initial_delay_below_starts:
        "live initial_delay_ms 3000\nlive start_spread_ms 3001",
        "live initial_delay_ms 3000\nlive start_spread_ms 3000",
        "live start_spread_ms 3001";

    sink_instance_id_shared:
        "worker a consumer.group.instance.id=pod-0",
        "worker a group.instance.id=pod-0",
        "member a";
    delivery_below_request:
        "worker a producer.delivery.timeout.ms=30004 producer.linger.ms=5",
        "worker a producer.delivery.timeout.ms=30005 producer.linger.ms=5\nworker b",
        "worker a producer.delivery.timeout.ms=30000 producer.linger.ms=?";
    delivery_cuts_patience:
        "worker a producer.delivery.timeout.ms=59999\nproducer foo delivery_ms=60000",
        "worker a producer.delivery.timeout.ms=60000\nproducer foo delivery_ms=60000\nproducer bar",
        "worker a producer.delivery.timeout.ms=60000";
    sink_outlives_worker:
        "worker a scheduled.rebalance.max.delay.ms=30000\nsink foo session_ms=40001",
        "worker a scheduled.rebalance.max.delay.ms=30000\nsink foo session_ms=40000",
        "worker a scheduled.rebalance.max.delay.ms=30000";
    poll_interval_below_gap:
        "sink foo poll_interval_ms=300000 poll_gap_ms=300001",
        "sink foo poll_interval_ms=300000 poll_gap_ms=300000",
        "worker a";
    session_above_sinks:
        "worker a session.timeout.ms=45001",
        "worker a session.timeout.ms=45000\nworker b session.timeout.ms=45001 consumer.group.protocol=Consumer",
        "member a session.timeout.ms=45001";

    groups_share_topics:
        "group a\nworker a config.storage.topic=c\nneighbour b config.storage.topic=c",
        "group a\nworker a config.storage.topic=c\nneighbour b config.storage.topic=d",
        "group a\nworker a\nneighbour b config.storage.topic=c";
    deployments_share_group:
        "worker a bootstrap.servers=b:9092 group.id=g\nworker b bootstrap.servers=b:9092 group.id=g\ndeployment a ns/a\ndeployment b ns/b",
        "worker a group.id=g\nworker b group.id=g\nworker c group.id=g\ndeployment c ns/c",
        "worker a group.id=g\nworker b group.id=g\ndeployment a ns/a\ndeployment b ns/b";
    group_split_topics:
        "worker a config.storage.topic=c offset.storage.topic=o status.storage.topic=s\nworker b config.storage.topic=c offset.storage.topic=p status.storage.topic=s",
        "worker a config.storage.topic=c offset.storage.topic=o status.storage.topic=s\nworker b config.storage.topic=c offset.storage.topic=o status.storage.topic=s",
        "worker a config.storage.topic=c offset.storage.topic=o status.storage.topic=s";
    topics_collide:
        "worker a config.storage.topic=c offset.storage.topic=c",
        "worker a config.storage.topic=c offset.storage.topic=o status.storage.topic=s",
        "worker a config.storage.topic=c offset.storage.topic=o";
    internal_topic_not_compacted:
        "topic offset.storage.topic o cleanup=compact,delete",
        "topic offset.storage.topic o cleanup=compact",
        "topic offset.storage.topic o";
    config_topic_partitions:
        "topic config.storage.topic c partitions=2",
        "topic config.storage.topic c partitions=1\ntopic status.storage.topic s partitions=5",
        "";
    internal_topic_single_replica:
        "worker a bootstrap.servers=b1:9092,b2:9092 config.storage.replication.factor=1",
        "worker a config.storage.replication.factor=1 offset.storage.replication.factor=2 status.storage.replication.factor=2\nworker b\nworker c bootstrap.servers=b1:1,b2:1 config.storage.replication.factor=-1\nlive brokers 1",
        "worker a bootstrap.servers=b1:9092 config.storage.replication.factor=1";
    advertised_shared:
        "worker a\nworker b\nadvertised a connect:8083\nadvertised b connect:8083",
        "worker a\nworker b\nadvertised a a:8083\nadvertised b b:8083",
        "worker a\nworker b\nadvertised a a:8083";
    advertised_loopback:
        "worker a\nadvertised a localhost:8083\nhosts 2",
        "worker a\nworker b\nadvertised a localhost:8083\nadvertised b 10.0.0.1:8083\nhosts 1",
        "worker a\nadvertised a 127.0.0.1:8083";
    stray_running:
        "worker a\nlive stray_running_ms 360001",
        "worker a\nlive stray_running_ms 360000",
        "worker a";

    setting_missing:
        "worker a group.id=g\nalone a",
        "worker a bootstrap.servers=b config.storage.topic=c group.id=g key.converter=k offset.storage.topic=o status.storage.topic=s value.converter=?\nalone a",
        "worker a group.id=g";
    byte_order_mark:
        "worker a \u{ef}\u{bb}\u{bf}group.id=g",
        "worker a \u{ef}\u{bb}\u{bf}#=x group.id=g",
        "member a";
    value_refused:
        "worker a scheduled.rebalance.max.delay.ms=-1",
        "worker a scheduled.rebalance.max.delay.ms=0 consumer.max.poll.records=1 group.id=?",
        "release none\nworker a session.timeout.ms=abc";
    setting_misspelt:
        "worker a session.timout.ms=30000",
        "worker a session.timeout.ms=30000 consumer.interceptor.classes=x",
        "member a";
    wrong_scope:
        "worker a max.poll.records=10",
        "worker a max.poll.records=10 consumer.max.poll.records=10 max.request.size=1",
        "release none\nworker a group.remote.assignor=uniform";
    instance_id_ignored:
        "worker a group.instance.id=pod-0",
        "worker a consumer.group.instance.id=pod-0",
        "member a";
    setting_not_in_release:
        "release 3.0.2\nworker a rest.port=8084",
        "release 2.8.2\nworker a rest.port=8084",
        "release none\nworker a rest.port=8084";
    setting_overruled:
        "worker a config.storage.partitions=3",
        "worker a status.storage.partitions=3 config.storage.min.insync.replicas=2",
        "member a";
    setting_unknown:
        "worker a my.own.thing=x",
        "worker a key.converter.my.own.thing=x",
        "member a";
};
