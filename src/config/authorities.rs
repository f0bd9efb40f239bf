//! Where systems keep the authorities that they trust: the OpenSSL that is built in knows no
//! place of theirs.

/// As one file: Debian, Fedora, older Red Hat, SUSE, Alpine and the BSDs, Solaris.
pub const BUNDLES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/etc/pki/tls/cacert.pem",
    "/usr/local/etc/ssl/cert.pem",
    "/usr/local/share/certs/ca-root-nss.crt",
    "/etc/certs/ca-certificates.crt",
];

/// As a directory of hashed names.
pub const BUNDLE_DIRS: &[&str] = &["/etc/ssl/certs", "/etc/pki/tls/certs"];
