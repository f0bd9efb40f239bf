import java.util.Base64;
import javax.security.auth.x500.X500Principal;

/**
 * Prints the DER bytes of names, in Base64, and what a Kafka broker makes of them as a
 * principal (X500Principal.getName), parted by a tab and escaped as in PropertiesTable. The
 * output is kept in tests/fixtures/worker_file/subjects.txt.
 */
public class SubjectTable {
    private static final String[] NAMES = {
        "CN=worker-a", "CN=worker-a,OU=Data,O=Example,L=Berlin,ST=Berlin,C=DE", "CN=a+UID=7,O=b", "CN=\"a, b\",O=\"c=d\"", "CN=\\ a\\ ,O=\\#b",
        "CN=a\\\"b\\\\c\\+d\\;e\\<f\\>", "EMAILADDRESS=a@example.org,CN=a", "SERIALNUMBER=5,CN=a", "T=boss,CN=a", "STREET=Way 1,DC=example,DC=org",
        "CN=\u00e4\u00f6\u20ac", "CN=a  b", "1.2.3.4=#0c0161,CN=a", "CN=#0c0161", "CN=", "CN=\" \"", "CN=a\\0ab", "GIVENNAME=g,SURNAME=s,CN=a",
        "DNQ=x,CN=*.example.org", "UID=u,CN=a=b",
    };

    public static void main(String[] args) {
        for (String name : NAMES) {
            X500Principal principal = new X500Principal(name);
            System.out.println(Base64.getEncoder().encodeToString(principal.getEncoded()) + "\t" + escaped(principal.getName()));
        }
    }

    private static String escaped(String text) {
        StringBuilder out = new StringBuilder();
        for (char c : text.toCharArray()) {
            out.append(c > ' ' && c <= '~' && c != '%' ? String.valueOf(c) : String.format("%%%04x", (int) c));
        }
        return out.toString();
    }
}
