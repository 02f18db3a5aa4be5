//! Stories about the limits on the requests of one person, which several servers count together.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Role, Server, StoryDatabase, TestServer, http};

/// Number of requests that a person may make at once.
const BURST: usize = 1_000;
/// Requests of a person per second that are always admitted.
const BELOW_RATE: u32 = 90;
/// Number of clients that ask at the same time.
const CONCURRENT_CLIENTS: usize = 6;
/// Longest time, on a busy machine, until a server knows what another one has counted.
const PATIENCE: Duration = Duration::from_mins(1);

/// Two servers on a new database; `None` without PostgreSQL.
fn two() -> Option<(TestServer, Server)> {
    let database = StoryDatabase::on_postgres()?;
    let first = TestServer::plan().flags(&["--cluster"]).start_on(Some(database));
    let second = first.another_node();
    Some((first, second))
}

/// Returns `true` if a server admits a request; the story fails if it is refused for another
/// reason.
fn admits(address: &str, token: &str, path: &str) -> bool {
    let bearer = format!("Bearer {token}");
    let headers = [("Host", address), ("Authorization", &*bearer)];
    let answer = http::ask(address, &format!("GET {path}"), &headers);
    match answer.status {
        200 => true,
        429 => {
            let wait = answer.header("retry-after").expect("it says when");
            assert!((1..=11).contains(&wait.parse().unwrap()), "{wait}");
            false
        }
        status => panic!("{status}: {}", answer.body),
    }
}

#[test]
fn who_asks_too_much_of_one_server_is_refused_by_the_other_and_nobody_else_is() {
    let Some((first, second)) = two() else { return };
    let ben = first.token("Ben", Role::Viewer, &[]);
    for (name, path) in [("Ana", "/api/v1/me"), ("Anna", "/v1/models")] {
        let (ana, is_enough) = (first.token(name, Role::Editor, &[]), AtomicBool::new(false));
        let (refused, refusals) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..CONCURRENT_CLIENTS {
                let (refused, ana, first, is_enough) = (refused.clone(), &ana, &first, &is_enough);
                scope.spawn(move || {
                    while !is_enough.load(Ordering::Relaxed) {
                        if !admits(first.address(), ana, path) {
                            refused.send(Instant::now()).ok();
                        }
                    }
                });
            }
            let late = refusals.recv_timeout(PATIENCE);
            // Alone, the other server would admit a whole burst.
            let admitted = (0..BURST).take_while(|_| admits(second.address(), &ana, path)).count();
            let others = [first.address(), second.address()].map(|it| admits(it, &ben, path));
            is_enough.store(true, Ordering::Relaxed);
            let took = late.expect("at some time it is too much").elapsed();
            println!("{path}: refused by the other server after {admitted} requests, {took:?}");
            assert!(admitted < BURST, "{admitted}");
            assert_eq!(others, [true; 2]);
        });
        let until = Instant::now() + PATIENCE;
        for address in [first.address(), second.address()] {
            while !admits(address, &ana, path) {
                assert!(Instant::now() < until, "she is refused for ever");
            }
        }
    }
}

#[test]
fn a_request_that_is_passed_on_to_another_server_counts_once() {
    let Some((first, second)) = two() else { return };
    let ana = first.editor("Ana");
    let path = format!("/api/v1/documents/{}", ana.creates("Mine.\n"));
    let reader = first.token("Ben", Role::Viewer, &[]);
    let asked = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..CONCURRENT_CLIENTS {
            scope.spawn(|| {
                while asked.fetch_add(1, Ordering::Relaxed) < BURST - 10 * CONCURRENT_CLIENTS {
                    assert!(admits(second.address(), &reader, &path), "{asked:?}");
                }
            });
        }
    });
    // Counted twice, not even this pace would be admitted once the burst is used up, however long
    // a slow machine took for it.
    let began = Instant::now();
    for number in 0..8 * BELOW_RATE {
        let due = began + Duration::from_secs(1) / BELOW_RATE * number;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        assert!(admits(second.address(), &reader, &path), "{number} more");
    }
}
