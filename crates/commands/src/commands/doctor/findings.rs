//! Findings of `copydesk doctor`, made of what the probes have measured.

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use copydesk_store::PostgresServer;

/// Time of a disk sync above which every keystroke waits for the disk noticeably.
const SLOW_SYNC: Duration = Duration::from_millis(25);
/// Time between a question to PostgreSQL and its answer above which every keystroke waits for it.
const SLOW_DATABASE: Duration = Duration::from_millis(20);
/// Open files below which the system ends the growth of a server sooner than its processor does.
const FEW_FILES: usize = 4096;
/// Difference of two clocks that does no harm, in milliseconds. The header `Date` has seconds.
const CLOCK_TOLERANCE_MS: u64 = 5_000;

/// One examined thing, and its state in plain words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct DoctorFinding {
    pub check: &'static str,
    pub state: FindingState,
    /// State in words.
    pub message: String,
    /// Way to mend it; `None` if there is nothing to mend.
    pub remedy: Option<String>,
}

/// State of an examined thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FindingState {
    /// All is well.
    Ok,
    /// The server works, but slowly or with less than it could have.
    Remark,
    /// The server does not start, or a part of it does not work.
    Wrong,
}

impl DoctorFinding {
    pub fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self { check, state: FindingState::Ok, message: message.into(), remedy: None }
    }

    pub fn remark(
        check: &'static str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let remedy = Some(remedy.into());
        Self { check, state: FindingState::Remark, message: message.into(), remedy }
    }

    pub fn wrong(
        check: &'static str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let remedy = Some(remedy.into());
        Self { check, state: FindingState::Wrong, message: message.into(), remedy }
    }
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct DoctorReport {
    pub findings: Vec<DoctorFinding>,
}

impl fmt::Display for DoctorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for DoctorFinding { check, state, message, remedy } in &self.findings {
            let state = match state {
                FindingState::Ok => "ok",
                FindingState::Remark => "remark",
                FindingState::Wrong => "WRONG",
            };
            writeln!(f, "{state:<7} {check}: {message}")?;
            if let Some(remedy) = remedy {
                writeln!(f, "{:<7} → {remedy}", "")?;
            }
        }
        match self.findings.iter().filter(|it| it.state == FindingState::Wrong).count() {
            0 => writeln!(f, "nothing to mend"),
            count => writeln!(f, "{count} to mend"),
        }
    }
}

/// Outcome of the attempt to listen on an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PortState {
    /// Nothing listens there.
    Free,
    /// A Copydesk server listens there already.
    Served,
    /// Another program listens there.
    Taken,
    /// The system refuses it, for this reason.
    Refused(String),
}

pub(super) fn port(address: SocketAddr, state: &PortState) -> DoctorFinding {
    match state {
        PortState::Free if address.port() == 0 => {
            DoctorFinding::ok("port", "the system chooses a free one")
        }
        PortState::Free => DoctorFinding::ok("port", format!("{address} is free")),
        PortState::Served => {
            DoctorFinding::ok("port", format!("a Copydesk server listens on {address} already"))
        }
        PortState::Taken => DoctorFinding::wrong(
            "port",
            format!("another program listens on {address}"),
            "end that program, or choose another address with --listen",
        ),
        PortState::Refused(reason) => DoctorFinding::wrong(
            "port",
            format!("cannot listen on {address}: {reason}"),
            "choose an address of this machine with --listen, and a port from 1024 on; a proxy can \
             have port 443",
        ),
    }
}

/// Median time of a disk sync in a data folder, or the reason why it cannot be written.
pub(super) type SyncTime = Result<Duration, String>;

pub(super) fn data_folder(folder: &Path, is_there: bool, sync: &SyncTime) -> Vec<DoctorFinding> {
    let folder = folder.display();
    let sync = match sync {
        Ok(sync) => *sync,
        Err(reason) => {
            return vec![DoctorFinding::wrong(
                "data",
                format!("{folder} cannot be written: {reason}"),
                "give the user of the server the folder (chown), or choose another one with --data",
            )];
        }
    };
    let state = if is_there { "can be written" } else { "is not there yet and can be created" };
    let words = format!("a sync takes {}", milliseconds(sync));
    let disk = if sync > SLOW_SYNC {
        DoctorFinding::remark(
            "disk",
            format!("{words}: slow, and each change waits for one"),
            "put the data directory on a local SSD, not on a network drive or an SD card",
        )
    } else {
        DoctorFinding::ok("disk", words)
    };
    vec![DoctorFinding::ok("data", format!("{folder} {state}")), disk]
}

pub(super) fn open_files(limit: Option<usize>) -> DoctorFinding {
    match limit {
        Some(limit) if limit < FEW_FILES => DoctorFinding::remark(
            "files",
            format!("the system lets the server open {limit} files and connections"),
            "for more people, raise it: `ulimit -n 65536` in a shell, LimitNOFILE=65536 in systemd",
        ),
        Some(limit) => DoctorFinding::ok("files", format!("{limit} may be open at once")),
        None => DoctorFinding::ok("files", "the system sets no limit"),
    }
}

/// Compares this machine's clock with another one. `offset_ms`: this clock minus the other one.
pub(super) fn clock(other: &str, offset_ms: i64) -> DoctorFinding {
    if offset_ms.unsigned_abs() <= CLOCK_TOLERANCE_MS {
        return DoctorFinding::ok("clock", format!("agrees with that of {other}"));
    }
    let seconds = offset_ms.unsigned_abs() / 1_000;
    let side = if offset_ms > 0 { "ahead of" } else { "behind" };
    DoctorFinding::wrong(
        "clock",
        format!("{seconds} s {side} that of {other}"),
        "set both with NTP (`timedatectl set-ntp true`): tokens and sign-ins end by the clock",
    )
}

pub(super) fn database(name: &str, asked: Result<&PostgresServer, String>) -> DoctorFinding {
    let server = match asked {
        Ok(server) => server,
        Err(reason) => {
            return DoctorFinding::wrong("database", reason, "see docs/postgresql.md");
        }
    };
    let words = format!(
        "PostgreSQL {} at {name} answers in {}",
        server.version,
        milliseconds(server.round_trip)
    );
    if !server.fsync {
        return DoctorFinding::remark(
            "database",
            format!("{words}; its fsync is off, so a loss of power loses changes"),
            "switch fsync on in postgresql.conf",
        );
    }
    if server.round_trip > SLOW_DATABASE {
        return DoctorFinding::remark(
            "database",
            format!("{words}: slow, and each change waits for it"),
            "put the server and the database into one network",
        );
    }
    DoctorFinding::ok("database", words)
}

pub(super) fn redis(name: &str, asked: Result<(), String>) -> DoctorFinding {
    match asked {
        Ok(()) => DoctorFinding::ok("redis", format!("{name} answers")),
        Err(reason) => DoctorFinding::wrong(
            "redis",
            reason,
            "start it, or leave --redis-url out: then PostgreSQL carries the messages",
        ),
    }
}

/// `count`: models that the provider lists; `None` where there is no list.
pub(super) fn model(name: &str, asked: &Result<Option<usize>, String>) -> DoctorFinding {
    match asked {
        Ok(None) => DoctorFinding::ok("model", format!("{name} is there")),
        Ok(Some(count)) => {
            DoctorFinding::ok("model", format!("{name} answers and lists {count} models"))
        }
        Err(reason) => DoctorFinding::wrong(
            "model",
            format!("{name}: {reason}"),
            "check its address, its key and the network; see docs/models.md",
        ),
    }
}

/// Formats a time in milliseconds, with one digit below ten.
fn milliseconds(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1_000.0;
    if milliseconds < 10.0 {
        format!("{milliseconds:.1} ms")
    } else {
        format!("{milliseconds:.0} ms")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(findings: &[DoctorFinding]) -> Vec<FindingState> {
        findings.iter().map(|it| it.state).collect()
    }

    #[test]
    fn a_port_is_free_or_served_or_something_has_to_be_mended() {
        let at = |state| port("127.0.0.1:4680".parse().unwrap(), &state);
        assert_eq!(at(PortState::Free).message, "127.0.0.1:4680 is free");
        assert_eq!(at(PortState::Served).state, FindingState::Ok);
        let taken = at(PortState::Taken);
        assert_eq!(taken.state, FindingState::Wrong);
        assert!(taken.remedy.unwrap().contains("--listen"));
        let refused = at(PortState::Refused("permission denied".to_owned()));
        assert!(refused.message.ends_with("permission denied"), "{refused:?}");
        assert!(port("127.0.0.1:0".parse().unwrap(), &PortState::Free).message.contains("system"));
    }

    #[test]
    fn a_slow_disk_is_a_remark_and_one_that_cannot_be_written_is_wrong() {
        let at = |sync| data_folder(Path::new("/srv/desk"), false, &sync);
        let fast = at(Ok(Duration::from_micros(400)));
        assert_eq!(states(&fast), [FindingState::Ok, FindingState::Ok]);
        assert_eq!(fast[0].message, "/srv/desk is not there yet and can be created");
        assert_eq!(fast[1].message, "a sync takes 0.4 ms");
        let slow = at(Ok(Duration::from_millis(80)));
        assert_eq!(states(&slow), [FindingState::Ok, FindingState::Remark]);
        assert!(slow[1].message.starts_with("a sync takes 80 ms: slow"), "{slow:?}");
        let refused = at(Err("permission denied".to_owned()));
        assert_eq!(states(&refused), [FindingState::Wrong]);
    }

    #[test]
    fn few_open_files_are_a_remark() {
        assert_eq!(open_files(None).state, FindingState::Ok);
        assert_eq!(open_files(Some(65_536)).state, FindingState::Ok);
        let few = open_files(Some(1_024));
        assert_eq!(few.state, FindingState::Remark);
        assert!(few.message.contains("1024") && few.remedy.unwrap().contains("ulimit -n"));
    }

    #[test]
    fn a_clock_may_differ_by_seconds_only() {
        assert_eq!(clock("PostgreSQL", -900).state, FindingState::Ok);
        let ahead = clock("PostgreSQL", 61_000);
        assert_eq!(ahead.state, FindingState::Wrong);
        assert_eq!(ahead.message, "61 s ahead of that of PostgreSQL");
        assert_eq!(clock("the proxy", -7_000).message, "7 s behind that of the proxy");
    }

    #[test]
    fn a_database_is_named_with_its_version_and_what_is_slow_or_unsafe() {
        let server = |fsync, ms| PostgresServer {
            version: "17.2".to_owned(),
            now_ms: 0,
            fsync,
            round_trip: Duration::from_millis(ms),
        };
        let found = |server: PostgresServer| database("postgres://db/desk", Ok(&server));
        let fine = found(server(true, 1));
        assert_eq!(fine.message, "PostgreSQL 17.2 at postgres://db/desk answers in 1.0 ms");
        assert_eq!(fine.state, FindingState::Ok);
        assert!(found(server(true, 90)).message.contains("slow"));
        assert_eq!(found(server(false, 1)).state, FindingState::Remark);
        let away = database("postgres://db/desk", Err("cannot reach it".to_owned()));
        assert_eq!((away.state, away.message.as_str()), (FindingState::Wrong, "cannot reach it"));
    }

    #[test]
    fn services_that_do_not_answer_are_wrong() {
        assert_eq!(redis("redis://a", Ok(())).message, "redis://a answers");
        assert_eq!(redis("redis://a", Err("gone".to_owned())).state, FindingState::Wrong);
        assert_eq!(model("harper", &Ok(None)).message, "harper is there");
        assert!(model("openai", &Ok(Some(3))).message.contains("3 models"));
        let refused = model("anthropic", &Err("its key is refused".to_owned()));
        assert_eq!(refused.message, "anthropic: its key is refused");
    }

    #[test]
    fn a_report_counts_what_has_to_be_mended() {
        let findings = vec![
            DoctorFinding::ok("port", "free"),
            DoctorFinding::wrong("data", "it cannot be written", "chown it"),
        ];
        let report = DoctorReport { findings };
        assert_eq!(
            report.to_string(),
            "ok      port: free\nWRONG   data: it cannot be written\n        → chown it\n1 to mend\n"
        );
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["findings"][1]["state"], "wrong");
        assert!(json["findings"][0]["remedy"].is_null());
    }
}
