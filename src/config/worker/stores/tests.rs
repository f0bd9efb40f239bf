//! Stores that keytool made (`tests/java/make-stores.sh`).

use super::*;
use crate::config::worker::tests::store;

fn names(certificates: &[X509]) -> Vec<String> {
    let name = |certificate: &X509| super::super::subject::rfc2253(certificate).unwrap();
    let mut names: Vec<_> = certificates.iter().map(name).collect();
    names.sort();
    names
}

const AUTHORITIES: [&str; 2] = ["CN=Authority one,O=Example", "CN=Authority two,O=Example"];
const LEAF: &str = "CN=worker-a,OU=Data\\, and more,O=Example";

#[test]
fn a_trust_store_gives_all_its_certificates() {
    // Each carries Java's mark for trusted keys, and none has a key.
    let jks = trusted(&store("trust.jks"), "changeit").unwrap();
    assert_eq!(names(&jks), AUTHORITIES);
    let pem = trusted(&store("trust.pem"), "").unwrap();
    assert_eq!(names(&pem), AUTHORITIES);
    let text = to_pem(&jks).unwrap();
    assert_eq!(names(&certificates(&text).unwrap()), AUTHORITIES);
}

#[test]
fn a_key_store_gives_key_and_chain() {
    let found = identity(&store("key.p12"), "changeit", None).unwrap();
    let chain: Vec<_> = found
        .certificates
        .iter()
        .map(|one| names(std::slice::from_ref(one)).remove(0))
        .collect();
    assert_eq!(chain, [LEAF, AUTHORITIES[0]], "leaf first, no stranger");
    let key = key_to_pem(&found.key).unwrap();
    for (file, password) in [("key.pem", None), ("locked.pem", Some("changeit"))] {
        let read = identity(&store(file), "", password).unwrap();
        assert_eq!(names(&read.certificates), names(&found.certificates));
        assert_eq!(key_to_pem(&read.key).unwrap(), key);
    }
}

#[test]
fn pem_may_stand_in_one_line() {
    let text = String::from_utf8(store("locked.pem")).unwrap();
    let line = text.replace('\n', " ");
    let read = identity_of(&line, &line, Some("changeit")).unwrap();
    assert_eq!(read.certificates.len(), 2);
    let tight = text.replace('\n', "");
    assert_eq!(certificates(&tight).unwrap().len(), 2);
}

#[test]
fn what_cannot_be_read_says_why() {
    let of = |file: &str, password: &str| trusted(&store(file), password).unwrap_err();
    assert_eq!(of("real.jks", "changeit"), StoreError::Jks);
    assert_eq!(of("real.jceks", "changeit"), StoreError::Jceks);
    assert_eq!(of("old.p12", "changeit"), StoreError::OldCipher);
    assert_eq!(of("trust.jks", "wrong"), StoreError::Password);
    assert_eq!(of("trust.jks", ""), StoreError::Password);
    assert_eq!(of("trust.jks", "nul\0"), StoreError::Password);
    let key = |file: &str, password: &str, own: Option<&str>| {
        identity(&store(file), password, own).err().unwrap()
    };
    assert_eq!(key("trust.jks", "changeit", None), StoreError::NoKey);
    assert_eq!(key("trust.pem", "", None), StoreError::NoKey);
    assert_eq!(key("locked.pem", "", None), StoreError::KeyPassword);
    assert_eq!(
        key("locked.pem", "", Some("wrong")),
        StoreError::KeyPassword
    );
    let long = "x".repeat(100_000);
    assert_eq!(key("locked.pem", "", Some(&long)), StoreError::KeyPassword);
    let trust = String::from_utf8(store("trust.pem")).unwrap();
    let own = String::from_utf8(store("key.pem")).unwrap();
    assert_eq!(
        identity_of(&trust, &own, None).err(),
        Some(StoreError::Strangers)
    );
    assert_eq!(trusted(b"", "").err(), Some(StoreError::Unknown));
    assert_eq!(trusted(b"topsecret", "").err(), Some(StoreError::Unknown));
    assert_eq!(
        trusted(b"-----BEGIN NOTHING-----", "").err(),
        Some(StoreError::NoCertificate)
    );
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert_eq!(certificates(broken).err(), Some(StoreError::Certificate));
}

#[test]
fn no_bytes_of_a_store_make_it_panic() {
    for file in ["trust.jks", "key.p12", "key.pem", "locked.pem"] {
        let bytes = store(file);
        for end in (0..bytes.len()).step_by(37) {
            let found = identity(&bytes[..end], "changeit", None);
            // PEM may end after a certificate; a store may not end anywhere.
            assert!(found.is_err() || file.ends_with(".pem"), "{file} {end}");
            let mut stirred = bytes.clone();
            stirred[end] ^= 0x55;
            // Whatever is left of it is read or told.
            let _found = trusted(&stirred, "changeit");
        }
    }
}
