//! SCRAM: what is refused before it is computed, and an exchange with rsasl's own server.

use openssl::hash::MessageDigest;
use openssl::pkcs5::pbkdf2_hmac;
use openssl::pkey::PKey;
use openssl::sha::sha256;
use openssl::sign::Signer;
use rsasl::mechanisms::scram::properties::ScramStoredPassword;
use rsasl::prelude::{SASLServer, Validation};
use rsasl::validate::{Validate, ValidationError};

use super::*;

#[test]
fn only_whole_messages_with_few_rounds_are_computed() {
    for good in [
        &b"r=abc,s=QUJD,i=4096"[..],
        b"r=abc,s=QUJD,i=32768,x=y",
        b"v=QUJD",
    ] {
        assert_eq!(check_scram(good), Ok(()));
    }
    for bad in [
        &b""[..],
        b",",
        b"r",
        b"r=abc",
        b"r=abc,s",
        b"r=abc,s=QUJD,",
        b"r=abc,s=QUJD,i",
        b"r=abc,s=QUJD,i=",
        b"r=abc,s=QUJD,i=0",
        b"r=abc,s=QUJD,i=32769",
        b"r=abc,s=QUJD,i=4294967296",
        b"m=x,r=abc,s=QUJD,i=1",
        b"\xff\xff",
    ] {
        assert!(
            matches!(check_scram(bad), Err(AskError::Sasl(_))),
            "{bad:?}"
        );
    }
    assert_eq!(check_scram(b"e=other-error"), Err(AskError::Credentials));
}

/// Whatever passes the look does not break rsasl.
#[test]
fn no_message_that_passes_breaks_the_exchange() {
    let messages: [&[u8]; 8] = [
        b"r=,s=,i=1",
        b"r=abc,s=!!,i=1",
        b"r=abc,s=QUJD,i=1,,,",
        b"v=",
        b"v=QUJD,",
        b"v=!!",
        b"v=QUJD,x",
        b"v=\xff",
    ];
    for message in messages {
        for first in [None, Some(b"r=abc,s=QUJD,i=1".as_slice())] {
            let mut session = client("SCRAM-SHA-256", "secret");
            let (Some(sent), false) = step(&mut session, None).unwrap() else {
                panic!("nothing sent");
            };
            if first.is_some() {
                let nonce = String::from_utf8(sent).unwrap();
                let nonce = nonce.rsplit_once(",r=").unwrap().1.to_owned();
                let answer = format!("r={nonce}more,s=QUJD,i=1");
                step(&mut session, Some(answer.as_bytes())).unwrap();
            }
            if check_scram(message).is_ok() {
                assert!(step(&mut session, Some(message)).is_err());
            }
        }
    }
}

fn client(mechanism: &str, password: &str) -> Session {
    let secrets = Secrets::Password {
        user: "ada".to_owned(),
        password: password.to_owned(),
    };
    session(mechanism, secrets).unwrap()
}

/// The user `ada` with the password `secret`, as Kafka stores it.
struct Stored;

struct Verdict;

impl Validation for Verdict {
    type Value = ();
}

impl SessionCallback for Stored {
    fn callback(
        &self,
        _session: &SessionData,
        _context: &Context<'_>,
        request: &mut Request<'_>,
    ) -> Result<(), SessionError> {
        let mut salted = [0; 32];
        pbkdf2_hmac(
            b"secret",
            b"salt",
            4096,
            MessageDigest::sha256(),
            &mut salted,
        )
        .unwrap();
        let hmac = |text: &[u8]| {
            let key = PKey::hmac(&salted).unwrap();
            let mut signer = Signer::new(MessageDigest::sha256(), &key).unwrap();
            signer.sign_oneshot_to_vec(text).unwrap()
        };
        let stored = sha256(&hmac(b"Client Key"));
        let server = hmac(b"Server Key");
        request.satisfy::<ScramStoredPassword<'_>>(&ScramStoredPassword::new(
            4096, b"salt", &stored, &server,
        ))?;
        Ok(())
    }

    fn validate(
        &self,
        _session: &SessionData,
        _context: &Context<'_>,
        validate: &mut Validate<'_>,
    ) -> Result<(), ValidationError> {
        validate.with::<Verdict, _>(|| Ok(()))?;
        Ok(())
    }
}

/// The client's side against a server: whether both are content.
fn authenticates(password: &str) -> bool {
    let config = SASLConfig::builder()
        .with_default_mechanisms()
        .with_callback(Stored)
        .unwrap();
    let name = Mechname::parse(b"SCRAM-SHA-256").unwrap();
    let mut server = SASLServer::<Verdict>::new(config)
        .start_suggested(name)
        .unwrap();
    let mut client = client("SCRAM-SHA-256", password);
    let mut challenge: Option<Vec<u8>> = None;
    for _ in 0..STEPS_MAX {
        let Ok((message, _)) = step(&mut client, challenge.as_deref()) else {
            return false;
        };
        let Some(message) = message else {
            return server.validation().is_some();
        };
        // Kafka's server takes no other flag than this one.
        assert!(challenge.is_some() || message.starts_with(b"n,,n=ada,r="));
        let mut out = Cursor::new(Vec::new());
        if server.step(Some(&message), &mut out).is_err() {
            return false;
        }
        let out = out.into_inner();
        if check_scram(&out).is_err() {
            return false;
        }
        challenge = Some(out);
    }
    false
}

#[test]
fn scram_agrees_with_a_server_and_needs_the_password() {
    assert!(authenticates("secret"));
    assert!(!authenticates("Secret"));
}

#[test]
fn secrets_are_not_printed() {
    let secrets = Secrets::Password {
        user: "ada".to_owned(),
        password: "secret".to_owned(),
    };
    assert_eq!(format!("{secrets:?}"), "***");
}
