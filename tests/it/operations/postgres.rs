//! Stories about a server with a PostgreSQL database: what the command line says, and what people
//! notice when the database is killed.

use std::process::Output;
use std::sync::mpsc;

use serde_json::json;

use crate::support::{
    PrivatePostgres, Role, StoryDatabase, TestServer, copydesk_command, replacing,
};

/// Stories that run on SQLite only, because they say so with a reason.
const ON_SQLITE_ONLY: usize = 15;

fn standard_error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn people_write_and_come_back_after_a_restart() {
    let Some(database) = StoryDatabase::on_postgres() else { return };
    let mut copydesk = TestServer::plan().start_on(Some(database));
    let ana = copydesk.editor("Ana");
    ana.creates("");
    for at in 0..30 {
        ana.types(at, "x");
    }
    copydesk.is_killed_and_restarted();
    let back = ana.comes_back(&copydesk);
    assert_eq!(back.opens(&ana.document())["document"]["text"], "x".repeat(30));
    let there = copydesk.data().join("copydesk.sqlite");
    assert!(!there.exists(), "nothing is in the data directory");
    assert_eq!(copydesk.stops().code(), Some(0));
}

#[test]
fn the_command_line_finds_the_database() {
    let Some(database) = StoryDatabase::on_postgres() else { return };
    let url = database.url();
    let copydesk = TestServer::plan().start_on(Some(database));
    let ana = copydesk.editor("Ana");
    let document = ana.creates("Dear reader,\n");
    let home = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| {
        let mut command = copydesk_command();
        command.args(words).args(["--database-url", &url]).env_remove("COPYDESK_DATABASE_URL");
        command.current_dir(home.path()).output().unwrap()
    };
    let exported = run(&["export", "--document", &document, "--format", "md"]);
    assert_eq!(String::from_utf8_lossy(&exported.stdout), "Dear reader,\n", "{exported:?}");
    let listed = run(&["token", "--list"]);
    assert!(String::from_utf8_lossy(&listed.stdout).contains("Ana"), "{listed:?}");
    let checked = run(&["check"]);
    assert!(String::from_utf8_lossy(&checked.stdout).starts_with("nothing wrong"), "{checked:?}");
    let backup = run(&["backup", "--out", "backup.sqlite"]);
    assert!(String::from_utf8_lossy(&backup.stdout).starts_with("backup.sqlite"), "{backup:?}");
    let restore = run(&["restore", "--from", "backup.sqlite"]);
    assert!(standard_error(&restore).contains("in use by another"), "{restore:?}");
    let second = run(&["serve", "--listen", "127.0.0.1:0", "--model", "harper"]);
    let said = standard_error(&second);
    assert!(said.contains("in use by another copydesk server (process "), "{said}");
    assert_eq!(second.status.code(), Some(1));
}

#[test]
fn a_wrong_address_is_refused_and_its_password_is_not_shown() {
    let home = tempfile::tempdir().unwrap();
    let cases = [
        ("mysql://anna:hunter2@127.0.0.1/desk", "must begin with postgres://"),
        ("postgres://anna:hunter2@127.0.0.1:1/desk", "cannot reach the database"),
        ("postgres://anna@127.0.0.1:1/desk?password=hunter2&timeout=1", "sslmode"),
    ];
    for (url, reason) in cases {
        for words in [&["serve", "--model", "harper"][..], &["check"], &["token", "--list"]] {
            let mut command = copydesk_command();
            command.args(words).env("COPYDESK_DATABASE_URL", url).env("COPYDESK_LOG", "debug");
            let output = command.current_dir(home.path()).output().unwrap();
            let said = standard_error(&output);
            assert!(said.contains(reason), "{words:?}: {said}");
            assert!(!said.contains("hunter2"), "{words:?}: {said}");
            assert!(!output.status.success());
        }
    }
    let settings = [
        (
            "database-url = \"postgres://anna:hunter2@127.0.0.1:1/desk\"\n",
            "cannot reach the database",
        ),
        ("\ndatabase-url = \"postgres://anna:hunter2@127.0.0.1:1/desk\n", "is not valid: line 2"),
    ];
    for (text, reason) in settings {
        std::fs::write(home.path().join("copydesk.toml"), text).unwrap();
        let mut command = copydesk_command();
        command.args(["serve", "--model", "harper"]).current_dir(home.path());
        let said = standard_error(&command.output().unwrap());
        assert!(said.contains(reason) && !said.contains("hunter2"), "{said}");
    }
}

/// PostgreSQL is killed twice while a person types. What was acknowledged is there, once.
#[test]
fn a_database_that_is_killed_loses_nothing_that_was_acknowledged() {
    let Some(mut postgres) = PrivatePostgres::start() else { return };
    let copydesk = TestServer::plan().start_on(Some(StoryDatabase::on(&postgres.url())));
    let ana = copydesk.editor("Ana");
    ana.creates("");
    let mut acknowledged = Vec::new();
    let (sender, stored) = mpsc::channel();
    let _postgres = std::thread::scope(|scope| {
        let killer = scope.spawn(move || {
            for _ in 0..2 {
                stored.iter().take(20).for_each(drop);
                postgres.is_killed();
                postgres.starts();
            }
            stored.iter().take(20).for_each(drop);
            postgres
        });
        for number in 0.. {
            let word = format!("word{number} ");
            let (version, len) = ana.page();
            if ana.pushes(version, &[replacing(len, len, len, &word)]).body()["ok"] == true {
                acknowledged.push(word);
                if sender.send(()).is_err() {
                    break;
                }
            } else {
                // What became of it is in the document, as soon as that can be read.
                let since = json!({"documentId": ana.document(), "since": ana.version()});
                ana.emit("document:open", &since);
            }
        }
        killer.join().unwrap()
    });
    let text = ana.second_window().opens(&ana.document())["document"]["text"].clone();
    let text = text.as_str().unwrap().to_owned();
    assert!(acknowledged.len() >= 60, "{}", acknowledged.len());
    for word in &acknowledged {
        assert_eq!(text.matches(word).count(), 1, "{word} in {text}");
    }
    copydesk.person("Ben", Role::Viewer).is_fine();
    drop(copydesk);
}

#[test]
fn stories_that_are_not_told_on_postgresql_are_few_and_say_why() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let (mut folders, mut count) = (vec![folder], 0);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.extend((!path.ends_with("support")).then_some(path));
            } else if path.extension().is_some_and(|it| it == "rs")
                && !path.ends_with("postgres.rs")
            {
                count += std::fs::read_to_string(path).unwrap().matches(".on_sqlite(").count();
            }
        }
    }
    assert_eq!(count, ON_SQLITE_ONLY);
}
