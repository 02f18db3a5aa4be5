//! Call that does not exist, for tests of callers that wait.
//!
//! It is compiled for tests only.

use copydesk_tools::ApprovalWait;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{CallHandle, CallResult};

/// Sending side of a call that does not exist.
pub struct StagedCall {
    /// Progress of the request.
    pub asking: watch::Sender<Option<ApprovalWait>>,
    /// Result of the call.
    pub over: watch::Sender<Option<CallResult>>,
}

impl StagedCall {
    /// Returns a staged call and its handle.
    pub fn call() -> (Self, CallHandle) {
        let (asking, over) = (watch::Sender::new(None), watch::Sender::new(None));
        let handle = CallHandle {
            asking: asking.subscribe(),
            over: over.subscribe(),
            stop: CancellationToken::new(),
            caller_gone: CancellationToken::new(),
            claim: None,
        };
        (Self { asking, over }, handle)
    }
}
