import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Prints the settings that a release of Kafka knows: one line each, parted by tabs: whose
 * setting, name, type, default, what values its validator takes. Run with the jars of
 * connect-runtime on the class path, then with those of the broker (kafka_2.13): what is not
 * on the class path is left out. `cargo xtask kafka settings` runs it for every release.
 */
public class ConfigDefs {
    private static final String CONNECT = "org.apache.kafka.connect.runtime.";
    private static final String CLIENTS = "org.apache.kafka.clients.";
    private static final String[][] CLASSES = {
        {"worker", CONNECT + "distributed.DistributedConfig"},
        {"connector", CONNECT + "ConnectorConfig"},
        {"connector", CONNECT + "SinkConnectorConfig"},
        {"connector", CONNECT + "SourceConnectorConfig"},
        {"admin", CLIENTS + "admin.AdminClientConfig"},
        {"consumer", CLIENTS + "consumer.ConsumerConfig"},
        {"producer", CLIENTS + "producer.ProducerConfig"},
        {"broker", "kafka.server.KafkaConfig"},
    };

    public static void main(String[] args) throws Exception {
        boolean isConnect = isThere(CLASSES[0][1]);
        Map<String, String> lines = new TreeMap<>();
        for (String[] row : CLASSES) {
            // The broker's jars hold the clients' classes, too: each once.
            if (isThere(row[1]) && (isConnect || row[0].equals("broker"))) {
                print(row[0], definition(Class.forName(row[1])), lines);
            }
        }
        if (isConnect) {
            topics(lines);
        }
        lines.values().forEach(System.out::println);
    }

    private static boolean isThere(String name) {
        try {
            Class.forName(name);
            return true;
        } catch (ClassNotFoundException none) {
            return false;
        }
    }

    private static void print(String whose, Object def, Map<String, String> lines) throws Exception {
        Map<?, ?> keys = (Map<?, ?>) method(def.getClass(), "configKeys").invoke(def);
        for (String name : new TreeSet<>(strings(keys))) {
            if (whose.equals("broker") && !ofGroups(name)) {
                continue;
            }
            Object key = keys.get(name);
            String type = field(key, "type").toString();
            String line = String.join("\t", whose, name, type, value(key, type), validator(key));
            lines.putIfAbsent(whose + " " + name, line);
        }
    }

    /** What a broker allows the members of groups, and how large their records may be. */
    private static boolean ofGroups(String name) {
        return name.matches("group\\.(min|max|initial)\\..*|group\\.max\\.size|message\\.max\\.bytes");
    }

    private static java.util.Set<String> strings(Map<?, ?> keys) {
        java.util.Set<String> names = new TreeSet<>();
        keys.keySet().forEach(name -> names.add((String) name));
        return names;
    }

    /**
     * "!" where Kafka demands that somebody sets it, "-" where what holds then is nothing, long,
     * or depends on the machine.
     */
    private static String value(Object key, String type) throws Exception {
        Object value = field(key, "defaultValue");
        boolean hasNone = (Boolean) key.getClass().getMethod("hasDefault").invoke(key) == false;
        boolean isPlain = type.matches("INT|LONG|SHORT|DOUBLE|BOOLEAN|STRING");
        String text = String.valueOf(value);
        boolean isShort = text.matches("[\\w.-]{1,40}") && value != null;
        if (hasNone) {
            return "!";
        }
        return isPlain && isShort ? text : "-";
    }

    /** The bounds of a number or the words of a text, as Kafka itself prints them. */
    private static String validator(Object key) throws Exception {
        Object validator = field(key, "validator");
        if (validator == null) {
            return "-";
        }
        String text = validator.toString().replaceAll("\\s+", "").replace("(caseinsensitive)", "");
        if (text.matches("\\[[\\d.,-]*\\.\\.\\.[\\d.,-]*\\]")) {
            return text;
        }
        if (!text.matches("\\[[\\w.,-]{1,100}\\]")) {
            return "-";
        }
        // Sets of words come in any order.
        String[] words = text.substring(1, text.length() - 1).toLowerCase().split(",");
        java.util.Arrays.sort(words);
        return "[" + String.join(",", words) + "]";
    }

    private static void topics(Map<String, String> lines) throws Exception {
        Class<?> topics = Class.forName("org.apache.kafka.common.config.TopicConfig");
        for (Field field : topics.getFields()) {
            boolean isName = Modifier.isStatic(field.getModifiers()) && field.getName().endsWith("_CONFIG");
            if (isName && field.getType() == String.class) {
                Object name = field.get(null);
                lines.put("topic " + name, String.join("\t", "topic", (String) name, "-", "-", "-"));
            }
        }
    }

    private static Object field(Object object, String name) throws Exception {
        Field field = object.getClass().getField(name);
        return field.get(object);
    }

    private static Method method(Class<?> type, String name) throws Exception {
        Method method = type.getMethod(name);
        method.setAccessible(true);
        return method;
    }

    /** Behind a method, in a private field, or made anew for each worker: by release. */
    private static Object definition(Class<?> config) throws Exception {
        try {
            return config.getMethod("configDef").invoke(null);
        } catch (NoSuchMethodException none) {
            for (String name : new String[] {"CONFIG", "CONFIG_DEF"}) {
                try {
                    Field found = config.getDeclaredField(name);
                    found.setAccessible(true);
                    return found.get(null);
                } catch (NoSuchFieldException next) {
                    // Another release, another name.
                }
            }
        }
        if (config.getName().startsWith("kafka.server.")) {
            return scala(Class.forName(config.getName() + "$"));
        }
        // The sizes of keys depend on the Java security providers.
        Class<?> crypto = Class.forName(CONNECT + "distributed.Crypto");
        Method made = config.getDeclaredMethod("config", crypto);
        made.setAccessible(true);
        return made.invoke(null, crypto.getField("SYSTEM").get(null));
    }

    /** In old releases the broker's definition is a value of a Scala object. */
    private static Object scala(Class<?> config) throws Exception {
        Object module = config.getField("MODULE$").get(null);
        for (Field field : config.getDeclaredFields()) {
            if (field.getType().getName().equals("org.apache.kafka.common.config.ConfigDef")) {
                field.setAccessible(true);
                return field.get(module);
            }
        }
        throw new NoSuchFieldException(config.getName() + ": no ConfigDef");
    }
}
