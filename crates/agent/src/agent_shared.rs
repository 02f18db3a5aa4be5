//! State that all runs of the server share.

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use copydesk_clock::WallClock;
use copydesk_rooms::RoomRegistry;
use copydesk_store::Store;
use copydesk_tools::ToolRegistry;

use super::BypassPolicy;
use super::conversation::shown_documents::ShownDocuments;
use super::external_calls::waiters::CallWaiters;
use super::models::ModelCatalog;
use super::run::state_machine::RunLimits;
use super::run_queues::RunQueues;

pub(crate) struct AgentShared {
    pub store: Store,
    pub clock: WallClock,
    pub rooms: RoomRegistry,
    pub models: ModelCatalog,
    pub tools: ToolRegistry,
    pub limits: RunLimits,
    pub bypass: BypassPolicy,
    pub queues: Mutex<RunQueues>,
    pub snapshots: Mutex<ShownDocuments>,
    /// Callers that wait for external calls.
    pub call_waiters: CallWaiters,
    /// Lock held while a call is recognised and begun.
    pub recognising: tokio::sync::Mutex<()>,
    /// Lock held while a request is proposed again.
    pub repeating: tokio::sync::Mutex<()>,
    /// Lock held while a session's private document is looked up or created.
    pub private: tokio::sync::Mutex<()>,
    /// Lock held while runs are resumed.
    pub resuming: tokio::sync::Mutex<()>,
    /// Token that fires when the server stops: runs are left as they are, to be resumed at the next
    /// start.
    pub stop: CancellationToken,
    pub tasks: TaskTracker,
    /// Number of runs that have ended.
    pub ended: watch::Sender<u64>,
    /// Number of times that calls for runs of other servers may have gone on.
    pub call_news: watch::Sender<u64>,
}
