import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Random;

/**
 * Prints what java.util.Properties makes of texts: chosen ones, then random ones from a fixed
 * seed. A line is the text, then name and value of each entry in the order of first
 * appearance, all parted by tabs and with every letter outside of ! to ~, and % itself, as %
 * and four hexadecimal digits; "malformed" where Java refuses the text. The output is kept in
 * tests/fixtures/worker_file/properties.txt.
 */
public class PropertiesTable {
    private static final String[] CHOSEN = {
        "", "a=b", "a = b", "a:b", "a b", "a\tb", "a\fb", "a", "=b", "a=", "a = = b", "a : = b", "a  b=c",
        "# c\na=b", "! c\na=b", "  # c\n  a=b", "a=b # no comment", "a=\\\n  b", "a=\\\r\n  b", "a=\\\r  b",
        "a=b\\", "a=b\\\\", "a=b\\\n", "a=b\\\n\nc=d", "a\\\n=b", "a=\\\n#b", "\\\n#b\nc=d", "\\", "\\\n", "  \\\n  a=b",
        "a\\=b=c", "a\\:b=c", "a\\ b=c", "a=\\=b", "a=\\u0041", "a=\\u00e9", "a=\\ud83d\\ude00", "a=\\ud83d", "\\u0061=b",
        "a=\\u004", "a=\\u00zz", "a=\\t\\n\\r\\f\\b\\q\\\"", "a=1\na=2\nb=3\na=4", "a=b\r\nc=d\r\n", "a=b\rc=d",
        "a= b ", "a=b\t ", "\u00e9=\u00fc", "a=\u00c3\u00a9", "a=b\n\n\n  \nc=d", "a\\\\=b", "a\\\\\\=b=c",
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\\n    username=\"u\" \\\n    password=\"p\\\\\"q\";",
    };
    private static final String[] PIECES = {
        "a", "b", "=", ":", " ", "\t", "\f", "#", "!", "\\", "\\", "\n", "\r", "\r\n", "\\u0041", "\\ud83d", "\\ude00",
        "\\u", "4", "\u00e9", "\\\n", "x=y",
    };

    public static void main(String[] args) {
        for (String text : CHOSEN) {
            print(text);
        }
        Random random = new Random(7);
        for (int i = 0; i < 600; i++) {
            StringBuilder text = new StringBuilder();
            for (int length = random.nextInt(14); length >= 0; length--) {
                text.append(PIECES[random.nextInt(PIECES.length)]);
            }
            print(text.toString());
        }
    }

    private static void print(String text) {
        StringBuilder line = new StringBuilder(escaped(text));
        // Kept in order of first appearance; the last value of a name stays.
        Map<Object, Object> kept = new LinkedHashMap<>();
        Properties properties = new Properties() {
            @Override
            public synchronized Object put(Object name, Object value) {
                kept.put(name, value);
                return super.put(name, value);
            }
        };
        try {
            properties.load(new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1)));
            kept.forEach((name, value) -> line.append('\t').append(escaped(name)).append('\t').append(escaped(value)));
        } catch (IllegalArgumentException malformed) {
            line.append("\tmalformed");
        } catch (java.io.IOException impossible) {
            throw new IllegalStateException(impossible);
        }
        System.out.println(line);
    }

    private static String escaped(Object text) {
        StringBuilder out = new StringBuilder();
        for (char c : text.toString().toCharArray()) {
            out.append(c > ' ' && c <= '~' && c != '%' ? String.valueOf(c) : String.format("%%%04x", (int) c));
        }
        return out.toString();
    }
}
