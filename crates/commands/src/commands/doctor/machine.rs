//! Probes of the machine: the port, the data folder, and files that the options name.

use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use tokio::net::TcpListener;

use super::findings::{self, DoctorFinding, PortState, SyncTime};
use crate::config::ServerConfig;
use copydesk_client::ServerClient;

pub(super) use copydesk_load_test::open_file_limit;

/// Number of syncs whose median is taken.
const SYNCS: usize = 15;
/// Bytes written before each sync: a page of the database.
const PAGE: [u8; 4096] = [0; 4096];
/// Longest wait for an answer of the program that listens on the port.
const PORT_TIMEOUT: Duration = Duration::from_secs(3);

/// Tries to listen where the server will.
pub(super) async fn port(config: &ServerConfig) -> DoctorFinding {
    let state = match TcpListener::bind(config.listen).await {
        Ok(_) => PortState::Free,
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            if is_served(config).await {
                PortState::Served
            } else {
                PortState::Taken
            }
        }
        Err(error) => PortState::Refused(error.to_string()),
    };
    findings::port(config.listen, &state)
}

/// Asks what listens on the port if it is a Copydesk server.
async fn is_served(config: &ServerConfig) -> bool {
    let Ok(client) = ServerClient::patient(&config.linked_address(config.listen), None) else {
        return false;
    };
    matches!(tokio::time::timeout(PORT_TIMEOUT, client.readiness()).await, Ok(Ok(_)))
}

/// Writes into the data folder, or where it will be created.
pub(super) async fn data_folder(data: &Path) -> Vec<DoctorFinding> {
    let is_there = data.is_dir();
    let absolute = std::path::absolute(data).unwrap_or_else(|_| data.to_owned());
    let existing = absolute.ancestors().find(|it| it.exists()).map(Path::to_owned);
    let measured = tokio::task::spawn_blocking(move || match existing {
        Some(folder) => sync_time(&folder),
        None => Err("no folder above it is there".to_owned()),
    });
    let sync = measured.await.unwrap_or_else(|error| Err(error.to_string()));
    findings::data_folder(data, is_there, &sync)
}

/// Measures the median time of a disk sync in a folder, with a file that is removed again.
fn sync_time(folder: &Path) -> SyncTime {
    let measure = || -> std::io::Result<Duration> {
        let mut file = tempfile::Builder::new().prefix(".copydesk-doctor-").tempfile_in(folder)?;
        let mut times = Vec::with_capacity(SYNCS);
        for _ in 0..SYNCS {
            file.write_all(&PAGE)?;
            let began = Instant::now();
            file.as_file().sync_data()?;
            times.push(began.elapsed());
        }
        times.sort();
        Ok(times[SYNCS / 2])
    };
    measure().map_err(|error| match error.get_ref() {
        // Without the name of the file, which says nothing.
        Some(_) => std::io::Error::from(error.kind()).to_string(),
        None => error.to_string(),
    })
}

pub(super) async fn named_files(config: &ServerConfig) -> Vec<DoctorFinding> {
    let tls = config.tls.iter().flat_map(|it| [&it.certificate, &it.key]);
    let files = tls.chain(&config.node_ca).chain(&config.prices);
    let mut findings = Vec::new();
    for path in files {
        findings.push(match tokio::fs::read(path).await {
            Ok(_) => DoctorFinding::ok("file", format!("{} can be read", path.display())),
            Err(error) => DoctorFinding::wrong(
                "file",
                format!("{} cannot be read: {error}", path.display()),
                "give the user of the server the right to read it, or name another file",
            ),
        });
    }
    if let Some(folder) = &config.workspace {
        findings.push(if folder.is_dir() {
            DoctorFinding::ok("workspace", format!("{} is there", folder.display()))
        } else {
            DoctorFinding::wrong(
                "workspace",
                format!("{} is no folder", folder.display()),
                "create it, or name another one with --workspace",
            )
        });
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sync_is_measured_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert!(sync_time(folder.path()).is_ok());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_is_a_file_cannot_be_written() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(!sync_time(file.path()).unwrap_err().contains("copydesk-doctor"));
    }
}
