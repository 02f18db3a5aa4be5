//! Simulated people who comment and suggest, on any node.

use std::sync::Arc;
use std::time::Duration;

use copydesk_approvals::{ApprovalRequest, SuggestionState};
use copydesk_comments::CommentThread;
use copydesk_document::{ChangeSet, MapOrder};
use copydesk_ids::{DocumentId, Version};
use copydesk_rooms::RoomError;
use copydesk_rooms::command::{
    CommentCommand, ReplySender, RoomCommand, SuggestionSnapshot, SuggestionUpdate, ThreadSnapshot,
};

use super::{ClientReply, ClusterSimulation};
use crate::comment_writing::{CommentWish, SeenDocument};
use crate::generators::{self, PEOPLE};
use crate::invariants::CheckResult;
use crate::nodes::sent_writes::{WriteKey, WriteOutcome};
use crate::nodes::simulated_node::QueuedCommand;
use crate::suggestion_writing::{SUGGESTERS, SuggestingView, check_as_written};

/// Largest number of threads of a document at a time. Histories are short.
const MAX_THREADS: usize = 3;
/// Longest time after which a message arrives that comes twice, in milliseconds.
const LONGEST_DELAY_MS: u64 = 30_000;

/// A comment that was sent, with its number among the writes if it must be stored once.
#[derive(Clone)]
pub(super) struct SentComment {
    at: Option<usize>,
    document: DocumentId,
    wish: CommentWish,
}

/// An update of a suggestion that was sent, and the change that it wants.
#[derive(Clone)]
pub(super) struct SentUpdate {
    at: usize,
    update: SuggestionUpdate,
    wanted: ChangeSet,
}

/// Returns the command once more, if it changes nothing when it comes twice.
fn repeated(command: &CommentCommand) -> Option<CommentCommand> {
    match command {
        CommentCommand::Resolve(thread, on, by) => {
            Some(CommentCommand::Resolve(thread.clone(), *on, by.clone()))
        }
        CommentCommand::Delete(comment, by) => {
            Some(CommentCommand::Delete(comment.clone(), by.clone()))
        }
        _ => None,
    }
}

impl ClusterSimulation {
    /// A person comments on what is stored.
    pub(super) fn comment(&mut self) {
        let document = self.random_document();
        let Some((threads, open)) = self.stored(&document) else { return };
        let by = generators::principal_named(PEOPLE[self.random.usize(..4)]);
        self.comments += 1;
        let text = format!("comment {}", self.comments);
        let (command, wish) = {
            let database = self.database.lock();
            let reference = &database.documents[&document].reference;
            let max_threads = MAX_THREADS;
            let seen = SeenDocument { threads: &threads, open: &open, reference, max_threads };
            seen.random_comment(&mut self.random, text, by)
        };
        let at = match &wish {
            CommentWish::Begin { text, .. } | CommentWish::Write { text } => {
                Some(self.sent.send(&document, WriteKey::Comment(text.clone()), 1))
            }
            CommentWish::Delete { comment } => {
                let mut database = self.database.lock();
                let row = database.documents.get_mut(&document).unwrap();
                row.threads.asked_to_delete.insert(comment.clone());
                None
            }
            CommentWish::Resolve { .. } => None,
        };
        let sent = SentComment { at, document, wish };
        if self.random.u8(..4) == 0
            && let Some(again) = repeated(&command)
        {
            let after = self.random_delay();
            self.send_comment(after, again, sent.clone());
        }
        self.send_comment(Duration::ZERO, command, sent);
    }

    /// Returns the time after which a message arrives that comes twice.
    fn random_delay(&mut self) -> Duration {
        Duration::from_millis(self.random.u64(..=LONGEST_DELAY_MS))
    }

    fn send_comment(&mut self, after: Duration, command: CommentCommand, sent: SentComment) {
        let Some(node) = self.random_node() else { return };
        let since = match &command {
            CommentCommand::Create(new, _) => new.version,
            _ => None,
        };
        let (replies, document) = (self.replies.0.clone(), sent.document.clone());
        let reply = ReplySender::new(move |result| {
            replies.send(ClientReply::Commented(sent, result)).ok();
        });
        let command = RoomCommand::Comment(command, reply);
        let since = since.unwrap_or(Version(u64::MAX));
        self.send_late(after, node.number(), &document, QueuedCommand { command, since });
    }

    pub(super) fn check_commented(
        &mut self,
        SentComment { at, document, wish }: &SentComment,
        result: &Result<ThreadSnapshot, RoomError>,
    ) -> CheckResult {
        if let Ok(ThreadSnapshot { thread, .. }) = result {
            let database = self.database.lock();
            let row = &database.documents[document];
            row.threads.check_acknowledged(thread)?;
            wish.check_answer(thread, &row.reference)?;
        }
        match (result, WriteOutcome::of(result)) {
            (Ok(snapshot), _) => self.count(wish.event(&snapshot.thread)),
            (_, WriteOutcome::Refused) => self.count("comment refused"),
            _ => {}
        }
        at.map_or(Ok(()), |at| self.check_written(at, WriteOutcome::of(result)))
    }

    /// A person goes on writing a suggestion that is stored, or begins one. Now and then the update
    /// is sent to several nodes.
    pub(super) fn suggest(&mut self) {
        let document = self.random_document();
        let Some((_, open)) = self.stored(&document) else { return };
        let by = generators::principal_named(SUGGESTERS[self.random.usize(..SUGGESTERS.len())]);
        let before = open.iter().find(|request| request.is_suggestion_of(&by)).map(|it| &**it);
        // Who has just opened the document knows of no suggestion that has ended.
        let knows_ended = self.random.bool();
        let (update, wanted) = {
            let database = self.database.lock();
            let row = &database.documents[&document];
            let ended = || if knows_ended { row.suggestions.newest_revision(&by.user) } else { 0 };
            let version = row.reference.version();
            let view = SuggestingView {
                text: row.reference.text(version),
                version: Version(version as u64),
                before,
                revision: before.and_then(ApprovalRequest::revision).unwrap_or_else(ended),
            };
            view.random_update(&mut self.random, by)
        };
        let digest = SuggestionState::digest(update.version, update.revision, &update.changes);
        let key = WriteKey::Suggestion(update.by.user.clone(), digest);
        let copies = [1, 1, 1, 2][self.random.usize(..4)];
        let at = self.sent.send(&document, key.clone(), copies);
        {
            let mut database = self.database.lock();
            let row = database.documents.get_mut(&document).unwrap();
            row.suggestions.send(key, update.revision);
        }
        let sent = SentUpdate { at, update, wanted };
        for copy in 0..copies {
            let after = if copy == 0 { Duration::ZERO } else { self.random_delay() };
            self.send_update(after, &document, sent.clone());
        }
    }

    fn send_update(&mut self, after: Duration, document: &DocumentId, sent: SentUpdate) {
        let Some(node) = self.random_node() else { return };
        let (replies, update) = (self.replies.0.clone(), Box::new(sent.update.clone()));
        let since = update.version;
        let reply = ReplySender::new(move |result| {
            replies.send(ClientReply::Suggested(sent, result)).ok();
        });
        let command = RoomCommand::Suggest(update, reply);
        self.send_late(after, node.number(), document, QueuedCommand { command, since });
    }

    pub(super) fn check_suggested(
        &mut self,
        SentUpdate { at, update, wanted }: &SentUpdate,
        result: &Result<SuggestionSnapshot, RoomError>,
    ) -> CheckResult {
        let taken = result.as_ref().ok().and_then(|snapshot| snapshot.request.clone());
        let outcome = match result {
            // There was nothing to withdraw.
            Ok(_) if taken.is_none() => WriteOutcome::Refused,
            result => WriteOutcome::of(result),
        };
        match (&taken, result) {
            (Some(request), _) if !request.status.is_open() => self.count("suggestion withdrawn"),
            (Some(_), _) if update.revision == 0 => self.count("suggested"),
            (Some(_), _) => self.count("suggestion written on"),
            (_, Err(RoomError::StaleSuggestion(_))) => self.count("suggested over an old revision"),
            _ => {}
        }
        // The answer to an update that comes again has what came after it.
        if let (Some(request), Ok(snapshot)) = (taken, result)
            && request.status.is_open()
            && !self.sent.is_repeated(*at)
        {
            let database = self.database.lock();
            let reference = &database.documents[self.sent.document(*at)].reference;
            let (from, to) = (update.version.0 as usize, snapshot.version.0 as usize);
            let mut wanted = wanted.clone();
            for entry in &reference.entries[from..to] {
                wanted = wanted.map(&entry.change, MapOrder::After).unwrap();
            }
            check_as_written(&request, &wanted, reference.text(to))?;
        }
        self.check_written(*at, outcome)
    }

    /// Returns the threads and the open requests of a document, as they are stored.
    fn stored(
        &self,
        document: &DocumentId,
    ) -> Option<(Vec<CommentThread>, Vec<Arc<ApprovalRequest>>)> {
        let room = self.database.lock().load_room(document).ok()?;
        Some((room.threads(), room.open().values().cloned().collect()))
    }
}
