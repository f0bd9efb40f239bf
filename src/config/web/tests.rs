//! Whole web configurations: what they make, or every mistake they tell.

use super::*;

const HASH: &str = "$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG";

#[track_caller]
fn good(text: &str) -> WebConfig {
    match WebConfig::parse(text, Path::new("/etc/web")) {
        Ok(config) => config,
        Err(mistakes) => panic!("{mistakes}"),
    }
}

/// The mistakes, as a person reads them, without the head line.
#[track_caller]
fn mistakes(text: &str) -> String {
    match WebConfig::parse(text, Path::new("/etc/web")) {
        Ok(config) => panic!("no mistake found in {config:?}"),
        Err(mistakes) => {
            let text = mistakes.to_string();
            let (_, rest) = text.split_once('\n').unwrap();
            assert!(!text.contains("topsecret"), "{text}");
            format!("{rest}\n")
        }
    }
}

#[test]
fn a_file_with_everything() {
    let config = good(&format!(
        "
tls_server_config:
  cert_file: server.crt
  key_file: /secret/server.key
  client_ca_file: ../ca.crt
  client_auth_type: RequireAndVerifyClientCert
  client_allowed_sans: [prometheus.example]
  min_version: TLS12
  max_version: TLS13
  cipher_suites: [TLS_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]
  prefer_server_cipher_suites: no
  curve_preferences: [X25519, CurveP256]
http_server_config:
  http2: true
  headers:
    X-Frame-Options: deny
    Strict-Transport-Security: max-age=1
basic_auth_users:
  alice: {HASH}
"
    ));
    let tls = config.tls.as_ref().unwrap();
    assert_eq!(tls.cert, Pem::File("/etc/web/server.crt".into()));
    assert_eq!(tls.key, Pem::File("/secret/server.key".into()));
    assert_eq!(tls.client_auth, ClientAuth::RequireAndVerify);
    assert_eq!(tls.client_allowed_sans, ["prometheus.example"]);
    assert_eq!(tls.cipher_suites, ["ECDHE-RSA-AES128-GCM-SHA256"]);
    assert_eq!(tls.curves, ["X25519", "P-256"]);
    assert!(!tls.prefer_server_cipher_suites);
    assert_eq!(config.users["alice"].expose(), HASH);
    let headers = [
        ("Strict-Transport-Security", "max-age=1"),
        ("X-Frame-Options", "deny"),
    ];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(config.headers, headers);
    let files = config.files();
    assert_eq!(
        files,
        [
            "/etc/web/server.crt",
            "/secret/server.key",
            "/etc/web/../ca.crt"
        ]
        .map(PathBuf::from)
    );
}

#[test]
fn little_is_enough() {
    for nothing in [
        "",
        "# nothing\n",
        "tls_server_config:\nbasic_auth_users:\n",
        "basic_auth_users: {}",
        "http_server_config: {headers: {X-Frame-Options: ''}}",
    ] {
        assert_eq!(good(nothing), WebConfig::default(), "{nothing}");
    }
    let config = good("tls_server_config: {cert_file: c, key: topsecret}");
    let tls = config.tls.as_ref().unwrap();
    assert_eq!(
        (tls.min_version, tls.max_version, tls.client_auth),
        (TlsVersion::Tls12, TlsVersion::Tls13, ClientAuth::No)
    );
    assert!(tls.prefer_server_cipher_suites && tls.cipher_suites.is_empty());
    assert_eq!(config.files(), [PathBuf::from("/etc/web/c")]);
    assert!(!format!("{config:?}").contains("topsecret"));
    // As the toolkit first called it.
    let old = "tls_server_config: {cert_file: c, key_file: k, client_auth_type: RequireClientCert}";
    assert_eq!(good(old).tls.unwrap().client_auth, ClientAuth::RequireAny);
}

#[test]
fn every_mistake_is_told_at_once() {
    let text = format!(
        "
tls_server_conf: {{}}
rate_limit: {{interval: 1s, burst: 20}}
tls_server_config:
  cert_file: [a]
  key: topsecret
  key_file: k
  cert_fil: topsecret
  client_auth_type: RequireAndVerifyClientCerts
  min_version: TLS10
  max_version: TLS14
  cipher_suites: [TLS_RSA_WITH_RC4_128_SHA, {{}}]
  prefer_server_cipher_suites: maybe
  curve_preferences: X25519
  client_allowed_sans: [a]
http_server_config:
  http3: true
  headers:
    Server: topsecret
    X-Frame-Options: always
    X-Content-Type-Options: nosniff
    Content-Security-Policy: \"a\\nb\"
basic_auth_users:
  alice: topsecret
  bob: $2y$10$topsecret
  carol: {}
  dave: {}
  erin: {{topsecret: 1}}
  frank: $1$topsecret$x
  {HASH}: grace
  'he:idi': {HASH}
",
        HASH.replace("$10$", "$17$"),
        HASH.replace("$10$", "$03$"),
    );
    assert_eq!(
        mistakes(&text),
        "\
tls_server_conf: found an unknown key, expected a key of the web configuration
  hint: did you mean tls_server_config?
rate_limit: found a value, expected this key to be left out
  hint: leave it out: connections, handshakes and checks of passwords are bounded anyway
tls_server_config.cert_fil: found an unknown key, expected a key of the web configuration
  hint: did you mean cert_file?
tls_server_config.cert_file: found something else, expected a text
tls_server_config.key: found both, expected one of key and key_file
tls_server_config.client_auth_type: found \"RequireAndVerifyClientCerts\", expected one of NoClientCert, RequestClientCert, RequireAnyClientCert, VerifyClientCertIfGiven, RequireAndVerifyClientCert, RequireClientCert
  hint: did you mean RequireAndVerifyClientCert?
tls_server_config.min_version: found a version before TLS12, expected TLS12 or TLS13
  hint: older versions are no longer safe (RFC 8996)
tls_server_config.max_version: found \"TLS14\", expected one of TLS12, TLS13, TLS10, TLS11
  hint: did you mean TLS12?
"
        .to_owned()
            + "\
tls_server_config.cipher_suites[1]: found no text, expected a text
tls_server_config.cipher_suites[0]: found \"TLS_RSA_WITH_RC4_128_SHA\", expected one of TLS_AES_128_GCM_SHA256, TLS_AES_256_GCM_SHA384, TLS_CHACHA20_POLY1305_SHA256, TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA, TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256
tls_server_config.prefer_server_cipher_suites: found \"maybe\", expected true or false
tls_server_config.curve_preferences: found something else, expected a list of texts
tls_server_config.client_auth_type: found NoClientCert, expected RequireAnyClientCert or RequireAndVerifyClientCert
  hint: client_allowed_sans needs a certificate of every client
http_server_config.http3: found an unknown key, expected a key of the web configuration
  hint: did you mean http2?
http_server_config.headers.Server: found an unknown key, expected a key of the web configuration
  hint: there are Content-Security-Policy, Strict-Transport-Security, X-Content-Type-Options, X-Frame-Options, X-XSS-Protection
http_server_config.headers.Content-Security-Policy: found other characters, expected printable ASCII in one line
http_server_config.headers.X-Frame-Options: found \"always\", expected deny or sameorigin
basic_auth_users.alice: found something else, expected a bcrypt hash of cost 4 to 16
  hint: htpasswd -nBC 10 USER makes one
basic_auth_users.bob: found a hash that is cut or mistyped, expected a bcrypt hash of cost 4 to 16
  hint: htpasswd -nBC 10 USER makes one
basic_auth_users.carol: found a cost of 17, expected a bcrypt hash of cost 4 to 16
  hint: htpasswd -nBC 10 USER makes one
basic_auth_users.dave: found a cost of 3, expected a bcrypt hash of cost 4 to 16
  hint: htpasswd -nBC 10 USER makes one
basic_auth_users.erin: found no text, expected a bcrypt hash of cost 4 to 16
  hint: htpasswd -nBC 10 USER makes one
basic_auth_users.frank: found a hash of another kind, expected a bcrypt hash of cost 4 to 16
  hint: htpasswd -nBC 10 USER makes one
basic_auth_users[6]: found no name, expected a user's name: at most 64 printable characters, no colon
  hint: alice: '$2y$10$…'
basic_auth_users[7]: found no name, expected a user's name: at most 64 printable characters, no colon
  hint: alice: '$2y$10$…'
"
    );
}

/// The keys of the mistakes in a `tls_server_config`.
#[track_caller]
fn wrong(tls: &str) -> Vec<String> {
    let text = format!("tls_server_config: {{{tls}}}");
    let Err(mistakes) = WebConfig::parse(&text, Path::new("")) else {
        return Vec::new();
    };
    let paths = mistakes.0.into_iter().map(|mistake| mistake.path);
    paths
        .map(|path| path.replace("tls_server_config.", ""))
        .collect()
}

#[test]
fn what_goes_together() {
    let with = |more: &str| wrong(&format!("cert_file: c, key_file: k, {more}"));
    let nothing = [""; 0];
    assert_eq!(wrong("min_version: TLS12"), ["cert_file", "key_file"]);
    assert_eq!(wrong("cert_file: c"), ["key_file"]);
    assert_eq!(wrong("cert: a, cert_file: b, key_file: k"), ["cert"]);
    // Without anything to ask for, or anything to hold it against.
    assert_eq!(with("client_ca_file: a"), ["client_auth_type"]);
    for verifies in ["VerifyClientCertIfGiven", "RequireAndVerifyClientCert"] {
        let auth = format!("client_auth_type: {verifies}");
        assert_eq!(with(&auth), ["client_ca_file"]);
        assert_eq!(with(&format!("{auth}, client_ca: a")), nothing);
    }
    for (auth, names) in [
        ("NoClientCert", &["client_auth_type"][..]),
        ("RequestClientCert", &["client_auth_type"]),
        ("RequireAnyClientCert", &[]),
    ] {
        let text = format!("client_auth_type: {auth}, client_allowed_sans: [a]");
        assert_eq!(with(&text), names, "{auth}");
    }
    assert_eq!(
        with("min_version: TLS13, max_version: TLS12"),
        ["min_version"]
    );
    assert_eq!(with("min_version: TLS13, max_version: TLS13"), nothing);
    let suites = "cipher_suites: [TLS_AES_128_GCM_SHA256]";
    assert_eq!(with(suites), ["cipher_suites"]);
    assert_eq!(with(&format!("min_version: TLS13, {suites}")), nothing);
    let many = vec!["X25519"; 101].join(",");
    assert_eq!(
        with(&format!("curve_preferences: [{many}]")),
        ["curve_preferences"]
    );
}

#[test]
fn a_secret_in_the_wrong_place_is_not_told() {
    for text in [
        "tls_server_config: {key_file: \"-----BEGIN PRIVATE KEY-----\\ntopsecret\"}",
        "tls_server_config: topsecret",
        "basic_auth_users: [topsecret]",
        "basic_auth_users: topsecret",
        "topsecret",
        "? topsecret/with+signs\n: x\n",
        "tls_server_config: {? [topsecret] : x}",
        "basic_auth_users: {alice: 'topsecret\n",
        "basic_auth_users: {alice: !topsecret x}",
    ] {
        let told = mistakes(text);
        assert!(told.contains("found "), "{told}");
    }
    assert_eq!(
        mistakes(&format!("{HASH}: alice")).lines().next(),
        Some(": found an unknown key, expected a key of the web configuration")
            .map(|line| &line[2..])
    );
}

#[test]
fn users_are_bounded() {
    let users = |count: usize| {
        let lines = (0..count).map(|index| format!("  u{index}: {HASH}\n"));
        format!("basic_auth_users:\n{}", lines.collect::<String>())
    };
    assert_eq!(good(&users(USERS_MAX)).users.len(), USERS_MAX);
    assert!(mistakes(&users(USERS_MAX + 1)).contains("found 101 users, expected at most 100"));
}
