//! This server as a member of the cluster: what it does when the others tell something, or are
//! gone.

mod telling;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::broadcast::error::RecvError;

use super::forwarded_calls::ForwardedCalls;
use super::node::ClusterNode;
use copydesk_agent::{AgentService, AskResult, StopFilter};
use copydesk_approvals::DeletedPerson;
use copydesk_auth::Authenticator;
use copydesk_clock::WallClock;
use copydesk_http::rest::{RequestLimit, RequestLimits};
use copydesk_ids::{RunId, SessionId, UserId};
use copydesk_mcp::DocumentChanges;
use copydesk_placement::Placement as _;
use copydesk_placement::{CountedApi, PeerMessage};
use copydesk_rooms::{RoomRegistry, RoomResult};
use copydesk_socketio::SocketRegistry;
use copydesk_store::Store;

/// Pause after an attempt to take over runs that failed.
const TAKE_OVER_AGAIN: Duration = Duration::from_secs(3);
/// Pause after an attempt to take over the workspace that failed.
const TAKE_OVER_WORKSPACE_AGAIN: Duration = Duration::from_secs(1);
/// Name of the task that sends the deliveries of webhooks.
pub const DELIVERIES: &str = "webhooks";

/// Actions that a member of the cluster asks of its server.
#[async_trait]
pub trait LocalServer: Send + Sync {
    /// Takes over the settings that are stored now.
    async fn recall_settings(&self) -> RoomResult<()>;

    /// Returns `true` if the server was given the folder of the workspace.
    fn has_workspace_folder(&self) -> bool;

    /// Begins to work on the workspace, which no other server does from here on.
    async fn serve_workspace(&self) -> Result<(), Box<dyn Error + Send + Sync>>;
}

/// Member of the cluster.
pub struct ClusterMember<'a> {
    /// Node of this server.
    pub node: Arc<ClusterNode>,
    /// The server.
    pub local: &'a dyn LocalServer,
    /// Store of the server.
    pub store: Store,
    /// Authenticator of tokens.
    pub auth: Authenticator,
    /// Rooms of the documents.
    pub rooms: RoomRegistry,
    /// Service for runs.
    pub agents: AgentService,
    /// Calls of runs that the servers make for each other.
    pub calls: ForwardedCalls,
    /// Notifications of changed documents for programs.
    pub changes: DocumentChanges,
    /// Limits on the requests of each person.
    pub limits: RequestLimits,
    /// Connected sockets.
    pub sockets: SocketRegistry,
    /// Source of the current time.
    pub clock: WallClock,
}

impl ClusterMember<'_> {
    /// Does what other servers tell and leave behind, until they have removed this one: what it
    /// holds is out of date then, and it writes nothing more.
    pub async fn attend(&self) {
        tokio::select! {
            () = self.node.removed().cancelled() => {}
            () = self.hear() => {}
            () = self.take_over() => {}
            () = self.take_over_workspace() => {}
            () = self.tell_outbox() => {}
            () = self.tell_renames() => {}
            () = self.tell_watched() => {}
            () = self.tell_texts() => {}
            () = self.tell_requests() => {}
        }
    }

    fn request_limit(&self, api: CountedApi) -> &RequestLimit {
        match api {
            CountedApi::Rest => &self.limits.rest,
            CountedApi::Messages => &self.limits.messages,
        }
    }

    /// Looks up what other servers tell.
    async fn hear(&self) {
        let mut news = self.node.news();
        loop {
            match news.recv().await {
                Ok((from, news)) => self.hear_one(from, news).await,
                Err(RecvError::Lagged(_)) => self.make_up().await,
                Err(RecvError::Closed) => return,
            }
        }
    }

    async fn hear_one(&self, from: i64, news: PeerMessage) {
        match news {
            PeerMessage::Tokens => {
                self.check_tokens().await;
                // A person who is not connected here may have lost the right to decide.
                self.rooms.recount().await;
            }
            PeerMessage::Settings => self.reload_settings().await,
            PeerMessage::Created(document) => {
                if let Err(error) = self.rooms.announce_created(&document).await {
                    tracing::warn!(%error, "cannot announce a document");
                }
            }
            PeerMessage::Renamed(document) => self.changes.note_elsewhere(document),
            PeerMessage::Watched(documents) => self.changes.note_watched(documents),
            PeerMessage::Texts(documents) => self.changes.note_texts_elsewhere(documents),
            PeerMessage::RunEnded(session, run) => {
                self.note_ended();
                self.tell_end(from, &session, &run).await;
            }
            PeerMessage::Call(session, call) => {
                self.calls.hear_of(&self.agents, session, call);
            }
            PeerMessage::Requests(api, people) => self.request_limit(api).count_elsewhere(&people),
            PeerMessage::Outbox => self.note_outbox(),
            PeerMessage::Cancel(session) => {
                let all = StopFilter { session: Some(session), run: None };
                // Without a run of that session there is nothing to stop.
                self.agents.cancel(all).await.ok();
            }
            PeerMessage::CancelRun(session, run) => {
                self.calls.stop(&session, &run);
                let one = StopFilter { session: Some(session), run: Some(run) };
                // It is another server's, or has ended.
                self.agents.cancel(one).await.ok();
            }
            PeerMessage::Mentions(document, people, read) => {
                let told = self.rooms.announce_mentions(&document, &people, &read).await;
                if let Err(error) = told {
                    tracing::warn!(%error, "cannot announce mentions");
                }
            }
            PeerMessage::PersonDeleted(user) => self.forget_person(&user).await,
            PeerMessage::Workspace => self.hand_over_workspace().await,
            PeerMessage::Missed => self.make_up().await,
            PeerMessage::Released => {}
        }
    }

    /// Ends the connections of a person whose data another server deletes, and makes the rooms here
    /// forget their names. That server tells it again until nothing is left.
    async fn forget_person(&self, user: &UserId) {
        self.check_tokens().await;
        match self.store.person_deletion(user).await {
            Ok(Some(deletion)) => {
                let person = Arc::new(DeletedPerson { users: deletion.users });
                if let Err(error) = self.rooms.forget_person(&person).await {
                    tracing::warn!(%error, "cannot forget the name of a deleted person yet");
                }
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "cannot look up a deleted person"),
        }
    }

    /// Looks up whatever another server may have announced in vain.
    async fn make_up(&self) {
        self.changes.note_missed();
        self.check_tokens().await;
        let before = self.rooms.settings();
        match self.local.recall_settings().await {
            Ok(()) if self.rooms.settings() == before => {}
            Ok(()) => self.rooms.announce_settings().await,
            Err(error) => tracing::warn!(%error, "cannot read the settings"),
        }
        self.note_ended();
        self.hand_over_workspace().await;
        self.note_outbox();
    }

    async fn check_tokens(&self) {
        if let Err(error) = self.auth.sweep(self.clock.now_ms()).await {
            tracing::warn!(%error, "cannot check the tokens");
        }
    }

    /// Looks for new deliveries of webhooks, if this server sends them.
    fn note_outbox(&self) {
        if self.node.has_task(DELIVERIES) {
            self.store.note_outbox();
        }
    }

    /// Makes those look who wait for runs of other servers.
    fn note_ended(&self) {
        self.agents.note_ended();
        self.calls.note_news();
    }

    async fn reload_settings(&self) {
        match self.local.recall_settings().await {
            Ok(()) => self.rooms.announce_settings().await,
            Err(error) => tracing::warn!(%error, "cannot read the settings"),
        }
    }

    /// Tells a session's clients here the end of a run elsewhere, unless that server does.
    async fn tell_end(&self, from: i64, session: &SessionId, run: &RunId) {
        let untold = self.sockets.untold(session, from);
        if untold.is_empty() {
            return;
        }
        match self.agents.unheard(session).await {
            Ok(mut ended) => {
                ended.retain(|said| said.run == *run);
                for member in &untold {
                    self.sockets.catch_up(member, &ended);
                }
            }
            Err(error) => tracing::warn!(%error, "cannot tell a session how its run ended"),
        }
    }

    /// Resumes the runs and calls that servers which are gone have left behind; returns the number
    /// of runs.
    async fn resume(&self) -> AskResult<usize> {
        let calls = self.calls.take_up_all(&self.agents).await;
        let runs = self.agents.resume().await?;
        calls.map(|()| runs)
    }

    /// Takes over the runs of servers that are gone.
    async fn take_over(&self) {
        let mut departures = self.node.departures();
        // One may have gone while this one started.
        departures.mark_changed();
        while departures.changed().await.is_ok() {
            loop {
                match self.resume().await {
                    Ok(0) => break,
                    Ok(runs) => {
                        tracing::info!(runs, "took over runs of another server");
                        break;
                    }
                    Err(error) => {
                        tracing::warn!(%error, "cannot take over the runs of another server yet");
                        tokio::time::sleep(TAKE_OVER_AGAIN).await;
                    }
                }
            }
        }
    }

    /// Waits until no other server has the workspace that this one was given, takes it, and goes on
    /// with what was asked there. Waits for ever if there is nothing to take.
    async fn take_over_workspace(&self) {
        if self.local.has_workspace_folder() && !self.rooms.has_workspace_here() {
            self.rooms.await_workspace().await;
            while let Err(error) = self.local.serve_workspace().await {
                tracing::warn!(%error, "cannot take over the workspace yet");
                tokio::time::sleep(TAKE_OVER_WORKSPACE_AGAIN).await;
            }
            // Before the others hear of it: who comes then finds the runs that it listens to.
            if let Err(error) = self.resume().await {
                tracing::warn!(%error, "cannot take over the runs of another server yet");
            }
            tracing::info!("this server has the workspace now");
            self.rooms.announce_workspace().await;
        }
        std::future::pending::<()>().await;
    }

    /// Hands over what belongs to the workspace, because another server has it.
    async fn hand_over_workspace(&self) {
        let is_at_work = |session: &SessionId| self.agents.works_in_private(session);
        if let Err(error) = self.rooms.hand_over_workspace(is_at_work).await {
            tracing::warn!(%error, "cannot hand over the workspace inbox yet");
        }
    }
}
