//! Stories about `/metrics`: what Prometheus reads there, and who may.

use std::collections::BTreeMap;

use serde_json::json;

use copydesk_metrics as metrics;

use crate::support::{OWNER, Role, Script, StoryDatabase, TestServer, http};

const TEXT: &str = "Teh keeper wrote every night.\n";
const TOKEN: &str = "scraper-secret-of-the-stories";

/// Samples by their names, with the labels in them.
type Samples = BTreeMap<String, f64>;

fn scrape(address: &str, token: &str) -> http::Response {
    let bearer = format!("Bearer {token}");
    http::ask(address, "GET /metrics", &[("Host", address), ("Authorization", &bearer)])
}

/// Returns what Prometheus would take from a text; fails where its parser would.
fn read(text: &str) -> Samples {
    let mut samples = Samples::new();
    let mut family: Option<(&str, &str)> = None;
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            assert!(help.split_once(' ').is_some_and(|(_, help)| !help.is_empty()), "{line}");
            continue;
        }
        if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').expect("a name and a type");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            family = Some((name, kind));
            continue;
        }
        let (sample, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line:?}"));
        let (family, kind) = family.expect("a type comes first");
        let (name, label) = sample.split_once('{').map_or((sample, None), |(n, l)| (n, Some(l)));
        let suffix = name.strip_prefix(family).unwrap_or_else(|| panic!("{line} after {family}"));
        match (kind, suffix, label) {
            ("counter" | "gauge", "", None) | ("histogram", "_sum" | "_count", None) => {}
            ("histogram", "_bucket", Some(label)) => {
                let bound = label.strip_prefix("le=\"").and_then(|rest| rest.strip_suffix("\"}"));
                let bound = bound.unwrap_or_else(|| panic!("no label but `le`: {line}"));
                assert!(bound == "+Inf" || bound.parse::<f64>().is_ok(), "{line}");
            }
            _ => panic!("{line} in a {kind}"),
        }
        let value: f64 = value.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
        assert!(samples.insert(sample.to_owned(), value).is_none(), "{line} is there twice");
    }
    samples
}

/// A sample that is a count.
fn count(samples: &Samples, name: &str) -> i64 {
    samples.get(name).unwrap_or_else(|| panic!("there is no {name} in {samples:?}")).round() as i64
}

fn samples(copydesk: &TestServer) -> Samples {
    let answer = scrape(copydesk.address(), OWNER);
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.head.contains("content-type: text/plain; version=0.0.4"), "{}", answer.head);
    read(&answer.body)
}

#[test]
fn numbers_grow_with_what_people_do() {
    let input = json!({"new_content": "The keeper wrote every night.\n", "explanation": "x"});
    let call = json!({"type": "tool_use", "name": "update_full_document", "input": input});
    let turn = json!({"when": {"user": "."}, "content": [call]});
    let copydesk = TestServer::scripted(Script::default().turn(turn).closing("Done."));
    let before = samples(&copydesk);
    for none in ["copydesk_keystroke_seconds_count", "copydesk_decision_seconds_count"] {
        assert_eq!(count(&before, none), 0);
    }

    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(TEXT));
    for at in 0..5 {
        ana.types(at, "a");
    }
    ana.pushes(ana.version(), &[json!([7, [0, "x"]])]).refused();
    ana.asks("Fix it");
    let request = ana.sees_request();
    let open = samples(&copydesk);
    assert_eq!(count(&open, "copydesk_pending_requests"), 1);
    assert_eq!(count(&open, "copydesk_runs"), 1);
    ben.accepts_all(&request);
    ana.sees_resolved(&request);

    let now = samples(&copydesk);
    let grew = |name: &str| now[name] - before[name];
    assert!(now["copydesk_keystroke_seconds_count"] >= 5.0, "{now:?}");
    assert!(now["copydesk_keystroke_seconds_sum"] > 0.0, "{now:?}");
    assert_eq!(count(&now, "copydesk_keystrokes_refused_total"), 1);
    assert_eq!(count(&now, "copydesk_decision_seconds_count"), 1);
    assert!(now["copydesk_model_call_seconds_count"] >= 1.0, "{now:?}");
    assert!(grew("copydesk_commit_seconds_count") >= 6.0, "{now:?}");
    assert!(grew("copydesk_commit_batches_sum") >= grew("copydesk_commit_seconds_count"));
    assert!(grew("process_cpu_seconds_total") > 0.0, "{now:?}");
    assert!(now["process_resident_memory_bytes"] > 1e6 && now["process_open_fds"] > 3.0);
    // The document and the workspace inbox, with two people in each.
    assert!(now["copydesk_rooms"] >= 1.0 && now["copydesk_room_members"] >= 2.0, "{now:?}");
    assert_eq!(count(&now, "copydesk_sockets"), 2);
    assert!(count(&now, "copydesk_connections") >= 3, "{now:?}");
    assert_eq!(count(&now, "copydesk_pending_requests"), 0);
    assert_eq!(count(&now, "copydesk_database_up"), 1);
    assert_eq!(count(&now, "copydesk_nodes"), 1);
}

#[test]
fn every_histogram_adds_up() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    ana.creates(TEXT);
    ana.types(0, "a");
    let samples = samples(&copydesk);
    let all = samples.keys().filter_map(|name| name.strip_suffix("_bucket{le=\"+Inf\"}"));
    let all: Vec<_> = all.collect();
    assert!(all.len() >= 5, "{all:?}");
    for name in all {
        let bucket = |(key, count): (&String, &f64)| {
            let bound =
                key.strip_prefix(name)?.strip_prefix("_bucket{le=\"")?.strip_suffix("\"}")?;
            Some((bound.parse().unwrap_or(f64::INFINITY), *count))
        };
        let mut buckets: Vec<(f64, f64)> = samples.iter().filter_map(bucket).collect();
        buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(buckets.is_sorted_by(|a, b| a.1 <= b.1), "{name}: {buckets:?}");
        let last = buckets.last().expect("a bucket").1;
        assert!((samples[&format!("{name}_count")] - last).abs() < f64::EPSILON, "{name}");
    }
}

#[test]
fn metrics_are_for_owners_and_for_the_token_of_metrics() {
    let copydesk = TestServer::plan().flags(&["--metrics-token", TOKEN]).start();
    let address = copydesk.address();
    for role in [Role::Editor, Role::Reviewer, Role::Viewer] {
        let refused = scrape(address, &copydesk.token("Ed", role, &[]));
        assert_eq!(refused.status, 403, "{}", refused.body);
        assert!(!refused.body.contains("copydesk_"), "{}", refused.body);
    }
    assert_eq!(scrape(address, "wrong").status, 401);
    assert_eq!(http::get(address, "/metrics").status, 401);
    assert_eq!(http::get(address, &format!("/metrics?token={TOKEN}")).status, 401);
    assert_eq!(scrape(address, OWNER).status, 200);
    assert_eq!(scrape(address, TOKEN).status, 200);
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("Host", address), ("Authorization", bearer.as_str())];
    for other in ["GET /api/v1/settings", "GET /api/v1/documents", "GET /v1/models"] {
        assert_eq!(http::ask(address, other, &headers).status, 401, "{other}");
    }
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        let refused = http::ask(address, &format!("{method} /metrics"), &headers);
        assert_eq!(refused.status, 405, "{method}");
        assert!(refused.head.to_lowercase().contains("allow: get"), "{}", refused.head);
    }
}

#[test]
fn without_a_token_for_metrics_only_owners_read_them() {
    let copydesk = TestServer::quiet();
    assert_eq!(scrape(copydesk.address(), TOKEN).status, 401);
    assert_eq!(scrape(copydesk.address(), "").status, 401);
    assert_eq!(scrape(copydesk.address(), OWNER).status, 200);
}

#[test]
fn nothing_of_people_and_documents_is_in_the_metrics() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Anastasia");
    let document = ana.creates("A secret sentence.\n");
    ana.types(0, "a");
    ana.is_answered("A secret prompt", &json!({"documentId": document}));
    let text = scrape(copydesk.address(), OWNER).body;
    for secret in [&document, "Anastasia", &ana.token, OWNER, "secret", &ana.session()] {
        assert!(!text.contains(secret), "{secret:?} is in {text}");
    }
}

#[test]
fn a_server_of_several_counts_what_it_passes_on() {
    let Some(database) = StoryDatabase::on_postgres() else { return };
    let first = TestServer::plan().flags(&["--cluster"]).start_on(Some(database));
    let second = first.another_node();
    let ana = first.editor("Ana");
    let document = ana.creates("");
    let token = first.token("Ben", Role::Editor, &[]);
    let ben = crate::support::Person::arrive(&second.url, &token, "Ben");
    ben.opens(&document);
    for at in 0..3 {
        ben.types(at, "b");
    }
    let here = samples(&first);
    let there = read(&scrape(second.address(), OWNER).body);
    assert_eq!(count(&here, "copydesk_keystroke_seconds_count"), 3);
    assert!(here["copydesk_node_documents"] >= 1.0, "{here:?}");
    assert!(there["copydesk_relayed_events_total"] >= 4.0, "{there:?}");
    assert_eq!(count(&there, "copydesk_relayed_keystroke_seconds_count"), 3);
    assert_eq!(count(&there, "copydesk_keystroke_seconds_count"), 0);
    for samples in [&here, &there] {
        assert!(samples["copydesk_node_lag_seconds"] < 10.0, "{samples:?}");
    }
    assert_eq!(count(&there, "copydesk_nodes"), 2);
}

#[test]
fn every_metric_is_documented() {
    let page = include_str!("../../../docs/operations.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let is_metric = |name: &&str| name.starts_with("copydesk_") || name.starts_with("process_");
    let documented: Vec<_> = rows.filter(is_metric).collect();
    assert_eq!(documented, metrics::NAMES, "docs/operations.md and crates/metrics/src/lib.rs");
}
