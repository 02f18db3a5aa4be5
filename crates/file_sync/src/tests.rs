//! A file and its document, with a room and a folder of their own.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;

use copydesk_approvals::ApprovalSwitch;
use copydesk_approvals::ToolCatalog;
use copydesk_auth::Authenticator;
use copydesk_clock::WallClock;
use copydesk_ids::permissions::Principal;
use copydesk_ids::{DocumentId, MemberId, Version};
use copydesk_rooms::command::{ClientCapabilities, JoiningMember, PushRequest};
use copydesk_rooms::event::RoomEvent;
use copydesk_rooms::settings::{PermissionMode, ServerSettings};
use copydesk_rooms::{EncodedEvent, EventSink, RoomHandle, RoomRegistry};
use copydesk_store::Store;
use copydesk_workspace::Workspace;

use super::{FileSync, FileSyncError};

struct SilentSink;

impl EventSink for SilentSink {
    fn notify(&self, _: &DocumentId, _: &[MemberId], _: &RoomEvent, _: Option<&EncodedEvent>) {}
}

struct FileSyncFixture {
    folder: TempDir,
    store: Store,
    rooms: RoomRegistry,
    files: FileSync,
}

impl FileSyncFixture {
    async fn with(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.md"), text).unwrap();
        let store = Store::in_memory().await.unwrap();
        let (rooms, files) = open(&store, folder.path()).await;
        Self { folder, store, rooms, files }
    }

    async fn restarts(&mut self) {
        self.rooms.close().await;
        self.files.close().await;
        (self.rooms, self.files) = open(&self.store, self.folder.path()).await;
    }

    async fn opens(&self) -> RoomHandle {
        let id = self.files.open("a.md", &owner()).await.unwrap();
        self.rooms.open(&id).await.unwrap()
    }

    fn reads(&self) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join("a.md")).ok()
    }

    fn overwrites(&self, text: &str) {
        std::fs::write(self.folder.path().join("a.md"), text).unwrap();
    }

    async fn comes_to_read(&self, text: &str) {
        for _ in 0..1_000 {
            if self.reads().as_deref() == Some(text) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the file reads {:?}", self.reads());
    }
}

async fn open(store: &Store, folder: &Path) -> (RoomRegistry, FileSync) {
    let settings = ServerSettings {
        approvals: ApprovalSwitch::On,
        timeout_ms: Some(0),
        permission_mode: PermissionMode::Ask,
    };
    let (sink, clock, tools) = (Arc::new(SilentSink), WallClock::system(), ToolCatalog::default());
    let rooms = RoomRegistry::new(store.clone(), sink, settings, clock, tools);
    let workspace = Workspace::open(folder, &[]).unwrap();
    let files = FileSync::new(store.clone(), rooms.clone(), workspace);
    files.begin().await.unwrap();
    (rooms, files)
}

fn owner() -> Principal {
    Authenticator::owner()
}

async fn writes(room: &RoomHandle, changes: &str) {
    let base = room.read().await.unwrap().version;
    writes_on(room, base, changes).await;
}

async fn writes_on(room: &RoomHandle, base: Version, changes: &str) {
    let updates = vec![("editor".into(), changes.into())];
    let push = PushRequest { member: "ana".into(), principal: owner(), base, updates };
    room.push(push).await.unwrap();
}

async fn text(room: &RoomHandle) -> String {
    room.read().await.unwrap().text.to_string()
}

#[tokio::test]
async fn what_is_written_with_no_one_in_the_room_reaches_the_file() {
    let app = FileSyncFixture::with("one\n").await;
    let room = app.opens().await;
    writes(&room, r#"[[3,"two"],1]"#).await;
    app.comes_to_read("two\n").await;
}

#[tokio::test]
async fn a_stop_writes_what_was_typed_a_moment_ago() {
    let mut app = FileSyncFixture::with("one\n").await;
    let room = app.opens().await;
    writes(&room, r#"[[3,"two"],1]"#).await;
    drop(room);
    app.restarts().await;
    assert_eq!(app.reads().as_deref(), Some("two\n"));
}

#[tokio::test]
async fn what_came_together_is_not_taken_in_again() {
    let app = FileSyncFixture::with("one two three\n").await;
    let room = app.opens().await;
    // Changed in the file, and typed by a person who does not see that yet: the same whenever the
    // file's keeper looks.
    let base = room.read().await.unwrap().version;
    app.overwrites("one two 3\n");
    writes_on(&room, base, r#"[[3,"1"],11]"#).await;
    app.files.open("a.md", &owner()).await.unwrap();
    assert_eq!(
        (text(&room).await.as_str(), app.reads().as_deref()),
        ("1 two 3\n", Some("1 two 3\n"))
    );
    app.overwrites("1 two 3\nfour\n");
    app.files.open("a.md", &owner()).await.unwrap();
    assert_eq!(text(&room).await, "1 two 3\nfour\n");
}

#[tokio::test]
async fn two_people_who_open_a_file_at_once_get_one_document() {
    let app = FileSyncFixture::with("one\n").await;
    let by = owner();
    let (one, two) = tokio::join!(app.files.open("a.md", &by), app.files.open("./a.md", &by));
    assert_eq!(one.unwrap(), two.unwrap());
}

#[tokio::test]
async fn a_file_is_live_while_it_has_not_got_what_people_wrote() {
    let app = FileSyncFixture::with("one\n").await;
    let room = app.opens().await;
    assert!(app.files.open_room("a.md").await.is_none(), "no one is there, and all is written");
    room.open(
        JoiningMember {
            id: "ana".into(),
            principal: owner(),
            capabilities: ClientCapabilities::default(),
        },
        None,
    )
    .await
    .unwrap();
    assert!(app.files.open_room("a.md").await.is_some());
    room.leave("ana".into()).await;
    room.read().await.unwrap();
    assert!(app.files.open_room("a.md").await.is_none());
    writes(&room, r#"[[3,"two"],1]"#).await;
    let is_live = app.files.open_room("a.md").await.is_some();
    assert!(is_live || app.reads().as_deref() == Some("two\n"));
    app.comes_to_read("two\n").await;
}

#[tokio::test]
async fn a_text_that_no_file_can_have_stays_in_the_document() {
    let app = FileSyncFixture::with("one\n").await;
    let room = app.opens().await;
    writes(&room, r#"[[3,"a\u0000b"],1]"#).await;
    app.files.settle(room.document()).await;
    assert_eq!(app.reads().as_deref(), Some("one\n"));
    assert!(app.files.open_room("a.md").await.is_some(), "its words are there alone");
    writes(&room, r#"[[3,"two"],1]"#).await;
    app.comes_to_read("two\n").await;
}

#[tokio::test]
async fn a_file_that_became_something_else_cannot_be_opened() {
    let app = FileSyncFixture::with("one\n").await;
    app.opens().await;
    std::fs::write(app.folder.path().join("a.md"), [0xff, 0xfe]).unwrap();
    assert!(matches!(app.files.open("a.md", &owner()).await, Err(FileSyncError::Workspace(_))));
}
