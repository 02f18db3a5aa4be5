//! TLS of the server's own: a certificate and its key from files, which are read again when they
//! change.
//!
//! Established connections keep the certificate that they began with.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use tokio::net::TcpStream;
use tokio::time::MissedTickBehavior;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::client::verify_server_cert_signed_by_trust_anchor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{
    CertificateError, Error as RustlsError, RootCertStore, ServerConfig as TlsConfig,
};
use tokio_rustls::server::TlsStream;

use copydesk_commands::config::{ServerConfig, TlsFiles};
use copydesk_connections::{EncryptedSocket, TcpConnection};

/// Longest time for a handshake, from the moment at which the connection was accepted.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);
/// Interval at which the files are compared with what was read.
const LOOK: Duration = Duration::from_secs(5);
/// Time before the end of a certificate from which on there are warnings, one each day.
const WARNING_TIME: Duration = Duration::from_hours(14 * 24);
const WARNING_LOOKS: u32 = 24 * 60 * 60 / 5;
/// Bytes that a connection may keep encrypted before the system takes them.
const BUFFER_BYTES: usize = 16 * 1024;
/// First byte of every handshake (RFC 8446, section 5.1).
const HANDSHAKE: u8 = 22;

/// Reads the certificate of a server with TLS, and keeps it up to date until the process ends.
pub async fn start(config: &ServerConfig) -> Result<Option<Arc<TlsCertificate>>> {
    let Some(files) = config.tls.clone() else { return Ok(None) };
    let certificate = Arc::new(TlsCertificate::open(files).await?);
    tokio::spawn(Arc::clone(&certificate).keep_up_to_date(HangupSignals::take()?));
    Ok(Some(certificate))
}

/// Error of a certificate and its key.
#[derive(Debug, thiserror::Error)]
enum TlsError {
    #[error("cannot read {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("{} has no certificate that can be read: a certificate in PEM is needed, followed by those that lead to its authority", path.display())]
    NoCertificate { path: PathBuf },
    #[error("{} has no key that can be read: a private key in PEM without a password is needed", path.display())]
    NoKey { path: PathBuf },
    #[error("the key in {} is not that of the certificate in {}", key.display(), certificate.display())]
    Mismatch { certificate: PathBuf, key: PathBuf },
    #[error("the certificate in {} has expired", path.display())]
    Expired { path: PathBuf },
    #[error("the certificate in {} is not valid yet", path.display())]
    NotYetValid { path: PathBuf },
    #[error("the certificate in {} cannot be used: {reason}", path.display())]
    Unusable { path: PathBuf, reason: String },
}

/// Outcome of the beginning of a connection.
pub(super) enum TlsArrival {
    /// Handshake that has succeeded.
    Encrypted(Box<TlsStream<EncryptedSocket>>),
    /// Connection on which something else than TLS has arrived.
    Plain(EncryptedSocket),
    /// Connection that has ended, or came to no end of its handshake.
    Failed,
}

/// Certificate that new connections are given.
#[derive(Debug)]
pub(super) struct TlsCertificate {
    files: TlsFiles,
    /// Digest of the files that were read at the start.
    first: [u8; 32],
    current: Mutex<Arc<TlsConfig>>,
}

/// Content of both files.
struct PemContents {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

/// Certificate and key that can be used.
struct LoadedCertificate {
    config: Arc<TlsConfig>,
    /// `true` if there is to be a warning.
    ends_soon: bool,
}

impl TlsCertificate {
    /// Reads a certificate and its key.
    async fn open(files: TlsFiles) -> Result<Self, TlsError> {
        let contents = PemContents::read(&files).await?;
        let loaded = contents.load(&files, UnixTime::now())?;
        if loaded.ends_soon {
            warn_of_end(&files);
        }
        Ok(Self { files, first: contents.digest(), current: Mutex::new(loaded.config) })
    }

    /// Begins a connection: waits for the handshake, unless something else than TLS arrives.
    pub async fn accept(&self, socket: TcpStream, transport: &Arc<TcpConnection>) -> TlsArrival {
        let socket = EncryptedSocket::new(socket, Arc::clone(transport));
        let arriving = async {
            match socket.first_byte().await {
                Ok(Some(HANDSHAKE)) => {}
                Ok(Some(_)) => return TlsArrival::Plain(socket),
                Ok(None) | Err(_) => return TlsArrival::Failed,
            }
            let acceptor = TlsAcceptor::from(self.current());
            let limited = |connection: &mut tokio_rustls::rustls::ServerConnection| {
                connection.set_buffer_limit(Some(BUFFER_BYTES));
            };
            match acceptor.accept_with(socket, limited).await {
                Ok(stream) => TlsArrival::Encrypted(Box::new(stream)),
                Err(error) => {
                    // A port scan would fill the log.
                    tracing::debug!(%error, "a TLS handshake failed");
                    TlsArrival::Failed
                }
            }
        };
        let arrived = tokio::time::timeout(HANDSHAKE_LIMIT, arriving).await;
        arrived.unwrap_or(TlsArrival::Failed)
    }

    fn current(&self) -> Arc<TlsConfig> {
        Arc::clone(&self.current.lock())
    }

    /// Reads the files again when they have changed, or when `hangups` says so, for ever. What
    /// cannot be used is logged, and the certificate stays.
    async fn keep_up_to_date(self: Arc<Self>, mut hangups: HangupSignals) {
        let mut ticks = tokio::time::interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut seen, mut used, mut looks) = (Some(self.first), Some(self.first), 0_u32);
        loop {
            let is_asked = tokio::select! {
                _ = ticks.tick() => false,
                () = hangups.next() => true,
            };
            looks = looks.wrapping_add(1);
            let read = PemContents::read(&self.files).await;
            let digest = read.as_ref().map(PemContents::digest).ok();
            let is_new = digest != seen;
            seen = digest;
            let is_said = is_new || is_asked || looks.is_multiple_of(WARNING_LOOKS);
            let loaded = read.and_then(|contents| contents.load(&self.files, UnixTime::now()));
            match loaded {
                Ok(loaded) => {
                    // What is not valid yet is used once it is.
                    if digest != used || is_asked {
                        used = digest;
                        *self.current.lock() = loaded.config;
                        tracing::info!("read the TLS certificate again");
                    }
                    if loaded.ends_soon && is_said {
                        warn_of_end(&self.files);
                    }
                }
                Err(error) if is_said && digest != used => {
                    tracing::error!(%error, "cannot use the new TLS certificate; the old one stays");
                }
                Err(error) if is_said => {
                    tracing::error!(%error, "the TLS certificate cannot be used any more");
                }
                Err(_) => {}
            }
        }
    }
}

fn warn_of_end(files: &TlsFiles) {
    let path = files.certificate.display();
    tracing::warn!(%path, "the TLS certificate expires in less than 14 days");
}

impl PemContents {
    async fn read(files: &TlsFiles) -> Result<Self, TlsError> {
        let read = async |path: &Path| {
            let unreadable = |source| TlsError::Unreadable { path: path.to_owned(), source };
            tokio::fs::read(path).await.map_err(unreadable)
        };
        Ok(Self { certificate: read(&files.certificate).await?, key: read(&files.key).await? })
    }

    fn digest(&self) -> [u8; 32] {
        let mut hasher = Sha256::new();
        hasher.update((self.certificate.len() as u64).to_be_bytes());
        hasher.update(&self.certificate);
        hasher.update(&self.key);
        hasher.finalize().into()
    }

    /// Returns what connections need.
    fn load(&self, files: &TlsFiles, now: UnixTime) -> Result<LoadedCertificate, TlsError> {
        let TlsFiles { certificate: path, key: key_path } = files;
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&self.certificate).collect();
        let chain = chain.ok().filter(|chain| !chain.is_empty());
        let chain = chain.ok_or_else(|| TlsError::NoCertificate { path: path.clone() })?;
        let key = PrivateKeyDer::from_pem_slice(&self.key);
        let key = key.map_err(|_| TlsError::NoKey { path: key_path.clone() })?;
        check_time(path, &chain[0], now)?;
        let later = UnixTime::since_unix_epoch(Duration::from_secs(now.as_secs()) + WARNING_TIME);
        let ends_soon = check_time(path, &chain[0], later).is_err();
        let unusable = |error: RustlsError| match error {
            RustlsError::InconsistentKeys(_) => {
                TlsError::Mismatch { certificate: path.clone(), key: key_path.clone() }
            }
            error => TlsError::Unusable { path: path.clone(), reason: error.to_string() },
        };
        let config = TlsConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_no_client_auth()
            .with_single_cert(chain, key);
        let mut config = config.map_err(unusable)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(LoadedCertificate { config: Arc::new(config), ends_soon })
    }
}

/// Checks that a certificate is valid at a time.
fn check_time(path: &Path, certificate: &CertificateDer<'_>, at: UnixTime) -> Result<(), TlsError> {
    let path = || path.to_owned();
    let unusable =
        |error: RustlsError| TlsError::Unusable { path: path(), reason: error.to_string() };
    let parsed = ParsedCertificate::try_from(certificate).map_err(unusable)?;
    let known = ring::default_provider().signature_verification_algorithms;
    let no_roots = RootCertStore::empty();
    // Its times are checked first. No issuer is trusted here, so another error follows if they are
    // right.
    match verify_server_cert_signed_by_trust_anchor(&parsed, &no_roots, &[], at, known.all) {
        Err(RustlsError::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        )) => Err(TlsError::Expired { path: path() }),
        Err(RustlsError::InvalidCertificate(
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. },
        )) => Err(TlsError::NotYetValid { path: path() }),
        _ => Ok(()),
    }
}

/// Signals SIGHUP to this process.
struct HangupSignals {
    #[cfg(unix)]
    signals: tokio::signal::unix::Signal,
}

impl HangupSignals {
    /// Takes the signal, which ends the process otherwise.
    fn take() -> std::io::Result<Self> {
        #[cfg(unix)]
        {
            let kind = tokio::signal::unix::SignalKind::hangup();
            Ok(Self { signals: tokio::signal::unix::signal(kind)? })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Waits for the next one.
    async fn next(&mut self) {
        #[cfg(unix)]
        if self.signals.recv().await.is_some() {
            return;
        }
        std::future::pending::<()>().await;
    }
}
