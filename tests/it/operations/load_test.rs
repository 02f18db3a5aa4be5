//! `copydesk bench`: the real binary measures a server, its own or one that runs.

use std::process::Output;

use serde_json::Value;

use crate::support::{OWNER, RestClient, Role, TestServer, copydesk_command, output_of};

/// A test that takes two seconds.
const SMALL: [&str; 9] =
    ["bench", "--documents", "2", "--seconds", "1", "--edits", "10", "--text", "500"];

fn benches(options: &[&str]) -> Output {
    let mut command = copydesk_command();
    command.args(SMALL).args(options).output().expect("the binary is built")
}

#[track_caller]
fn report(options: &[&str]) -> Value {
    let output = benches(&[options, &["--json"]].concat());
    serde_json::from_str(&output_of(&output, 0).0).expect("JSON")
}

/// The figures of a report agree with each other and with what was asked for.
#[track_caller]
fn is_consistent(report: &Value) {
    let number = |path: &str| report.pointer(path).and_then(Value::as_f64).expect(path);
    assert_eq!((number("/edits/lost"), number("/deliveries/missing")), (0.0, 0.0), "{report}");
    let are_equal = |one: &str, other: &str| (number(one) - number(other)).abs() < 0.5;
    assert!(are_equal("/edits/acknowledged", "/edits/planned"), "{report}");
    for kind in ["keystrokeToAcknowledgement", "keystrokeToEveryone", "decisionToEveryone"] {
        let ms = |name: &str| number(&format!("/times/{kind}/{name}"));
        assert!(ms("count") >= 1.0, "{kind}: {report}");
        assert!(0.0 < ms("p50Ms") && ms("p50Ms") <= ms("p95Ms"), "{kind}: {report}");
        assert!(ms("p95Ms") <= ms("p99Ms") && ms("p99Ms") <= ms("longestMs"), "{kind}: {report}");
    }
    assert!(are_equal("/times/keystrokeToEveryone/count", "/edits/acknowledged"), "{report}");
    assert!(number("/deliveries/bytesEach") > 20.0, "{report}");
}

#[test]
fn a_small_test_of_a_server_of_its_own_loses_nothing_and_removes_its_data() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    // A decision in the measured second, whatever the machine does.
    let report = report(&["--data", place, "--decisions", "600"]);
    is_consistent(&report);
    assert_eq!(report["edits"]["planned"], 40.0);
    assert!(report["server"]["cpuMsPerEdit"].as_f64().unwrap() > 0.0, "{report}");
    assert!(report["server"]["memoryMb"].as_f64().unwrap() > 5.0, "{report}");
    assert!(report["server"]["data"].as_str().unwrap().starts_with(place), "{report}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "its data are gone");
}

#[test]
fn a_running_server_is_as_before_when_it_was_tested() {
    let copydesk = TestServer::quiet();
    let hand = RestClient::new(&copydesk, OWNER);
    let titles = || hand.gets("documents").ok()["documents"].clone();
    let before = titles();
    let on = ["--url", copydesk.url(), "--token", OWNER, "--decisions", "600"];
    let long = report(&[&on[..], &["--capabilities", "off"]].concat());
    is_consistent(&long);
    assert_eq!(long["server"]["cpuMsPerEdit"], Value::Null, "no one said which process it is");
    assert_eq!(titles(), before);
    let short = report(&on);
    is_consistent(&short);
    let bytes = |report: &Value| report["deliveries"]["bytesEach"].as_f64().unwrap();
    assert!(bytes(&short) < bytes(&long), "{short} {long}");
}

#[test]
fn people_are_shown_a_table_that_explains_itself() {
    let (table, complaint) = output_of(&benches(&["--reviewers", "0"]), 0);
    for words in
        ["keystroke → acknowledged", "95 %", "processor time for each keystroke", "edits lost"]
    {
        assert!(table.contains(words), "{words}: {table}");
    }
    assert!(!table.contains("decision →"), "no one decided: {table}");
    assert_eq!(complaint, "");
    assert!(table.lines().all(|line| line.chars().count() <= 104), "{table}");
}

#[test]
fn senseless_options_are_refused_before_anything_starts() {
    for (options, words) in [
        (&["--documents", "0"][..], "0 is not in 1..=10000"),
        (&["--seconds", "601"], "601 is not in"),
        (&["--edits", "nan"], "from 0.01 to 100"),
        (&["--edits", "many"], "must be a number"),
        (&["--decisions", "0"], "from 0.01 to 600"),
        (&["--writers", "-1"], "-1"),
        (&["--writers", "0", "--reviewers", "0"], "nobody would change anything"),
        (&["--readers", "10000", "--documents", "3"], "are too many"),
        (&["--capabilities", "some"], "some"),
        (&["--url", "http://127.0.0.1:1"], "--token"),
        (&["--server-process", "1"], "--url"),
        (&["--url", "http://127.0.0.1:1", "--token", "x", "--data", "."], "--data"),
    ] {
        let mut bench = copydesk_command();
        bench.arg("bench").args(options).env_remove("COPYDESK_TOKEN");
        let (_, complaint) = output_of(&bench.output().unwrap(), 2);
        assert!(complaint.contains(words), "{options:?}: {complaint}");
    }
}

#[test]
fn a_server_that_refuses_or_does_not_answer_is_named_in_one_line() {
    let copydesk = TestServer::quiet();
    let editor = copydesk.token("Ana", Role::Editor, &[]);
    let url = copydesk.url();
    let no_folder = ["--data", "/nowhere/at/all"];
    for (options, words) in [
        (&["--url", url, "--token", "nobody's"][..], "the server refused"),
        (&["--url", url, "--token", &editor], "the token of an owner"),
        (&["--url", "http://127.0.0.1:1", "--token", "x"], "is it running?"),
        (&["--url", "nowhere", "--token", "x"], "write http://HOST:PORT"),
        (&no_folder, "cannot start a server"),
    ] {
        let (table, complaint) = output_of(&benches(options), 1);
        assert!(complaint.contains(words) && table.is_empty(), "{options:?}: {complaint}");
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
    }
    assert_eq!(
        RestClient::new(&copydesk, OWNER).gets("documents").ok()["documents"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}
