import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import javax.security.auth.login.AppConfigurationEntry;

/**
 * Prints what Kafka makes of texts as sasl.jaas.config: chosen ones, then random ones from a
 * fixed seed. A line is the text, then the login module and name and value of each option in
 * order of the names, parted by tabs and escaped as in PropertiesTable; "refused" where Kafka
 * takes the text for no single login module. Run with kafka-clients on the class path; the
 * output is kept in tests/fixtures/worker_file/jaas.txt.
 */
public class JaasTable {
    private static final String[] CHOSEN = {
        "", ";", "M", "M required", "M required;", "M REQUIRED;", "M requisite;", "M sufficient;", "M optional;", "M other;",
        "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"alice\" password=\"alice-secret\";",
        "M required username=\"a\" password=\"b\"", "M required username=a password=b;", "M required a=1;", "M required a=b1;",
        "M required a=1b;", "M required a=\"1\";", "M required a='b \"c\"';", "M required a=\"b\\\"c\\\\d\";",
        "M required a=\"\\t\\n\\r\\b\\f\\v\\a\\q\\'\";", "M required a=\"\\101\\7\\400\\18\\377\\3777\";", "M required a=\"b;c=d\";",
        "M required // comment\n a=b;", "M required /* comment */ a=b;", "M required / comment\n a=b;", "M required a=b/c;",
        "M required a=b#c;", "M required a=b!c;", "M required a=b$c;", "M required a=b_c-d.e;", "M required a=-;", "M required a=.;",
        "M required a=-1;", "M required a=-b;", "M required a=$b;", "M required a=b,c;", "M required a=\"b\nc\";", "M required a=\"b",
        "M required a=b; N required c=d;", "M required a=b a=c;", "M required a=\"\";", "M required a==b;", "M required a=;",
        "M required a b;", "M required a = \"b\" ;", " M\trequired\n a=\"b\"\n;", "M required a=\"\u00e9\u00ff\u20ac\";", "M required a=\u00e9;",
        "M required a=\u20ac;", "\"M\" required a=b;", "M \"required\" \"a\"=b;", "M required \"a b\"=c;", "M required a-b=c;", "M required a.b=c;",
        "M required a=b;;", "M required a=b; ;", "M required a=\"\\", "M required a=b{c;", "required required;", "1 required;", "M required 1=b;",
        "M required a=\"**/\"; /* end", "M required a=b;//", "M required a=b; // end", "M required a=\u0085b;", "M required a=\ud83d\ude00;",
    };
    private static final String[] PIECES = {
        "b", "$", "c.d", "-", "b1", "_", "1", "/", "*", "\\", "\\1", "\\12", "\\777", "\\n", "\\x", "'", " ", ";", "=", "#", "\u00e9", "7",
        "\\\"", "/*", "\n",
    };

    public static void main(String[] args) throws Exception {
        for (String text : CHOSEN) {
            print(text);
        }
        Random random = new Random(11);
        for (int i = 0; i < 600; i++) {
            StringBuilder text = new StringBuilder("M required");
            for (int options = random.nextInt(3); options >= 0; options--) {
                boolean isQuoted = random.nextInt(3) > 0;
                text.append(" a").append(options).append(random.nextInt(9) == 0 ? " = " : "=").append(isQuoted ? "\"" : "");
                for (int length = random.nextInt(4); length >= 0; length--) {
                    text.append(PIECES[random.nextInt(isQuoted ? PIECES.length : 8)]);
                }
                text.append(isQuoted ? "\"" : "");
            }
            print(text.append(random.nextInt(9) == 0 ? "" : ";").toString());
        }
    }

    private static void print(String text) {
        StringBuilder line = new StringBuilder(escaped(text));
        try {
            AppConfigurationEntry entry = entry(text);
            line.append('\t').append(escaped(entry.getLoginModuleName()));
            new TreeMap<>(entry.getOptions()).forEach((name, value) ->
                line.append('\t').append(escaped(name)).append('\t').append(escaped(value)));
        } catch (RuntimeException refused) {
            line.append("\trefused");
        }
        System.out.println(line);
    }

    private static AppConfigurationEntry entry(String text) {
        Map<String, ?> configs = Map.of("sasl.jaas.config", new org.apache.kafka.common.config.types.Password(text));
        List<AppConfigurationEntry> entries = new ArrayList<>(
            org.apache.kafka.common.security.JaasContext.loadClientContext(configs).configurationEntries());
        if (entries.size() != 1 || entries.get(0).getLoginModuleName() == null || entries.get(0).getOptions().containsKey(null)) {
            throw new IllegalArgumentException("nothing that can be loaded");
        }
        return entries.get(0);
    }

    private static String escaped(Object text) {
        StringBuilder out = new StringBuilder();
        for (char c : text.toString().toCharArray()) {
            out.append(c > ' ' && c <= '~' && c != '%' ? String.valueOf(c) : String.format("%%%04x", (int) c));
        }
        return out.toString();
    }
}
