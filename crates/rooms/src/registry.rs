//! Registry of open rooms: finds, loads and creates them.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use copydesk_approvals::{ApprovalRequest, DeletedPerson, ToolCatalog};
use copydesk_auth as auth;
use copydesk_comments::CommentError;
use copydesk_document::Text;
use copydesk_ids::permissions::{Action, Principal};
use copydesk_ids::{DocumentId, RequestId, SessionId, ThreadId, Version};
use copydesk_macros::boxed;
use copydesk_metrics as metrics;
use copydesk_placement::{PeerMessage, Placement, SingleServer};
use copydesk_store::{
    AuditEntry, DocumentRecord, FileRecord, QueryScope, Store, StoreError, StoreOp, WriteBatch,
    text_hash,
};

use super::actor::RoomActor;
use super::actor::mirror;
use super::command::RoomCommand;
use super::event::ServerEvent;
use super::persistence::{loading, restore};
use super::room_deps::RoomDeps;
use super::settings::{ChosenSettings, PermissionMode, ServerSettings};
use super::{EventSink, RoomError, RoomHandle, RoomResult, WeakRoomHandle};
use crate::state::text::check_length;
use crate::state::workspace_inbox;
use crate::title::stored_title;
use crate::workspace_place::WorkspaceKnowledge;
use copydesk_approvals::ApprovalSwitch;
use copydesk_clock::WallClock;

/// Number of documents of a list that are read at a time.
const LISTED: u32 = 200;
/// Key under which the store has the settings that owners set.
const SETTINGS: &str = "settings";

/// Registry of all rooms of this process. Cheap to clone.
#[derive(Clone)]
pub struct RoomRegistry(pub(super) Arc<RoomDeps>);

/// Document that is to be created; see [`RoomRegistry::create`].
#[derive(Clone, Debug, Default)]
pub struct NewDocument {
    /// Title; empty becomes "Untitled".
    pub title: String,
    /// First text; line ends are normalised.
    pub text: String,
    /// Session that owns the document, if it is private; a private document is in no list.
    pub unlisted_owner: Option<SessionId>,
}

impl std::fmt::Debug for RoomRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rooms").field("open", &self.count()).finish()
    }
}

/// People who may read a document, as of a moment ago; see [`RoomRegistry::readers`].
#[derive(Clone, Debug)]
pub struct DocumentReaders(Vec<Principal>);

impl DocumentReaders {
    /// Returns them, once for each of their tokens.
    pub fn all(&self) -> &[Principal] {
        &self.0
    }

    /// Returns `true` if all of them may read `other`, too.
    pub fn may_all_read(&self, other: &DocumentId) -> bool {
        self.0.iter().all(|person| person.may(Action::Read, Some(other)))
    }
}

#[boxed]
impl RoomRegistry {
    /// Creates the registry of a server that is the only one, without open rooms. Events of all
    /// rooms leave through `sink`.
    pub fn new(
        store: Store,
        sink: Arc<dyn EventSink>,
        settings: ServerSettings,
        clock: WallClock,
        tools: ToolCatalog,
    ) -> Self {
        let placement = Arc::new(SingleServer::default());
        Self::with_placement(placement, store, sink, settings, clock, tools)
    }

    /// Creates the registry of a server that has only the documents that it can claim.
    pub fn with_placement(
        placement: Arc<dyn Placement>,
        store: Store,
        sink: Arc<dyn EventSink>,
        settings: ServerSettings,
        clock: WallClock,
        tools: ToolCatalog,
    ) -> Self {
        let stopping = CancellationToken::new();
        let shared = (store.clone(), placement);
        Self(Arc::new(RoomDeps {
            workspace: WorkspaceKnowledge::new(shared, stopping.clone(), tools),
            store,
            sink,
            clock,
            stopping,
            settings: RwLock::new(settings.clone()),
            started_with: settings,
            tasks: TaskTracker::new(),
            open: Mutex::default(),
            watcher: OnceLock::new(),
            loading_locks: Mutex::default(),
            request_index: Mutex::default(),
        }))
    }

    /// Returns the placement of the documents.
    pub fn placement(&self) -> &Arc<dyn Placement> {
        self.0.placement()
    }

    /// Returns the facts about the tools of the server.
    pub fn tools(&self) -> &ToolCatalog {
        &self.0.workspace.tools
    }

    /// Returns the room of a document; loads it if it is not open.
    ///
    /// # Errors
    /// [`RoomError::NoDocument`] for an unknown or deleted document, [`RoomError::Store`] if it
    /// cannot be read, [`RoomError::Closed`] while the server stops.
    pub async fn open(&self, document: &DocumentId) -> RoomResult<RoomHandle> {
        if let Some(room) = self.0.room(document) {
            return Ok(room);
        }
        let loading_lock = self.0.loading_lock(document);
        let _passed = loading_lock.lock().await;
        if let Some(room) = self.0.room(document) {
            return Ok(room);
        }
        self.0.claim(document).await?;
        let loaded = RoomActor::load(&self.0, document).await;
        if loaded.is_err() {
            self.0.release(document).await;
        }
        let (actor, room) = loaded?;
        let mut open = self.0.open();
        if self.0.stopping.is_cancelled() {
            return Err(RoomError::Closed);
        }
        open.insert(document.clone(), room.clone());
        self.0.tasks.spawn(Box::new(actor).run());
        if let Some(watcher) = self.0.watcher.get() {
            // No one watches any more once the server stops.
            watcher.send(room.downgrade()).ok();
        }
        Ok(room)
    }

    /// Returns the room of a document. If this server may not have it, the handle only reads what
    /// is stored, and refuses everything else as [`RoomError::NotHere`].
    ///
    /// # Errors
    /// Those of [`Self::open`], but for this one.
    pub async fn open_to_read(&self, document: &DocumentId) -> RoomResult<RoomHandle> {
        match self.open(document).await {
            Err(RoomError::NotHere(reason)) => mirror::start(&self.0, document, Some(reason)).await,
            opened => opened,
        }
    }

    /// Returns the room of a document if it is open here; otherwise, on one of several servers, a
    /// handle that only reads what is stored. The document stays where it is.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub async fn open_in_place(&self, document: &DocumentId) -> RoomResult<RoomHandle> {
        match self.0.room(document) {
            Some(room) => Ok(room),
            None if self.0.placement().is_shared() => mirror::start(&self.0, document, None).await,
            None => self.open(document).await,
        }
    }

    /// Returns a receiver of a [`WeakRoomHandle`] of every room that opens from now on. There is
    /// one watcher; a second one receives nothing.
    pub fn watch(&self) -> mpsc::UnboundedReceiver<WeakRoomHandle> {
        let (sender, opened) = mpsc::unbounded_channel();
        drop(self.0.watcher.set(sender));
        opened
    }

    /// Returns the room of a document, if it is open.
    pub fn opened(&self, document: &DocumentId) -> Option<RoomHandle> {
        self.0.room(document)
    }

    /// Returns the document that a request is about; `None` if it is in the workspace inbox.
    ///
    /// # Errors
    /// [`RoomError::NoRequest`] for an unknown request, [`RoomError::Store`] if it cannot be read.
    pub async fn document_of(&self, request: &RequestId) -> RoomResult<Option<DocumentId>> {
        if let Some(known) = self.0.request_index().of(request) {
            return Ok(known.clone());
        }
        let standing = self.0.store.request_standing(request).await?;
        let document = standing.ok_or(RoomError::NoRequest)?.document;
        self.0.request_index().note(request, document.as_ref());
        Ok(document)
    }

    /// Returns the document that a thread of comments is in.
    ///
    /// # Errors
    /// [`RoomError::Comment`] for an unknown thread, [`RoomError::Store`] if it cannot be read.
    pub async fn document_of_thread(&self, thread: &ThreadId) -> RoomResult<DocumentId> {
        let document = self.0.store.document_of_thread(thread).await?;
        document.ok_or_else(|| CommentError::NoThread.into())
    }

    /// Returns the workspace inbox, the room of requests without a document; creates it when it is
    /// first needed. If another server of several has it, the handle only reads.
    ///
    /// # Errors
    /// [`RoomError::Store`] if the inbox can be neither read nor created, [`RoomError::Closed`]
    /// while the server stops.
    pub async fn workspace_inbox(&self) -> RoomResult<RoomHandle> {
        match self.open_to_read(&workspace_inbox::id()).await {
            Err(RoomError::NoDocument) => {}
            opened => return opened,
        }
        let record = workspace_inbox::fresh(self.0.clock.now_ms());
        match self.0.store.commit(StoreOp::CreateDocument { record, text: String::new() }).await {
            // Another caller needed it at the same moment.
            Ok(()) | Err(StoreError::Exists { .. }) => {
                self.open_to_read(&workspace_inbox::id()).await
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Makes sure that no other server has the room of a document, without opening it.
    ///
    /// # Errors
    /// [`RoomError::NotHere`] if this server may not have it now, [`RoomError::NoDocument`] for an
    /// unknown document, [`RoomError::Store`] if the database cannot be asked.
    pub async fn claim(&self, document: &DocumentId) -> RoomResult<()> {
        // A room that is still open here may be about to be handed over.
        self.0.workspace.check(document).await?;
        if self.0.room(document).is_some() {
            return Ok(());
        }
        let loading_lock = self.0.loading_lock(document);
        let _passed = loading_lock.lock().await;
        self.0.claim(document).await
    }

    /// Returns the open requests of a document at its newest stored version, whichever server has
    /// its room.
    ///
    /// # Errors
    /// [`RoomError::Store`] if they cannot be read.
    pub async fn stored_requests(
        &self,
        document: &DocumentId,
    ) -> RoomResult<Vec<Arc<ApprovalRequest>>> {
        let store = &self.0.store;
        let open = store.open_requests(QueryScope::Document(document)).await?;
        let Some(record) = store.document(document).await? else { return Ok(Vec::new()) };
        let open = open.iter().map(restore::stored_request).collect::<RoomResult<Vec<_>>>()?;
        if open.iter().all(|request| request.reached().version == record.version) {
            return Ok(open.into_iter().map(|request| Arc::new(request.finish())).collect());
        }
        // The text has changed since they were stored, and their changes have moved.
        Ok(loading::load(store, document).await?.open.into_values().collect())
    }

    /// Returns identifiers and titles of the documents that a person may open, last changed first.
    ///
    /// # Errors
    /// Those of [`Self::documents`].
    pub async fn listed(&self, of: &Principal) -> RoomResult<Vec<(DocumentId, String)>> {
        let records = self.documents(of).await?;
        Ok(records.into_iter().map(|record| (record.id, record.title)).collect())
    }

    /// Returns the records of the documents that a person may open, last changed first. Reads them
    /// in pieces and yields between them.
    ///
    /// # Errors
    /// [`RoomError::Store`] if a piece of the list cannot be read.
    pub async fn documents(&self, of: &Principal) -> RoomResult<Vec<DocumentRecord>> {
        let (only, mut records) = (of.readable_documents(), Vec::new());
        loop {
            let last = records.last();
            let after = last.map(|last: &DocumentRecord| (last.updated_ms, last.id.to_string()));
            let piece = self.0.store.documents(only.as_deref(), after.as_ref(), LISTED).await?;
            let is_all = piece.len() < LISTED as usize;
            records.extend(piece.into_iter().filter(|it| of.may(Action::Read, Some(&it.id))));
            if is_all {
                break;
            }
            tokio::task::yield_now().await;
        }
        // A document that changed meanwhile was read twice, or is further up now.
        let mut met = HashSet::new();
        records.retain(|record| met.insert(record.id.clone()));
        Ok(records)
    }

    /// Returns a person whose run goes on with the rights that they still have: some may have been
    /// taken from them since they asked.
    ///
    /// # Errors
    /// [`RoomError::Store`] if their tokens cannot be read.
    pub async fn with_current_rights(&self, person: &Principal) -> RoomResult<Principal> {
        let now_ms = self.0.clock.now_ms();
        Ok(auth::with_current_rights(&self.0.store, person, now_ms).await?)
    }

    /// Returns everybody who may read a document.
    ///
    /// # Errors
    /// [`RoomError::Store`] if the tokens in force cannot be read.
    pub async fn readers(&self, of: &DocumentId) -> RoomResult<DocumentReaders> {
        let now_ms = self.0.clock.now_ms();
        let mut people = auth::holders(&self.0.store, now_ms).await?;
        people.retain(|person| person.may(Action::Read, Some(of)));
        Ok(DocumentReaders(people))
    }

    /// Returns the number of open rooms.
    pub fn count(&self) -> usize {
        self.0.open().len()
    }

    /// Measures the open rooms, the people in them, and the commands that wait for them.
    pub fn measure(&self) {
        let open = self.0.open();
        metrics::ROOMS.set_count(open.len());
        metrics::ROOM_MEMBERS.set_count(open.values().map(|room| room.room_status().people).sum());
        metrics::ROOM_QUEUE.set_count(open.values().map(RoomHandle::waiting_commands).sum());
    }

    /// Creates a document and opens its room.
    ///
    /// # Errors
    /// [`RoomError::Invalid`] if the text is too long, [`RoomError::Store`] if the document cannot
    /// be stored, [`RoomError::Closed`] while the server stops.
    pub async fn create(&self, new: NewDocument, by: &Principal) -> RoomResult<RoomHandle> {
        self.make(new, DocumentId::generate(), Vec::new(), by).await
    }

    /// Creates the document of a file, without text yet, and opens its room.
    ///
    /// # Errors
    /// [`RoomError::Store`] if the document or its path cannot be stored, [`RoomError::Closed`]
    /// while the server stops.
    pub async fn create_for(&self, file: FileRecord, by: &Principal) -> RoomResult<RoomHandle> {
        let new = NewDocument { title: file.path.clone(), ..NewDocument::default() };
        self.make(new, file.document.clone(), vec![StoreOp::PutFile(file)], by).await
    }

    /// Creates a document and stores `more` with it, in one transaction.
    pub(super) async fn make(
        &self,
        new: NewDocument,
        id: DocumentId,
        more: Vec<StoreOp>,
        by: &Principal,
    ) -> RoomResult<RoomHandle> {
        let now_ms = self.0.clock.now_ms();
        let title = stored_title(&new.title).unwrap_or_else(|| "Untitled".to_owned());
        let record = DocumentRecord {
            unlisted_owner: new.unlisted_owner,
            ..DocumentRecord::new(id.clone(), title.clone(), now_ms)
        };
        let text = Text::new(&new.text);
        check_length(text.len())?;
        let is_listed = record.unlisted_owner.is_none();
        let text = text.to_string();
        let detail = json!({ "title": title, "textHash": text_hash(&text) });
        let audit = AuditEntry::new("document.create", &by.user, detail, now_ms);
        let audit = AuditEntry { document: Some(id.clone()), ..audit };
        let mut batch = WriteBatch::new()
            .with(StoreOp::CreateDocument { record, text })
            .with(StoreOp::Audit(audit));
        batch.extend(more);
        self.0.placement().claim_new(&id).await?;
        self.0.store.commit(batch).await?;
        if is_listed {
            self.announce(&ServerEvent::Created { id: id.clone(), title, version: Version(0) });
            self.0.placement().tell(&PeerMessage::Created(id.clone())).await;
        }
        self.open(&id).await
    }

    /// Tells every connection that may know of the event.
    pub(super) fn announce(&self, news: &ServerEvent) {
        self.0.sink.announce(news);
    }

    /// Announces a document that another server has created.
    ///
    /// # Errors
    /// [`RoomError::Store`] if the document cannot be read.
    pub async fn announce_created(&self, document: &DocumentId) -> RoomResult<()> {
        if let Some(DocumentRecord { id, title, version, .. }) =
            self.0.store.document(document).await?
        {
            self.announce(&ServerEvent::Created { id, title, version });
        }
        Ok(())
    }

    pub(super) fn store(&self) -> &Store {
        &self.0.store
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.0.clock.now_ms()
    }

    /// Returns the server's settings.
    pub fn settings(&self) -> ServerSettings {
        self.0.settings()
    }

    /// Takes over the settings that an owner set before the server was restarted.
    ///
    /// A permission mode that this server no longer offers is set aside, so that everyone is sent
    /// the mode in force. It is returned then, and stays stored until settings are changed. With
    /// `must_ask`, the server was started with the option that people are asked, which no earlier
    /// choice switches off.
    ///
    /// # Errors
    /// [`RoomError::Store`] if the settings cannot be read, or if they are damaged.
    pub async fn recall_settings(
        &self,
        offers: impl Fn(PermissionMode) -> bool,
        must_ask: bool,
    ) -> RoomResult<Option<PermissionMode>> {
        let kept = self.0.store.setting(SETTINGS).await?;
        let Some(kept) = kept else { return Ok(None) };
        let chosen: ChosenSettings = serde_json::from_str(&kept).map_err(|error| {
            let (what, reason) = (SETTINGS.to_owned(), error.to_string());
            RoomError::from(StoreError::Corrupt { what, reason })
        })?;
        let mut settings = chosen.over(&self.0.started_with);
        let set_aside = Some(settings.permission_mode).filter(|mode| !offers(*mode));
        if set_aside.is_some() {
            settings.permission_mode = PermissionMode::default();
        }
        if must_ask {
            settings.approvals = ApprovalSwitch::On;
        }
        self.0.put_settings(settings);
        Ok(set_aside)
    }

    /// Changes and stores the server's settings for requests made from now on. Everyone in a
    /// document is sent the settings in force there.
    ///
    /// # Errors
    /// [`RoomError::Store`] if the settings cannot be stored; those in force stay then.
    pub async fn set_settings(&self, settings: ServerSettings, by: &Principal) -> RoomResult<()> {
        let chosen =
            ChosenSettings { set: settings.clone(), started_with: self.0.started_with.clone() };
        let now_ms = self.0.clock.now_ms();
        let audit = AuditEntry::new("settings.set", &by.user, json!(settings), now_ms);
        let kept =
            StoreOp::PutSetting { key: SETTINGS.to_owned(), value: json!(chosen).to_string() };
        let batch = WriteBatch::new().with(kept).with(StoreOp::Audit(audit));
        self.0.store.commit(batch).await?;
        self.0.put_settings(settings);
        self.0.placement().tell(&PeerMessage::Settings).await;
        self.announce_settings().await;
        Ok(())
    }

    /// Tells everyone the settings in force, after they were changed.
    pub async fn announce_settings(&self) {
        self.announce(&ServerEvent::Settings(self.0.settings()));
        let rooms: Vec<_> = self.0.open().values().cloned().collect();
        for room in rooms {
            // A room that is closing has no one to notify.
            room.notify_settings().await.ok();
        }
    }

    /// Takes back the votes of people who may no longer decide, because a token has ended, and
    /// tells people. Rooms that are not open do so when the votes are needed.
    pub async fn recount(&self) {
        let open: Vec<_> = self.0.open().values().cloned().collect();
        for room in open {
            room.send(RoomCommand::Recount).await;
        }
    }

    /// Replaces the name of a person whose data is deleted in every open room. Rooms that are
    /// opened later have what is stored by then.
    ///
    /// # Errors
    /// [`RoomError::Store`] if a room cannot store it, [`RoomError::Closed`] while the server
    /// stops.
    pub async fn forget_person(&self, person: &Arc<DeletedPerson>) -> RoomResult<()> {
        let open: Vec<_> = self.0.open().values().cloned().collect();
        for room in open {
            match room.forget_person(Arc::clone(person)).await {
                // The task that closed it meanwhile has stored what it had.
                Err(RoomError::Closed) if !self.0.stopping.is_cancelled() => {}
                forgotten => forgotten?,
            }
        }
        Ok(())
    }

    /// Finishes the commands that the rooms have, and closes them. Opening fails from now on. What
    /// this server has is kept until [`Self::release_all`].
    pub async fn close(&self) {
        {
            // A room that is just being opened is tracked before the tracker is closed.
            let _open = self.0.open();
            self.0.stopping.cancel();
            self.0.tasks.close();
        }
        self.0.tasks.wait().await;
    }

    /// Gives back all that this server of several has, once it has stopped working on it.
    pub async fn release_all(&self) {
        // After the last commit: while one may still come, the documents stay here.
        let placement = self.0.placement();
        if placement.is_shared() && self.0.store.settle().await.is_ok() {
            placement.release_all().await;
        }
    }
}
