package evenkeel.testbed;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;

import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * create BOOTSTRAP TOPIC PARTITIONS REPLICAS [name=value ...], delete BOOTSTRAP TOPIC,
 * delete-group BOOTSTRAP GROUP, or coordinator BOOTSTRAP GROUP, which prints a node id.
 */
public final class Admin {
    private static final long DEADLINE_MS = 20_000;
    private static final String OFFSETS = "__consumer_offsets";

    private Admin() {
    }

    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", args[1]);
        properties.put("default.api.timeout.ms", Long.toString(DEADLINE_MS));
        properties.put("request.timeout.ms", "5000");
        try (AdminClient admin = AdminClient.create(properties)) {
            switch (args[0]) {
                case "create":
                    NewTopic topic = new NewTopic(args[2], Integer.parseInt(args[3]), Short.parseShort(args[4]));
                    Map<String, String> configs = new HashMap<>();
                    for (int i = 5; i < args.length; i++) {
                        String[] pair = args[i].split("=", 2);
                        configs.put(pair[0], pair[1]);
                    }
                    admin.createTopics(Collections.singleton(topic.configs(configs)))
                        .all().get(DEADLINE_MS, TimeUnit.MILLISECONDS);
                    break;
                case "delete":
                    admin.deleteTopics(Collections.singleton(args[2]))
                        .all().get(DEADLINE_MS, TimeUnit.MILLISECONDS);
                    break;
                case "delete-group":
                    admin.deleteConsumerGroups(Collections.singleton(args[2]))
                        .all().get(DEADLINE_MS, TimeUnit.MILLISECONDS);
                    break;
                case "coordinator":
                    System.out.println(coordinator(properties, args[2]));
                    break;
                default:
                    throw new IllegalArgumentException("unknown verb " + args[0]);
            }
        }
    }

    /**
     * The leader of the group's partition; -1 if there is none. Java's hash decides which it is.
     * A consumer is asked since the admin client's way changed its name between releases.
     */
    private static int coordinator(Properties properties, String group) {
        ByteArrayDeserializer bytes = new ByteArrayDeserializer();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties, bytes, bytes)) {
            List<PartitionInfo> partitions = consumer.partitionsFor(OFFSETS);
            int own = (group.hashCode() & Integer.MAX_VALUE) % partitions.size();
            for (PartitionInfo partition : partitions) {
                if (partition.partition() == own && partition.leader() != null) {
                    return partition.leader().id();
                }
            }
            return -1;
        }
    }
}
