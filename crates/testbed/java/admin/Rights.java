package evenkeel.testbed;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;

import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialAlteration;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.clients.admin.UserScramCredentialsDescription;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;

/**
 * Rights BOOTSTRAP, with tab-separated lines on its input: "user NAME PASSWORD", "grant
 * PRINCIPAL OPERATION RESOURCE-TYPE PATTERN-TYPE NAME", "revoke" with the same.
 */
public final class Rights {
    private static final long DEADLINE_MS = 20_000;
    private static final int ITERATIONS = 4096;

    private Rights() {
    }

    public static void main(String[] args) throws Exception {
        Map<String, String> users = new LinkedHashMap<>();
        List<AclBinding> granted = new ArrayList<>();
        List<AclBindingFilter> revoked = new ArrayList<>();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split("\t");
            switch (words[0]) {
                case "user":
                    users.put(words[1], words[2]);
                    break;
                case "grant":
                    granted.add(binding(words));
                    break;
                case "revoke":
                    revoked.add(binding(words).toFilter());
                    break;
                default:
                    throw new IllegalArgumentException("unknown verb " + words[0]);
            }
        }
        Properties properties = new Properties();
        properties.put("bootstrap.servers", args[0]);
        properties.put("default.api.timeout.ms", Long.toString(DEADLINE_MS));
        properties.put("request.timeout.ms", "5000");
        try (AdminClient admin = AdminClient.create(properties)) {
            if (!users.isEmpty()) {
                makeUsers(admin, users);
            }
            if (!granted.isEmpty()) {
                admin.createAcls(granted).all().get(DEADLINE_MS, TimeUnit.MILLISECONDS);
            }
            if (!revoked.isEmpty()) {
                admin.deleteAcls(revoked).all().get(DEADLINE_MS, TimeUnit.MILLISECONDS);
            }
            await(() -> {
                for (AclBinding binding : granted) {
                    if (!exists(admin, binding.toFilter())) {
                        return false;
                    }
                }
                for (AclBindingFilter filter : revoked) {
                    if (exists(admin, filter)) {
                        return false;
                    }
                }
                return true;
            });
        }
    }

    private static AclBinding binding(String[] words) {
        ResourcePattern pattern = new ResourcePattern(
            ResourceType.fromString(words[3]), words[5], PatternType.fromString(words[4]));
        return new AclBinding(pattern, new AccessControlEntry(
            words[1], "*", AclOperation.fromString(words[2]), AclPermissionType.ALLOW));
    }

    /** The controller answers before brokers have read the change. */
    private static boolean exists(AdminClient admin, AclBindingFilter filter) throws Exception {
        return !admin.describeAcls(filter).values().get(DEADLINE_MS, TimeUnit.MILLISECONDS).isEmpty();
    }

    /** A request for each mechanism: the controller refuses a user that stands twice in one. */
    private static void makeUsers(AdminClient admin, Map<String, String> users) throws Exception {
        for (ScramMechanism mechanism : List.of(ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512)) {
            List<UserScramCredentialAlteration> made = new ArrayList<>();
            users.forEach((name, password) -> made.add(
                new UserScramCredentialUpsertion(name, new ScramCredentialInfo(mechanism, ITERATIONS), password)));
            admin.alterUserScramCredentials(made).all().get(DEADLINE_MS, TimeUnit.MILLISECONDS);
        }
        await(() -> {
            Map<String, UserScramCredentialsDescription> known = admin.describeUserScramCredentials()
                .all().get(DEADLINE_MS, TimeUnit.MILLISECONDS);
            return users.keySet().stream().allMatch(
                name -> known.containsKey(name) && known.get(name).credentialInfos().size() == 2);
        });
    }

    private interface Condition {
        boolean holds() throws Exception;
    }

    private static void await(Condition condition) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DEADLINE_MS);
        while (!condition.holds()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("the brokers did not take the change in time");
            }
            Thread.sleep(20);
        }
    }
}
