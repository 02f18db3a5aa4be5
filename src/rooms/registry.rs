//! Registry of open rooms: finds, loads and creates them.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::auth;
use crate::document::Text;
use crate::ids::{DocumentId, RequestId, SessionId, Version};
use crate::permissions::{Action, Principal};
use crate::store::{
    AuditEntry, DocumentRecord, FileRecord, Store, StoreError, StoreOp, WriteBatch,
};

use super::actor::RoomActor;
use super::clock::WallClock;
use super::command::RoomCommand;
use super::event::ServerEvent;
use super::request_index::RequestIndex;
use super::settings::{ApprovalSwitch, ChosenSettings, PermissionMode, ServerSettings};
use super::{EventSink, RoomError, RoomHandle, RoomResult, WeakRoomHandle, workspace_inbox};
use crate::rooms::persistence::loading;
use crate::rooms::state::RoomState;
use crate::rooms::state::text::check_length;
use crate::rooms::workspace_inbox::InboxPolicies;

/// Length of the longest title, in characters.
pub const LONGEST_TITLE: usize = 200;
/// Number of documents of a list that are read at a time.
const LISTED: u32 = 200;
/// Key under which the store has the settings that owners set.
const SETTINGS: &str = "settings";

/// Registry of all rooms of this process. Cheap to clone.
#[derive(Clone)]
pub struct RoomRegistry(Arc<RoomDeps>);

/// Dependencies that every room shares.
pub(super) struct RoomDeps {
    pub(super) store: Store,
    pub(super) sink: Arc<dyn EventSink>,
    pub(super) clock: WallClock,
    pub(super) stopping: CancellationToken,
    settings: RwLock<ServerSettings>,
    /// Settings that the server was started with.
    started_with: ServerSettings,
    tasks: TaskTracker,
    open: Mutex<HashMap<DocumentId, RoomHandle>>,
    /// Receiver of a handle of each room that opens.
    watcher: OnceLock<mpsc::UnboundedSender<WeakRoomHandle>>,
    /// Locks by document: two people who open a document at once get one room, and nobody waits for
    /// another document.
    loading_locks: Mutex<HashMap<DocumentId, Arc<LoadingLock>>>,
    request_index: Mutex<RequestIndex>,
    /// What the inbox asks for before a file is changed; `None`: nobody has needed it yet.
    inbox: RwLock<Option<Arc<InboxPolicies>>>,
}

/// Lock that is held while a document is loaded.
type LoadingLock = tokio::sync::Mutex<()>;

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
    /// `true` if all of them may read `other`, too.
    pub fn may_all_read(&self, other: &DocumentId) -> bool {
        self.0.iter().all(|person| person.may(Action::Read, Some(other)))
    }
}

impl RoomRegistry {
    /// Creates a registry without open rooms. Events of all rooms leave through `sink`.
    pub fn new(
        store: Store,
        sink: Arc<dyn EventSink>,
        settings: ServerSettings,
        clock: WallClock,
    ) -> Self {
        Self(Arc::new(RoomDeps {
            store,
            sink,
            clock,
            stopping: CancellationToken::new(),
            settings: RwLock::new(settings.clone()),
            started_with: settings,
            tasks: TaskTracker::new(),
            open: Mutex::default(),
            watcher: OnceLock::new(),
            loading_locks: Mutex::default(),
            request_index: Mutex::default(),
            inbox: RwLock::default(),
        }))
    }

    /// Returns the room of a document; loads it if it is not open.
    pub async fn open(&self, document: &DocumentId) -> RoomResult<RoomHandle> {
        if let Some(room) = self.0.room(document) {
            return Ok(room);
        }
        let loading_lock = self.0.loading_lock(document);
        let _passed = loading_lock.lock().await;
        if let Some(room) = self.0.room(document) {
            return Ok(room);
        }
        let (driver, room) = RoomActor::load(&self.0, document).await?;
        let mut open = self.0.open();
        if self.0.stopping.is_cancelled() {
            return Err(RoomError::Closed);
        }
        open.insert(document.clone(), room.clone());
        self.0.tasks.spawn(driver.run());
        if let Some(watcher) = self.0.watcher.get() {
            // Nobody watches any more once the server stops.
            watcher.send(room.downgrade()).ok();
        }
        Ok(room)
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
    pub async fn document_of(&self, request: &RequestId) -> RoomResult<Option<DocumentId>> {
        if let Some(known) = self.0.request_index().of(request) {
            return Ok(known.clone());
        }
        let record = self.0.store.request(request).await?;
        let document = record.ok_or(RoomError::NoRequest)?.document;
        self.0.request_index().note(request, document.as_ref());
        Ok(document)
    }

    /// Returns the workspace inbox, the room of requests without a document; creates it when it is
    /// first needed.
    pub async fn workspace_inbox(&self) -> RoomResult<RoomHandle> {
        match self.open(&workspace_inbox::id()).await {
            Err(RoomError::NoDocument) => {}
            opened => return opened,
        }
        let record = workspace_inbox::fresh(self.0.clock.now_ms());
        match self.0.store.commit(StoreOp::CreateDocument { record, text: String::new() }).await {
            // Somebody else needed it at the same moment.
            Ok(()) | Err(StoreError::Exists { .. }) => self.open(&workspace_inbox::id()).await,
            Err(error) => Err(error.into()),
        }
    }

    /// Returns identifiers and titles of the documents that a person may open, last changed first.
    pub async fn listed(&self, of: &Principal) -> RoomResult<Vec<(DocumentId, String)>> {
        let records = self.documents(of).await?;
        Ok(records.into_iter().map(|record| (record.id, record.title)).collect())
    }

    /// Returns the records of the documents that a person may open, last changed first. Reads them
    /// in pieces and yields between them.
    pub async fn documents(&self, of: &Principal) -> RoomResult<Vec<DocumentRecord>> {
        let (only, mut records) = (of.document.as_ref(), Vec::new());
        loop {
            let last = records.last();
            let after = last.map(|last: &DocumentRecord| (last.updated_ms, last.id.to_string()));
            let piece = self.0.store.documents(only, after.as_ref(), LISTED).await?;
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

    /// Returns everybody who may read a document.
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

    /// Creates a document and opens its room.
    pub async fn create(&self, new: NewDocument, by: &Principal) -> RoomResult<RoomHandle> {
        self.make(new, DocumentId::generate(), None, by).await
    }

    /// Creates the document of a file, without text yet, and opens its room.
    pub async fn create_for(&self, file: FileRecord, by: &Principal) -> RoomResult<RoomHandle> {
        let new = NewDocument { title: file.path.clone(), ..NewDocument::default() };
        self.make(new, file.document.clone(), Some(file), by).await
    }

    async fn make(
        &self,
        new: NewDocument,
        id: DocumentId,
        file: Option<FileRecord>,
        by: &Principal,
    ) -> RoomResult<RoomHandle> {
        let now_ms = self.0.clock.now_ms();
        let title = title(&new.title).unwrap_or_else(|| "Untitled".to_owned());
        let record = DocumentRecord {
            unlisted_owner: new.unlisted_owner,
            ..DocumentRecord::new(id.clone(), title.clone(), now_ms)
        };
        let text = Text::new(&new.text);
        check_length(text.len())?;
        let is_listed = record.unlisted_owner.is_none();
        let detail = json!({ "title": title });
        let audit = AuditEntry::new("document.create", &by.user, detail, now_ms);
        let audit = AuditEntry { document: Some(id.clone()), ..audit };
        let mut batch = WriteBatch::new()
            .with(StoreOp::CreateDocument { record, text: text.to_string() })
            .with(StoreOp::Audit(audit));
        batch.extend(file.map(StoreOp::PutFile));
        self.0.store.commit(batch).await?;
        if is_listed {
            self.announce(&ServerEvent::Created { id: id.clone(), title, version: Version(0) });
        }
        self.open(&id).await
    }

    /// Tells every connection that may know of the event.
    pub(super) fn announce(&self, news: &ServerEvent) {
        self.0.sink.announce(news);
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
    /// A permission mode that this server no longer offers is set aside, so that everybody is told
    /// the mode in force. It is returned then, and stays stored until settings are changed. With
    /// `must_ask`, the server was started with the option that people are asked, which no earlier
    /// choice switches off.
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
    /// document is told the settings in force there.
    pub async fn set_settings(&self, settings: ServerSettings, by: &Principal) -> RoomResult<()> {
        let chosen =
            ChosenSettings { set: settings.clone(), started_with: self.0.started_with.clone() };
        let now_ms = self.0.clock.now_ms();
        let audit = AuditEntry::new("settings.set", &by.user, json!(settings), now_ms);
        let kept =
            StoreOp::PutSetting { key: SETTINGS.to_owned(), value: json!(chosen).to_string() };
        let batch = WriteBatch::new().with(kept).with(StoreOp::Audit(audit));
        self.0.store.commit(batch).await?;
        self.0.put_settings(settings.clone());
        self.announce(&ServerEvent::Settings(settings));
        let rooms: Vec<_> = self.0.open().values().cloned().collect();
        for room in rooms {
            // A room that is closing has nobody to tell.
            room.notify_settings().await.ok();
        }
        Ok(())
    }

    /// Takes back the votes of people who may no longer decide, because a token has ended, and
    /// tells people. Rooms that are not open do so when the votes are needed.
    pub async fn recount(&self) {
        let open: Vec<_> = self.0.open().values().cloned().collect();
        for room in open {
            room.send(RoomCommand::Recount).await;
        }
    }

    /// Finishes the commands that the rooms have, and closes them. Opening fails from now on.
    pub async fn close(&self) {
        {
            // A room that is just being opened is tracked before the tracker is closed.
            let _open = self.0.open();
            self.0.stopping.cancel();
            self.0.tasks.close();
        }
        self.0.tasks.wait().await;
    }
}

impl RoomDeps {
    /// Returns the server's settings.
    pub(super) fn settings(&self) -> ServerSettings {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the inbox asks for before a file is changed. Rooms of files [know](Self::know_inbox)
    /// it.
    pub(super) fn inbox(&self) -> Arc<InboxPolicies> {
        self.inbox.read().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
    }

    /// Takes over what the inbox asks for from now on.
    pub(super) fn put_inbox(&self, inbox: &RoomState) {
        let policies = Arc::new(inbox.inbox_policies());
        *self.inbox.write().unwrap_or_else(PoisonError::into_inner) = Some(policies);
    }

    /// Looks up what the inbox asks for, unless that is known.
    pub(super) async fn know_inbox(&self) -> RoomResult<()> {
        let is_known = self.inbox.read().unwrap_or_else(PoisonError::into_inner).is_some();
        if is_known {
            return Ok(());
        }
        let found = match loading::load(&self.store, &workspace_inbox::id()).await {
            Ok(inbox) => inbox.inbox_policies(),
            Err(RoomError::NoDocument) => InboxPolicies::default(),
            Err(error) => return Err(error),
        };
        let mut known = self.inbox.write().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert_with(|| Arc::new(found));
        Ok(())
    }

    fn put_settings(&self, settings: ServerSettings) {
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = settings;
    }

    /// Locks the open rooms: while this is locked, nobody gets a new handle to one.
    pub(super) fn open(&self) -> MutexGuard<'_, HashMap<DocumentId, RoomHandle>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the index from requests to documents.
    pub(super) fn request_index(&self) -> MutexGuard<'_, RequestIndex> {
        self.request_index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the room of a document, if it is open and its task is alive.
    fn room(&self, document: &DocumentId) -> Option<RoomHandle> {
        self.open().get(document).filter(|room| room.is_open()).cloned()
    }

    fn loading_lock(&self, document: &DocumentId) -> Arc<LoadingLock> {
        let mut loading_locks = self.loading_locks.lock().unwrap_or_else(PoisonError::into_inner);
        // Locks that nobody holds any more are removed.
        loading_locks.retain(|_, loading_lock| Arc::strong_count(loading_lock) > 1);
        Arc::clone(loading_locks.entry(document.clone()).or_default())
    }
}

/// Returns a title as it is stored: trimmed, one line, of at most [`LONGEST_TITLE`] characters;
/// `None` if nothing is left.
pub(super) fn title(wanted: &str) -> Option<String> {
    let title: String =
        wanted.trim().chars().filter(|c| !c.is_control()).take(LONGEST_TITLE).collect();
    (!title.is_empty()).then_some(title)
}
