//! Certificates of a cluster: authorities, keys and stores, made by openssl and keytool as
//! users make them.
//!
//! They are made once and kept, since each keytool costs a JVM; a cluster works on a copy.
//! Every store and encrypted file has the same random password.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::format::random_id;
use crate::jars::JarCache;
use crate::tools::Tools;

/// Part of the kept folder's name; a change of what is made below needs another.
const EDITION: u32 = 2;

/// The file with the password of all stores.
const PASSWORD: &str = "store.password";

/// The subfolder with what nobody needs afterwards: requests, and the authorities' books.
const WORK: &str = "work";

/// The authority that brokers and clients of a cluster trust, and one that they do not.
const OURS: &str = "ca";
const OTHER: &str = "other-ca";

const VALID: (&str, &str) = ("20200101000000Z", "20491231235959Z");
const EXPIRED: (&str, &str) = ("20200101000000Z", "20200201000000Z");

/// The folder with the certificates of a cluster.
///
/// For each user `NAME` there is `NAME.pem`, `NAME.key`, `NAME.p12` and `NAME.both.pem` (key
/// and chain, as Kafka's PEM stores have them), and the same for `NAME-next` (as good as the
/// first), `NAME-expired` and `NAME-stranger` (signed by the other authority). `ca.pem`,
/// `trust.p12` and `trust.jks` hold the authority; those whose names begin with `other-` the
/// other one.
#[derive(Clone, Debug)]
pub struct Certificates {
    folder: PathBuf,
    password: String,
}

struct Leaf {
    name: String,
    common_name: String,
    authority: &'static str,
    validity: (&'static str, &'static str),
    addresses: Vec<Ipv4Addr>,
}

impl Certificates {
    /// Copies the certificates for these brokers' addresses and users into `folder`.
    pub(crate) fn provide(
        cache: &JarCache,
        (addresses, users): (&[Ipv4Addr], &[&str]),
        folder: PathBuf,
    ) -> anyhow::Result<Certificates> {
        let mut hasher = DefaultHasher::new();
        (EDITION, addresses, users).hash(&mut hasher);
        let kept = cache.once(
            &format!("certificates/{:016x}", hasher.finish()),
            |folder| make(cache.tools(), folder, addresses, users),
        )?;
        fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
        for entry in fs::read_dir(&kept).with_context(|| format!("read {}", kept.display()))? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                continue;
            }
            fs::copy(entry.path(), folder.join(entry.file_name()))
                .with_context(|| format!("copy {}", entry.path().display()))?;
        }
        let password = fs::read_to_string(folder.join(PASSWORD)).context("read the password")?;
        Ok(Certificates { folder, password })
    }

    /// The folder of all files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A file by its name, for example `evenkeel.p12`.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The password of all stores.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// Puts the files of `by` in the place of those of `name`, each at one blow, as a renewal
    /// does.
    ///
    /// # Errors
    /// When there is no such certificate.
    pub fn replace(&self, name: &str, by: &str) -> anyhow::Result<()> {
        for ending in ["key", "pem", "both.pem", "p12"] {
            let target = self.file(&format!("{name}.{ending}"));
            let partial = self.file(&format!("{name}.{ending}.partial"));
            fs::copy(self.file(&format!("{by}.{ending}")), &partial)
                .and_then(|_| fs::rename(&partial, &target))
                .with_context(|| format!("put {by}.{ending} in place of {name}.{ending}"))?;
        }
        Ok(())
    }
}

fn make(
    tools: &Tools,
    folder: &Path,
    addresses: &[Ipv4Addr],
    users: &[&str],
) -> anyhow::Result<()> {
    fs::write(folder.join(PASSWORD), random_id()?)?;
    fs::create_dir(folder.join(WORK))?;
    for authority in [OURS, OTHER] {
        found(folder, authority)?;
    }
    let mut leaves = vec![
        Leaf::server("broker", VALID, addresses),
        Leaf::server("broker-expired", EXPIRED, addresses),
    ];
    for user in users {
        leaves.push(Leaf::client(user, "", OURS, VALID));
        leaves.push(Leaf::client(user, "-next", OURS, VALID));
        leaves.push(Leaf::client(user, "-expired", OURS, EXPIRED));
        leaves.push(Leaf::client(user, "-stranger", OTHER, VALID));
    }
    for leaf in &leaves {
        issue(tools, folder, leaf)?;
    }
    for (authority, prefix) in [(OURS, ""), (OTHER, "other-")] {
        for kind in ["PKCS12", "JKS"] {
            let ending = if kind == "JKS" { "jks" } else { "p12" };
            run(keytool(tools, folder)
                .args(["-importcert", "-noprompt", "-alias", "authority"])
                .args(["-file", &format!("{authority}.pem")])
                .args(["-keystore", &format!("{prefix}trust.{ending}")])
                .args(["-storetype", kind, "-storepass:file", PASSWORD]))?;
        }
    }
    Ok(())
}

impl Leaf {
    fn server(name: &str, validity: (&'static str, &'static str), addresses: &[Ipv4Addr]) -> Leaf {
        Leaf {
            name: name.to_owned(),
            common_name: "broker".to_owned(),
            authority: OURS,
            validity,
            addresses: addresses.to_vec(),
        }
    }

    fn client(
        user: &str,
        suffix: &str,
        authority: &'static str,
        validity: (&'static str, &'static str),
    ) -> Leaf {
        Leaf {
            name: format!("{user}{suffix}"),
            common_name: user.to_owned(),
            authority,
            validity,
            addresses: Vec::new(),
        }
    }

    fn extensions(&self) -> String {
        let mut text = "basicConstraints = CA:FALSE\nsubjectKeyIdentifier = hash\n\
             authorityKeyIdentifier = keyid\n"
            .to_owned();
        if self.addresses.is_empty() {
            text.push_str("extendedKeyUsage = clientAuth\n");
        } else {
            text.push_str("extendedKeyUsage = serverAuth\nsubjectAltName = DNS:localhost");
            for address in &self.addresses {
                text.push_str(&format!(",IP:{address}"));
            }
            text.push('\n');
        }
        text
    }
}

/// Makes an authority, and what `openssl ca` wants of one: it alone can set both dates.
fn found(folder: &Path, name: &str) -> anyhow::Result<()> {
    run(openssl(folder)
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes"])
        .args(["-days", "7300", "-subj", &format!("/CN=testbed {name}")])
        .args(["-keyout", &format!("{name}.key")])
        .args(["-out", &format!("{name}.pem")]))?;
    fs::write(folder.join(WORK).join(format!("{name}.index")), "")?;
    fs::write(
        folder.join(WORK).join(format!("{name}.cnf")),
        format!(
            "[ca]\ndefault_ca = this\n[this]\ndatabase = {WORK}/{name}.index\n\
             new_certs_dir = {WORK}\n\
             certificate = {name}.pem\nprivate_key = {name}.key\nrand_serial = yes\n\
             default_md = sha256\nunique_subject = no\npolicy = any\n\
             [any]\ncommonName = supplied\n"
        ),
    )?;
    Ok(())
}

fn issue(tools: &Tools, folder: &Path, leaf: &Leaf) -> anyhow::Result<()> {
    let name = &leaf.name;
    let file = |ending: &str| format!("{name}.{ending}");
    let work = |ending: &str| format!("{WORK}/{name}.{ending}");
    fs::write(folder.join(work("ext")), leaf.extensions())?;
    run(openssl(folder)
        .args(["req", "-new", "-newkey", "rsa:2048", "-nodes"])
        .args(["-subj", &format!("/CN={}", leaf.common_name)])
        .args(["-keyout", &file("key"), "-out", &work("csr")]))?;
    run(openssl(folder)
        .args(["ca", "-batch", "-notext"])
        .args(["-config", &format!("{WORK}/{}.cnf", leaf.authority)])
        .args(["-startdate", leaf.validity.0, "-enddate", leaf.validity.1])
        .args(["-extfile", &work("ext"), "-in", &work("csr")])
        .args(["-out", &file("pem")]))?;
    let read = |file: String| fs::read_to_string(folder.join(file));
    let both = [
        read(file("key"))?,
        read(file("pem"))?,
        read(format!("{}.pem", leaf.authority))?,
    ];
    fs::write(folder.join(file("both.pem")), both.concat())?;
    run(openssl(folder)
        .args(["pkcs12", "-export", "-in", &file("both.pem")])
        .args(["-name", name, "-out", &work("openssl.p12")])
        .args(["-passout", &format!("file:{PASSWORD}")]))?;
    run(keytool(tools, folder)
        .args(["-importkeystore", "-noprompt", "-srcstoretype", "PKCS12"])
        .args(["-srckeystore", &work("openssl.p12")])
        .args(["-srcstorepass:file", PASSWORD])
        .args(["-destkeystore", &file("p12"), "-deststoretype", "PKCS12"])
        .args(["-deststorepass:file", PASSWORD]))
}

fn openssl(folder: &Path) -> Command {
    let mut command = Command::new("openssl");
    command.current_dir(folder);
    command
}

/// It lies beside java, or is found as java was.
fn keytool(tools: &Tools, folder: &Path) -> Command {
    let beside = tools.java.with_file_name("keytool");
    let mut command = if beside.is_file() {
        Command::new(beside)
    } else {
        Command::new("keytool")
    };
    command.current_dir(folder);
    command
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .with_context(|| format!("run {program}, which the certificates need"))?;
    if !output.status.success() {
        bail!(
            "{command:?}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}
