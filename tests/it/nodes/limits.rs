//! Stories about the limits on the requests of one person, which several servers count together.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Role, Server, StoryDatabase, TestServer, http};

/// Number of requests that a person may make at once.
const BURST: usize = 1_000;
/// Requests of a person per second that are always admitted.
const BELOW_RATE: f64 = 90.0;
/// Number of clients that ask at the same time.
const CONCURRENT_CLIENTS: usize = 6;
/// Longest time, on a busy machine, until a server knows what another one has counted.
const TIMEOUT: Duration = Duration::from_mins(1);

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
fn who_asks_too_much_of_one_server_is_refused_by_the_other_and_no_one_else_is() {
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
            let late = refusals.recv_timeout(TIMEOUT);
            // Alone, the other server would admit a whole burst.
            let admitted = (0..BURST).take_while(|_| admits(second.address(), &ana, path)).count();
            let others = [first.address(), second.address()].map(|it| admits(it, &ben, path));
            is_enough.store(true, Ordering::Relaxed);
            let took = late.expect("at some time it is too much").elapsed();
            println!("{path}: refused by the other server after {admitted} requests, {took:?}");
            assert!(admitted < BURST, "{admitted}");
            assert_eq!(others, [true; 2]);
        });
        let until = Instant::now() + TIMEOUT;
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
    let (began, admitted) = (Instant::now(), AtomicUsize::new(0));
    // When the first one was refused, how many had been admitted.
    let refused = OnceLock::new();
    thread::scope(|scope| {
        for _ in 0..CONCURRENT_CLIENTS {
            scope.spawn(|| {
                while refused.get().is_none() && admitted.load(Ordering::Relaxed) < 2 * BURST {
                    let since = began.elapsed();
                    if admits(second.address(), &reader, &path) {
                        admitted.fetch_add(1, Ordering::Relaxed);
                    } else {
                        refused.set((admitted.load(Ordering::Relaxed), since)).ok();
                    }
                }
            });
        }
    });
    // A slow machine asks less often than it may, and is never refused.
    let Some((admitted, since)) = refused.get() else { return };
    println!("refused after {admitted} requests, {since:?}");
    // Counted twice, half as many are admitted.
    let least = 0.9 * (BURST as f64 + BELOW_RATE * since.as_secs_f64());
    assert!(*admitted as f64 > least, "{admitted} in {since:?}");
}
