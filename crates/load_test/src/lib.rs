//! `copydesk bench`: people who type, read and decide on a running server, and what that costs.
//!
//! All clients are socket.io clients, as browsers are. A [`LoadPlan`] says how many there are,
//! [`LoadTest::run`] connects them and reads the documents back; a [`LoadReport`] has the results.

mod activity;
mod arrived_updates;
mod delivery_log;
mod local_server;
mod participant;
mod patient_ask;
mod people;
mod plan;
mod process_usage;
mod report;
mod reviewer;
mod run;
mod test_text;
mod writer;

pub use plan::LoadPlan;
pub use process_usage::{open_file_limit, resident_bytes};
pub use report::LoadReport;
pub use run::{LoadTest, TestedServer};

use copydesk_client::ClientError;
use copydesk_client::socketio::EventRefusal;

/// Failure of a load test.
#[derive(Debug, thiserror::Error)]
pub enum LoadTestError {
    /// Failure of a connection or a request.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Refusal of an event.
    #[error(transparent)]
    Refused(#[from] EventRefusal),
    /// Token of another role.
    #[error("the test needs the token of an owner: only owners may delete the documents it makes")]
    NotOwner,
    /// Refusal of a proposal that was to be decided.
    #[error("the server refused a proposal: {0}")]
    Proposal(String),
    /// Decision after which the request was still open.
    #[error(
        "a decision left its request {0}; reviewers need a document in which one person decides"
    )]
    Undecided(String),
    /// Directory or process that could not be made.
    #[error("cannot start a server for the test: {0}")]
    Data(std::io::Error),
    /// Server that did not start.
    #[error("the server for the test does not start")]
    Start,
    /// Message of an unknown form.
    #[error("the server sent a message that this version does not understand")]
    Strange,
    /// Updates that did not arrive in order.
    #[error("the server left out an update")]
    Gap,
    /// End of the test before that of a client.
    #[error("the test was stopped")]
    Stopped,
    /// Clients that did not receive everything in time.
    #[error("{0} clients did not finish within {1} seconds")]
    Unfinished(usize, u64),
}

/// Result of a part of a load test.
pub(crate) type LoadTestResult<T> = Result<T, LoadTestError>;
