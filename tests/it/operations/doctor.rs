//! Stories about `copydesk doctor`: what it says of a machine on which all is well, and of one on
//! which something has to be mended.

use std::net::TcpListener;
use std::process::Command;

use serde_json::Value;

use crate::support::{OWNER, StoryDatabase, TestServer, copydesk_command, output_of};

/// The doctor without a database of the story, so that it knows only what a story names.
fn doctor(words: &[&str]) -> Command {
    let mut command = copydesk_command();
    command.args(["doctor", "--json"]).args(words).env_remove("COPYDESK_DATABASE_URL");
    command
}

/// The findings about one thing.
fn about<'a>(report: &'a Value, check: &str) -> Vec<&'a Value> {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().filter(|it| it["check"] == check).collect()
}

fn report_of(mut command: Command, code: i32) -> Value {
    let (printed, complaint) = output_of(&command.output().unwrap(), code);
    assert_eq!(complaint, "");
    serde_json::from_str(&printed).unwrap()
}

#[test]
fn on_a_new_machine_all_is_well_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = doctor(&["--model", "harper", "--listen", "127.0.0.1:0"]);
    command.current_dir(folder.path());
    let report = report_of(command, 0);
    for check in ["port", "data", "model"] {
        let [finding] = about(&report, check)[..] else { panic!("{report}") };
        assert_eq!(finding["state"], "ok", "{report}");
    }
    assert_eq!(about(&report, "disk").len() + about(&report, "files").len(), 2);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);

    let mut command = copydesk_command();
    command.args(["doctor", "--listen", "127.0.0.1:0"]).current_dir(folder.path());
    command.env_remove("COPYDESK_DATABASE_URL");
    let printed = output_of(&command.output().unwrap(), 0).0;
    assert!(printed.starts_with("ok      port: ") && printed.ends_with("nothing to mend\n"));
}

#[test]
fn what_has_to_be_mended_is_said_with_a_way_to_mend_it_and_without_keys() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let nothing = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    std::fs::write(folder.path().join("data"), "a file").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    let url = format!("http://{nothing}");
    let mut command = doctor(&["--listen", &listen, "--data", "data", "--cluster"]);
    command
        .args(["--database-url", &format!("postgres://desk:s3cret@{nothing}/desk")])
        .args(["--redis-url", &format!("redis://:s3cret@{nothing}"), "--workspace", "nowhere"])
        .args(["--model", "anthropic", "--url", &url])
        .env("ANTHROPIC_API_KEY", "sk-s3cret")
        .env("ANTHROPIC_BASE_URL", &url)
        .current_dir(folder.path());
    let report = report_of(command, 1);
    for check in ["port", "data", "database", "redis", "workspace", "model", "url"] {
        let finding = about(&report, check)[0];
        assert_eq!(finding["state"], "wrong", "{check}: {report}");
        assert!(finding["remedy"].as_str().is_some_and(|it| it.len() > 10), "{report}");
    }
    assert!(!report.to_string().contains("s3cret"), "{report}");

    // Options that contradict each other are a finding too.
    let report = report_of(doctor(&["--redis-url", "redis://127.0.0.1"]), 1);
    assert!(about(&report, "options")[0]["message"].as_str().unwrap().contains("--cluster"));
}

#[test]
fn a_running_server_is_recognised_and_asked() {
    let copydesk = TestServer::plan().model("harper").start();
    let data = copydesk.data().display().to_string();
    let words = ["--listen", copydesk.address(), "--data", &data, "--model", "harper"];
    let mut command = doctor(&words);
    command.args(["--url", copydesk.url(), "--token", OWNER]);
    let report = report_of(command, 0);
    assert!(about(&report, "port")[0]["message"].as_str().unwrap().contains("Copydesk server"));
    assert_eq!(about(&report, "websocket")[0]["state"], "ok");
    assert_eq!(about(&report, "host")[0]["state"], "ok");
    // There is no proxy, which sets these.
    assert!(about(&report, "headers").iter().all(|it| it["state"] == "remark"), "{report}");
}

#[test]
fn a_postgresql_server_is_named_with_its_version_and_its_clock_compared() {
    let Some(database) = StoryDatabase::on_postgres() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut command = doctor(&["--listen", "127.0.0.1:0", "--database-url", &database.url()]);
    command.current_dir(folder.path());
    // The log may say that the server of the tests does not wait for its disk.
    let (printed, _) = output_of(&command.output().unwrap(), 0);
    let report: Value = serde_json::from_str(&printed).unwrap();
    let words = about(&report, "database")[0]["message"].as_str().unwrap();
    assert!(words.starts_with("PostgreSQL 1"), "{words}");
    assert_eq!(about(&report, "clock")[0]["state"], "ok");
}
