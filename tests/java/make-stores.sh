#!/usr/bin/env bash
# Makes the key and trust stores in tests/fixtures/worker_file/stores with the keytool of a
# JDK 17 and OpenSSL 3. Everything is a test's: the password is `changeit`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../fixtures/worker_file/stores"
rm -f -- *.p12 *.jks *.jceks *.pem
tool() { keytool -noprompt -storepass changeit "$@" 2>/dev/null; }
work="$(mktemp -d)"
trap 'rm -rf "${work}"' EXIT

# Two authorities, and a leaf that the first one signed.
for name in one two; do
    tool -genkeypair -alias "${name}" -keyalg EC -dname "CN=Authority ${name},O=Example" -ext bc:c \
        -validity 36500 -keystore "${work}/${name}.p12"
    tool -exportcert -rfc -alias "${name}" -keystore "${work}/${name}.p12" >"${work}/${name}.pem"
done
tool -genkeypair -alias leaf -keyalg EC -dname "CN=worker-a,OU=Data\, and more,O=Example" -validity 36500 \
    -keystore key.p12
tool -certreq -alias leaf -keystore key.p12 |
    tool -gencert -alias one -rfc -validity 36500 -keystore "${work}/one.p12" >"${work}/leaf.pem"
cat "${work}/leaf.pem" "${work}/one.pem" >"${work}/chain.pem"
tool -importcert -alias leaf -file "${work}/chain.pem" -keystore key.p12
# A certificate that is trusted stands in the same store, and is no part of the chain.
tool -importcert -alias other -file "${work}/two.pem" -keystore key.p12

# A JDK from 9 on writes PKCS12, whatever the file is called.
for name in one two; do
    tool -importcert -alias "${name}" -file "${work}/${name}.pem" -keystore trust.jks
    tool -importcert -alias "${name}" -file "${work}/${name}.pem" -keystore real.jks -storetype JKS
    tool -importcert -alias "${name}" -file "${work}/${name}.pem" -keystore real.jceks -storetype JCEKS
    tool -J-Dkeystore.pkcs12.legacy -importcert -alias "${name}" -file "${work}/${name}.pem" -keystore old.p12
done
cat "${work}/one.pem" "${work}/two.pem" >trust.pem
openssl pkcs12 -in key.p12 -passin pass:changeit -nodes -nocerts 2>/dev/null |
    openssl pkcs8 -topk8 -nocrypt >"${work}/key.pem"
openssl pkcs8 -topk8 -in "${work}/key.pem" -passout pass:changeit >"${work}/locked.pem"
cat "${work}/key.pem" "${work}/chain.pem" >key.pem
cat "${work}/locked.pem" "${work}/chain.pem" >locked.pem
