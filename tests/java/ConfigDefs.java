import java.util.TreeSet;

/**
 * Prints the names of the settings that a release of Kafka knows: one line each, first the
 * class, then the name. Run with the jars of connect-runtime on the class path; the output is
 * kept in tests/fixtures/config_def.
 */
public class ConfigDefs {
    private static final String[] CLASSES = {
        "org.apache.kafka.connect.runtime.distributed.DistributedConfig",
        "org.apache.kafka.clients.admin.AdminClientConfig",
        "org.apache.kafka.clients.consumer.ConsumerConfig",
    };

    public static void main(String[] args) throws Exception {
        for (String name : CLASSES) {
            Object def = definition(Class.forName(name));
            Object names = def.getClass().getMethod("names").invoke(def);
            for (Object setting : new TreeSet<>((java.util.Set<?>) names)) {
                System.out.println(name.substring(name.lastIndexOf('.') + 1) + " " + setting);
            }
        }
    }

    /** The definition is in a private field until 3.x and behind a method in the clients' classes. */
    private static Object definition(Class<?> config) throws Exception {
        try {
            return config.getMethod("configDef").invoke(null);
        } catch (NoSuchMethodException none) {
            for (String field : new String[] {"CONFIG", "CONFIG_DEF"}) {
                try {
                    java.lang.reflect.Field found = config.getDeclaredField(field);
                    found.setAccessible(true);
                    return found.get(null);
                } catch (NoSuchFieldException next) {
                    // Another release, another name.
                }
            }
        }
        // Made anew for each worker: the sizes of keys depend on the Java security providers.
        java.lang.reflect.Method made = config.getDeclaredMethod("config", crypto());
        made.setAccessible(true);
        return made.invoke(null, cryptoSystem());
    }

    private static Class<?> crypto() throws ClassNotFoundException {
        return Class.forName("org.apache.kafka.connect.runtime.distributed.Crypto");
    }

    private static Object cryptoSystem() throws Exception {
        return crypto().getField("SYSTEM").get(null);
    }
}
