//! Stories about two servers that tell each other things over Redis: at once while it is there,
//! within two seconds while it is not.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{
    Person, PrivateRedis, REDIS_PASSWORD, Role, Server, StoryDatabase, TestServer,
    copydesk_command, found,
};

/// Time in which a change is found in the database: two seconds, and what a busy machine takes.
const FLOOR: Duration = Duration::from_secs(10);
/// Settings that are changed.
const CHANGES: u64 = 10;
/// Line of the log about a message that was carried to a server before it was found in the
/// database, where servers look once a second. A busy machine may be late with some.
const CARRIED: &str = "was carried here";
const MOST: usize = 5;

/// Two servers with a Redis of their own.
struct NodesWithRedis {
    redis: PrivateRedis,
    first: TestServer,
    second: Server,
}

fn start_nodes() -> Option<NodesWithRedis> {
    let redis = PrivateRedis::start()?;
    let database = StoryDatabase::on_postgres()?;
    let plan = TestServer::plan().flags(&["--cluster"]).variable("COPYDESK_LOG", "debug");
    let first = plan.variable("COPYDESK_REDIS_URL", &redis.url()).start_on(Some(database));
    let second = first.another_node();
    Some(NodesWithRedis { redis, first, second })
}

/// Changes the settings on the first server; returns how long the second takes to tell.
fn settings_arrive(owner: &Person, there: &Person, seconds: u64) -> Duration {
    let began = Instant::now();
    owner.emit("settings:set", &json!({"timeoutSeconds": seconds})).ok();
    there.sees_where("settings:changed", |it| it["settings"]["timeoutSeconds"] == seconds);
    began.elapsed()
}

/// Revokes a person's token on the first server; returns how long the second takes to end it.
fn revokes(owner: &Person, there: &Person, name: &str) -> Duration {
    let tokens = owner.emit("token:list", &json!({})).ok();
    let tokens = tokens["tokens"].as_array().unwrap();
    let his = tokens.iter().find(|it| it["name"] == name).unwrap();
    let began = Instant::now();
    owner.emit("token:revoke", &json!({"id": his["id"]})).ok();
    there.sees("sessionEnded");
    let took = began.elapsed();
    there.is_cut_off();
    took
}

impl NodesWithRedis {
    /// Changes the settings on the first server, which the second is sent over Redis.
    fn tells_at_once(&self, owner: &Person, there: &Person, first: u64) {
        let carried = || self.second.complaints().matches(CARRIED).count();
        let before = carried();
        let took: Vec<_> = (first..first + CHANGES)
            .map(|seconds| settings_arrive(owner, there, seconds))
            .collect();
        eprintln!("settings of one server known on the other after {took:?}");
        assert!(carried() >= before + MOST, "{took:?}");
    }

    fn arrives_at_second(&self, name: &str) -> Person {
        let token = self.first.token(name, Role::Editor, &[]);
        Person::arrive(&self.second.url, &token, name)
    }

    /// Waits until both servers have logged something so often.
    fn both_log(&self, line: &str, times: usize) {
        let logged = |complaints: String| complaints.matches(line).count();
        found(|| {
            let counts = (logged(self.first.complaints()), logged(self.second.complaints()));
            assert!(counts.0 <= times && counts.1 <= times, "{line}: {counts:?}");
            if counts == (times, times) { Ok(()) } else { Err((line, counts)) }
        });
    }

    fn shows_no_password(&self) {
        let said = self.first.complaints() + &self.second.complaints();
        assert!(said.contains("redis://127.0.0.1:"), "it is named:\n{said}");
        assert!(!said.contains(REDIS_PASSWORD), "{said}");
    }
}

#[test]
fn what_one_server_tells_reaches_the_other_at_once() {
    let Some(nodes) = start_nodes() else { return };
    let owner = nodes.first.owner();
    let (ben, cleo) = (nodes.arrives_at_second("Ben"), nodes.arrives_at_second("Cleo"));
    nodes.tells_at_once(&owner, &ben, 100);
    let took = revokes(&owner, &cleo, "Cleo");
    println!("a revoked token ended on the other server after {took:?}");
    let document = owner.creates("a");
    ben.sees_where("document:created", |it| it["document"]["id"] == *document);
}

/// A program that can write to Redis announces messages that servers have not sent yet. Those that
/// they send then are heard all the same.
#[test]
fn forged_messages_over_redis_make_no_server_deaf() {
    let Some(nodes) = start_nodes() else { return };
    let owner = nodes.first.owner();
    let (ben, cleo) = (nodes.arrives_at_second("Ben"), nodes.arrives_at_second("Cleo"));
    let news = ["\"leases\"", "\"settings\"", "\"tokens\"", "{\"created\":\"doc_none\"}"];
    let forged = (1..=6).flat_map(|from| (1..=2_000).map(move |number| (from, number)));
    nodes.redis.publishes(forged.flat_map(|(from, number)| {
        news.map(|news| format!("{{\"from\":{from},\"number\":{number},\"news\":{news}}}"))
    }));
    // A code that is not theirs makes no difference.
    nodes.redis.publishes((1..=2_000).map(|number| {
        let code = "0".repeat(64);
        format!("{{\"from\":1,\"number\":{number},\"news\":\"leases\",\"mac\":\"{code}\"}}")
    }));
    nodes.tells_at_once(&owner, &ben, 100);
    for approvals in ["off", "on"] {
        owner.emit("settings:set", &json!({"approvals": approvals})).ok();
        ben.sees_where("settings:changed", |it| it["settings"]["approvals"] == approvals);
    }
    let document = owner.creates("a");
    ben.sees_where("document:created", |it| it["document"]["id"] == *document);
    let took = revokes(&owner, &cleo, "Cleo");
    assert!(took < FLOOR, "{took:?}");
}

#[test]
fn redis_is_killed_while_people_type_and_nothing_is_lost_or_late() {
    let Some(mut nodes) = start_nodes() else { return };
    let (owner, ana) = (nodes.first.owner(), nodes.first.editor("Ana"));
    let (ben, cleo) = (nodes.arrives_at_second("Ben"), nodes.arrives_at_second("Cleo"));
    let document = ana.creates("");
    ben.opens(&document);
    nodes.tells_at_once(&owner, &cleo, 100);
    let type_on = |person: Person| {
        std::thread::spawn(move || {
            for _ in 0..100 {
                person.types(0, "x");
            }
            person
        })
    };
    let typing = [ana, ben].map(type_on);
    nodes.redis.is_killed();
    nodes.both_log("Redis is lost", 1);
    let took = settings_arrive(&owner, &cleo, 77);
    println!("without Redis settings are known after {took:?}");
    assert!(took < FLOOR, "{took:?}");
    let took = revokes(&owner, &cleo, "Cleo");
    println!("without Redis a revoked token ended after {took:?}");
    assert!(took < FLOOR, "{took:?}");
    let [ana, ben] = typing.map(|typing| typing.join().unwrap());
    for person in [&ana, &ben] {
        person.comes_to_version(200);
        assert_eq!(person.text(), "x".repeat(200));
    }
    // It comes back by itself, and so does what is sent at once.
    nodes.redis.starts();
    nodes.both_log("Redis is back", 1);
    nodes.tells_at_once(&owner, &ben, 200);
    nodes.both_log("Redis is lost", 1);
    nodes.shows_no_password();
}

#[test]
fn a_server_starts_without_its_redis_and_finds_it_later() {
    let Some(mut redis) = PrivateRedis::start() else { return };
    let Some(database) = StoryDatabase::on_postgres() else { return };
    redis.is_killed();
    let plan = TestServer::plan().flags(&["--cluster"]).variable("COPYDESK_LOG", "debug");
    let first = plan.variable("COPYDESK_REDIS_URL", &redis.url()).start_on(Some(database));
    let second = first.another_node();
    let mut nodes = NodesWithRedis { redis, first, second };
    nodes.both_log("Redis is lost", 1);
    let (owner, ben) = (nodes.first.owner(), nodes.arrives_at_second("Ben"));
    let took = settings_arrive(&owner, &ben, 77);
    assert!(took < FLOOR, "{took:?}");
    nodes.redis.starts();
    nodes.both_log("Redis is back", 1);
    nodes.tells_at_once(&owner, &ben, 100);
    nodes.shows_no_password();
}

#[test]
fn redis_is_refused_where_no_one_is_told_and_its_password_is_not_shown() {
    let home = tempfile::tempdir().unwrap();
    let cases: [(&[&str], &str, &str); 3] = [
        (&[], "redis://:hunter2@127.0.0.1:1", "--redis-url needs --cluster"),
        (&["--cluster"], "redis://:hunter2@127.0.0.1:1", "--cluster needs --database-url"),
        (&["--cluster"], "rediss://:hunter2@127.0.0.1:1", "TLS is not supported"),
    ];
    for (flags, url, reason) in cases {
        let mut command = copydesk_command();
        command.args(["serve", "--listen", "127.0.0.1:0", "--model", "harper"]).args(flags);
        command.env_remove("COPYDESK_DATABASE_URL").env("COPYDESK_REDIS_URL", url);
        let output = command.current_dir(home.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(reason), "{said}");
        assert!(!said.contains("hunter2") && !output.status.success(), "{said}");
    }
}
