//! Limits of the work that is done on the threads that serve connections; what is larger goes to
//! the pool ([`cpu_pool`](copydesk_cpu_pool)).

use copydesk_document::RebaseBudget;

/// Largest cost of rebasing a push outside the pool: some 0.5 ms.
pub(super) const SHORT_REBASING: RebaseBudget = RebaseBudget { steps: 50_000 };
/// Largest number of bytes of updates that are read and applied outside the pool.
pub(super) const SHORT_BYTES: usize = 64 * 1024;
/// Largest number of sections of updates that are applied outside the pool, some 0.3 µs each.
pub(super) const SHORT_SECTIONS: usize = 2_000;
/// Largest number of moves of positions (hunks, carets, frozen ranges) over updates outside the
/// pool, some 50 ns each.
pub(super) const SHORT_MOVES: usize = 10_000;
/// Largest number of hunks that are decided, stored or sent outside the pool, some 1 µs each.
pub(super) const SHORT_HUNKS: usize = 500;
/// Largest number of UTF-16 units of a text that is copied or compared outside the pool.
pub(super) const SHORT_TEXT: usize = 128 * 1024;
/// Largest number of updates that are followed outside the pool, some 5 µs each.
pub(super) const SHORT_UPDATES: usize = 100;

pub(super) fn is_long_log(updates: usize, bytes: usize) -> bool {
    updates > SHORT_UPDATES || bytes > SHORT_BYTES
}

pub(super) fn is_long_answer(units: usize, hunks: usize) -> bool {
    units > SHORT_TEXT || hunks > SHORT_HUNKS
}

pub(super) fn is_long_arrival(hunks: usize, missed: u64) -> bool {
    hunks > SHORT_HUNKS
        || missed > SHORT_UPDATES as u64
        || hunks as u64 * missed > SHORT_MOVES as u64
}
