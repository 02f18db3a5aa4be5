//! Application layer: what a person may see and do, written once for all transports.
//!
//! Operations call methods of [`Caller`], which return values of the modules below or an
//! [`ApiError`]. Transports translate these; they know no store.
//!
//! The right that an operation needs is declared with it, in the crate `operations`, and checked
//! before its function is called: a method here works on the room that the check returned, and
//! checks only what depends on other parts of its input.

#![warn(clippy::missing_errors_doc)]

mod administration;
mod answers;
mod audit;
mod caller;
mod comments;
mod conversations;
mod documents;
mod error;
mod exports;
mod files;
mod history;
mod idempotency;
mod page;
mod readiness;
mod requests;
mod rules;
mod runs;
mod server_tools;
mod sessions;
mod sign_in;
pub mod webhooks;

use std::sync::Arc;

use tokio::sync::Notify;

use copydesk_agent::AgentService;
use copydesk_auth::{Authenticator, SignInPolicy};
use copydesk_clock::WallClock;
use copydesk_file_sync::FileSync;
use copydesk_ids::permissions::Principal;
use copydesk_macros::boxed;
use copydesk_metrics as metrics;
use copydesk_rooms::RoomRegistry;
use copydesk_store::{Store, StoreResult};

pub use administration::document_roles::GivenRole;
pub use administration::people::{DeletionObstacle, PersonDeletionReport, PersonPreview};
pub use administration::spending::SpendingReport;
pub use administration::work::{RunLine, ServerWork};
pub use answers::StoredAnswers;
pub use audit::AuditLines;
pub use caller::Caller;
pub use comments::{AiWish, ThreadPage};
pub use copydesk_agent::ConversationFork;
pub use copydesk_placement::{OtherServer, Placement};
pub use copydesk_store::{
    AnswerRecord, AuditEntry, AuditRecord, DocumentRecord, DocumentRoleRecord, Grantee,
    HistoryRecord, IdempotencyRecord, LoginRecord, PersonCounts, SessionRecord, SpendingLimit,
    SpendingMonth, SpendingScope, SpendingSum, StorageSizes, TokenRecord, TranscriptCursor,
};
pub use documents::DocumentContent;
pub use documents::imports::{DocumentImport, ImportedFile};
pub use error::{ApiError, ApiResult, ErrorCode, ErrorDetails};
pub use exports::{ExportedFile, export_input};
pub use files::{DocumentPaths, ListedFiles};
pub use history::{VersionList, is_large_update};
pub use page::ListPage;
pub use requests::{RequestScope, ResolvedRequests, WaitingChanges, with_fresh_preview};
pub use runs::HeardRuns;

use comments::CommentAllowance;
use documents::import_admission::ImportAdmission;
use readiness::Readiness;
use webhooks::AddressPolicy;

/// Limits of what each person does at a time.
#[derive(Clone, Default)]
struct PersonLimits {
    imports: ImportAdmission,
    comments: CommentAllowance,
}

/// Parts of the server that operations use, and operations of the transports themselves. Clones
/// share one state.
#[derive(Clone)]
pub struct Application {
    store: Store,
    files: Option<FileSync>,
    address_policy: AddressPolicy,
    readiness: Readiness,
    sign_in: Option<SignInPolicy>,
    /// Signal that the deletion of a person was begun.
    deletions: Arc<Notify>,
    limits: PersonLimits,
    /// Authenticator of tokens.
    pub auth: Authenticator,
    /// Rooms of the documents.
    pub rooms: RoomRegistry,
    /// Service for models, runs and gated tools.
    pub agents: AgentService,
    /// Source of the current time.
    pub clock: WallClock,
    /// Principal of every caller under `--no-auth`.
    pub everyone: Option<Principal>,
}

/// Options of the server that change what people may do.
#[derive(Clone, Debug)]
pub struct ApplicationOptions {
    /// Principal of every caller under `--no-auth`.
    pub everyone: Option<Principal>,
    /// Policy for the addresses of webhooks.
    pub address_policy: AddressPolicy,
    /// Rules for people who sign in with an identity provider; `None`: no one can.
    pub sign_in: Option<SignInPolicy>,
}

#[boxed]
impl Application {
    /// Returns the application of these parts, which share one store.
    pub fn new(
        store: Store,
        auth: Authenticator,
        rooms: RoomRegistry,
        agents: AgentService,
        files: Option<FileSync>,
        clock: WallClock,
        options: ApplicationOptions,
    ) -> Self {
        let ApplicationOptions { everyone, address_policy, sign_in } = options;
        let readiness = Readiness::default();
        Self {
            store,
            files,
            address_policy,
            readiness,
            sign_in,
            deletions: Arc::default(),
            limits: PersonLimits::default(),
            auth,
            rooms,
            agents,
            clock,
            everyone,
        }
    }

    /// Returns the placement of documents and tasks on servers.
    pub fn placement(&self) -> &Arc<dyn Placement> {
        self.rooms.placement()
    }

    /// Checks that a change can be stored and read, at most every 2 seconds.
    ///
    /// # Errors
    /// The failure, in words that tell nothing of the machine.
    pub async fn check_readiness(&self) -> Result<(), &'static str> {
        self.readiness.check(&self.store).await
    }

    /// Measures what is open and what waits on this server.
    pub fn measure(&self) {
        metrics::COMMIT_QUEUE.set_count(self.store.waiting_batches());
        self.rooms.measure();
        self.agents.measure();
    }

    /// Measures what waits in the database, and this server as one of several.
    ///
    /// # Errors
    /// The [`StoreError`](copydesk_store::StoreError) if the database cannot be read.
    pub async fn measure_store(&self) -> StoreResult<()> {
        let (requests, deliveries) = self.store.waiting_counts().await?;
        metrics::PENDING_REQUESTS.set_count(requests);
        metrics::WEBHOOK_QUEUE.set_count(deliveries);
        metrics::NODES.set_count(1);
        self.placement().measure().await
    }
}
