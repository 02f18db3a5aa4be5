//! Reads a stored conversation in pieces: of a long one, only the entries that are needed.

use std::collections::BTreeSet;

use copydesk_ids::permissions::{Action, Principal};
use copydesk_ids::{DocumentId, RunId, SessionId};
use copydesk_rooms::RoomHandle;
use copydesk_rooms::settings::model_access::AskedModel;
use copydesk_store::{
    EntrySize, MEASURED, MessageRecord, RunRecord, RunState, TranscriptCursor, TranscriptSince,
    fitting,
};

use super::transcript::{self, CONVERSATION_LIMIT, EntryKind, TranscriptEntry};
use crate::models::{ChosenModel, check_model};
use crate::run::run_record::{self, Run};
use crate::service::AgentService;
use crate::{AgentQuestion, AskResult};

/// Size of one page of a conversation for people, in bytes; a single entry may be longer.
const PAGE: u64 = 512 * 1024;
/// Size of the first piece in the search for a run. Most searches are for new and short runs.
const FIRST: HistoryChunk = HistoryChunk { entries: 16, bytes: 64 * 1024 };
/// Factor by which each further piece is larger.
const GROWTH: u64 = 4;
/// Maximum size of one piece.
const LARGEST: HistoryChunk = HistoryChunk { entries: MEASURED, bytes: 1024 * 1024 };
/// Maximum size in bytes of one entry, and of all entries together, that are read only for the
/// decisions in them.
const DECISIONS: (u64, u64) = (16 * 1024, 256 * 1024);

/// Parts of a run's results that are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultTexts {
    /// Everything.
    Kept,
    /// Everything but the texts for the model, which may be long.
    LeftOut,
}

/// Size of one piece of a conversation.
#[derive(Clone, Copy, Debug)]
struct HistoryChunk {
    entries: u64,
    bytes: u64,
}

impl HistoryChunk {
    fn next(self) -> Self {
        Self {
            entries: LARGEST.entries.min(self.entries * GROWTH),
            bytes: LARGEST.bytes.min(self.bytes * GROWTH),
        }
    }
}

/// Page of a conversation, for people ([`AgentService::said_before`]).
#[derive(Debug)]
pub struct HistoryPage {
    /// Entries in order.
    pub entries: Vec<TranscriptEntry>,
    /// Cursor for [`AgentService::said_before`], if there are older entries.
    pub before: Option<TranscriptCursor>,
}

impl AgentService {
    /// Returns the newest entries of a conversation, or the newest before a cursor. With a
    /// document, these are the entries of all sessions, as the people of the document see them.
    pub async fn said_before(
        &self,
        session: &SessionId,
        document: Option<&DocumentId>,
        before: Option<&TranscriptCursor>,
    ) -> AskResult<HistoryPage> {
        let store = &self.store;
        let mut said = if let Some(document) = document {
            store.conversations_before(document, before, PAGE).await?
        } else {
            let before = before.map(|place| place.seq);
            let sizes =
                store.sizes(session, None, TranscriptSince::NewBeginning, before, MEASURED).await?;
            let places = places(fitting(&sizes, PAGE, |it| it.bytes));
            store.messages_at(session, None, &places).await?
        };
        // Results belong on the page of the answer that made the calls.
        if said.len() > 1 && holds_results(&said[0].1) {
            said.remove(0);
        }
        let first = said.first().map(|(place, _)| place.clone());
        let is_more = match (&first, document) {
            (None, _) => false,
            (Some(first), Some(document)) => {
                !store.conversations_before(document, Some(first), 0).await?.is_empty()
            }
            (Some(first), None) => {
                let before = Some(first.seq);
                !store
                    .sizes(session, None, TranscriptSince::NewBeginning, before, 1)
                    .await?
                    .is_empty()
            }
        };
        let entries = said.into_iter().filter_map(read).map(|(_, entry)| entry).collect();
        Ok(HistoryPage { entries, before: first.filter(|_| is_more) })
    }

    /// Returns the entries with which a run continues: the newest of its conversation, as many as a
    /// model is sent; of older ones those with decisions; and all of the run itself.
    pub(crate) async fn remembered(&self, run: &Run) -> AskResult<Vec<TranscriptEntry>> {
        let (session, document) = (&run.ask.session, run.ask.document.as_ref());
        let sizes = self
            .store
            .sizes(session, document, TranscriptSince::NewBeginning, None, MEASURED)
            .await?;
        let newest = fitting(&sizes, CONVERSATION_LIMIT as u64, |it| it.bytes);
        let earlier = self.at(session, document, &decisions(&sizes[newest.len()..])).await?;
        let mut entries: Vec<TranscriptEntry> =
            earlier.into_iter().map(|(_, entry)| entry).collect();
        // Older entries are never sent: the messages begin with a prompt.
        entries.retain(|entry| matches!(entry.kind, EntryKind::Results { .. }));
        let newest = self.at(session, document, &places(newest)).await?;
        entries.extend(newest.into_iter().map(|(_, entry)| entry));
        let own = self.said_by(run, ResultTexts::Kept).await?;
        entries.retain(|entry| entry.run != run.ask.run);
        entries.extend(own);
        Ok(entries)
    }

    /// Removes words and titles of other documents from earlier runs, if not everyone who reads
    /// this conversation may read those documents, or if they may not be shown to `chosen`. Rights
    /// and settings change, and the conversation may have been another person's. Returns `true` if
    /// anything was removed.
    pub(crate) async fn keep_apart(
        &self,
        run: &Run,
        chosen: &ChosenModel,
        entries: &mut [TranscriptEntry],
        room: &RoomHandle,
    ) -> AskResult<bool> {
        let AgentQuestion { principal, run, .. } = &run.ask;
        let named = transcript::elsewhere(entries, run);
        let hidden = self.hidden_documents(principal, chosen, room, named).await?;
        Ok(!hidden.is_empty() && transcript::keep_apart(entries, run, &hidden))
    }

    /// Returns those of the other documents that not everyone who reads this conversation may read,
    /// or that may not be shown to `chosen`. `asker` is the person who asks.
    pub(crate) async fn hidden_documents(
        &self,
        asker: &Principal,
        chosen: &ChosenModel,
        room: &RoomHandle,
        named: BTreeSet<DocumentId>,
    ) -> AskResult<BTreeSet<DocumentId>> {
        if named.is_empty() {
            return Ok(named);
        }
        // A private document belongs to its session alone.
        let readers = match room.unlisted_owner() {
            None => Some(self.rooms.readers(room.document()).await?),
            Some(_) => None,
        };
        let may_hear = |id: &DocumentId| {
            asker.may(Action::Read, Some(id))
                && readers.as_ref().is_none_or(|readers| readers.may_all_read(id))
        };
        let model = chosen.asked();
        let mut hidden = BTreeSet::new();
        for id in named {
            if !may_hear(&id) || !self.may_show(&id, &model).await {
                hidden.insert(id);
            }
        }
        Ok(hidden)
    }

    /// Returns `true` if the document may be shown to the model, as far as that is known.
    async fn may_show(&self, document: &DocumentId, model: &AskedModel) -> bool {
        match self.rooms.open_to_read(document).await {
            Ok(room) => check_model(&room, model).await.is_ok(),
            Err(_) => false,
        }
    }

    pub(crate) async fn said_by(
        &self,
        run: &Run,
        texts: ResultTexts,
    ) -> AskResult<Vec<TranscriptEntry>> {
        let (ask, key) = (&run.ask, RunRecord::key(&run.ask.session, &run.ask.run));
        match self.store.run(&key).await? {
            Some(record) if record.state != RunState::Queued => {
                self.said_in(&ask.session, ask.document.as_ref(), &ask.run, texts).await
            }
            _ => Ok(Vec::new()),
        }
    }

    pub(crate) async fn said_in(
        &self,
        session: &SessionId,
        document: Option<&DocumentId>,
        run: &RunId,
        texts: ResultTexts,
    ) -> AskResult<Vec<TranscriptEntry>> {
        let (mut before, mut found, mut most) = (None, Vec::new(), FIRST);
        loop {
            let piece = self.piece(session, document, before, most).await?;
            most = most.next();
            let Some((first, _)) = piece.first() else { break };
            before = Some(first.seq);
            let mut own: Vec<TranscriptEntry> = piece.into_iter().map(|(_, entry)| entry).collect();
            own.retain(|entry| entry.run == *run);
            if texts == ResultTexts::LeftOut {
                own.iter_mut().for_each(transcript::leave_out_texts);
            }
            let is_all = own.first().is_some_and(|it| matches!(it.kind, EntryKind::Prompt { .. }));
            found.splice(0..0, own);
            if is_all {
                break;
            }
        }
        Ok(found)
    }

    /// Returns the conversation up to the end of a run: the newest runs, as many as fit into
    /// `bytes`. `None` if the run does not exist.
    pub(crate) async fn said_until(
        &self,
        session: &SessionId,
        document: Option<&DocumentId>,
        run: &RunId,
        bytes: usize,
    ) -> AskResult<Option<Vec<TranscriptEntry>>> {
        let (mut before, mut found, mut most) = (None, Vec::new(), FIRST);
        let (mut is_begun, mut size) = (false, 0);
        'looking: loop {
            let piece = self.piece(session, document, before, most).await?;
            most = most.next();
            let Some((first, _)) = piece.first() else { break };
            before = Some(first.seq);
            for (_, entry) in piece.into_iter().rev() {
                if is_begun && (size > bytes || matches!(entry.kind, EntryKind::Cleared { .. })) {
                    break 'looking;
                }
                let is_own = entry.run == *run;
                is_begun |= is_own && matches!(entry.kind, EntryKind::Prompt { .. });
                if is_own || !found.is_empty() {
                    size += transcript::size(&entry);
                    found.push(entry);
                }
            }
        }
        found.reverse();
        Ok(is_begun.then(|| transcript::recent(&found, run, bytes).to_vec()))
    }

    /// Returns the newest entries of all conversations of a session about the document (or about
    /// none), or the newest before a place.
    async fn piece(
        &self,
        session: &SessionId,
        document: Option<&DocumentId>,
        before: Option<u64>,
        most: HistoryChunk,
    ) -> AskResult<Vec<(TranscriptCursor, TranscriptEntry)>> {
        let (mut before, mut most) = (before, most);
        loop {
            let HistoryChunk { entries, bytes } = most;
            let sizes =
                self.store.sizes(session, document, TranscriptSince::Ever, before, entries).await?;
            most = most.next();
            let places = places(fitting(&sizes, bytes, |it| it.bytes));
            let piece = self.at(session, document, &places).await?;
            // Entries that cannot be read are skipped, but older ones may be readable.
            match places.last() {
                Some(last) if piece.is_empty() => before = Some(*last),
                _ => return Ok(piece),
            }
        }
    }

    async fn at(
        &self,
        session: &SessionId,
        document: Option<&DocumentId>,
        places: &[u64],
    ) -> AskResult<Vec<(TranscriptCursor, TranscriptEntry)>> {
        let messages = self.store.messages_at(session, document, places).await?;
        Ok(messages.into_iter().filter_map(read).collect())
    }
}

/// Reads a message back. Messages that this program did not write are left out.
fn read(
    (place, message): (TranscriptCursor, MessageRecord),
) -> Option<(TranscriptCursor, TranscriptEntry)> {
    let session = SessionId::from(place.session.clone());
    run_record::entry(&session, message.at_ms, message.body).map(|entry| (place, entry))
}

fn places(sizes: &[EntrySize]) -> Vec<u64> {
    sizes.iter().map(|size| size.seq).collect()
}

/// Returns the places of old entries that may contain decisions: results with decisions are short.
fn decisions(older: &[EntrySize]) -> Vec<u64> {
    let (most, together) = DECISIONS;
    let mut left = together;
    let short = older.iter().filter(|size| size.role == "user" && size.bytes <= most);
    let fits = |size: &&EntrySize| {
        let rest = left.checked_sub(size.bytes);
        left = rest.unwrap_or_default();
        rest.is_some()
    };
    short.take_while(fits).map(|size| size.seq).collect()
}

fn holds_results(message: &MessageRecord) -> bool {
    message.body["kind"] == "results"
}

#[cfg(test)]
mod tests {
    use crate::conversation::decision_updates::DecisionUpdates;
    use crate::tests::fixture::{TestAgent, owner, rewrites, says};
    use copydesk_approvals::{Decision, RequestVerdict};
    use copydesk_store::WriteBatch;
    use copydesk_tools::ToolOutcome;

    use super::*;

    /// Creates runs that each asked with so many bytes and read so many, in their stored form.
    async fn long_runs(stage: &TestAgent, runs: usize, (asked, bytes): (usize, usize)) {
        for number in 0..runs {
            let outcome = ToolOutcome {
                tool_use_id: "toolu_1".into(),
                text: "x".repeat(bytes),
                ..ToolOutcome::default()
            };
            let text = "?".repeat(asked);
            let kinds = [
                EntryKind::Prompt {
                    name: "Ada".into(),
                    text,
                    source: None,
                    news: DecisionUpdates::default(),
                },
                EntryKind::of_outcomes(vec![outcome]),
            ];
            for kind in kinds {
                let run = RunId::from(format!("long_{number}"));
                let entry = TranscriptEntry {
                    session: stage.session.clone(),
                    run,
                    at_ms: number as u64,
                    kind,
                };
                let append = run_record::append(Some(stage.room.document()), &entry).unwrap();
                stage.store.commit(WriteBatch::from(append)).await.unwrap();
            }
        }
    }

    #[tokio::test]
    async fn a_run_reads_what_a_model_is_sent_and_older_decisions() {
        let mut stage = TestAgent::with("It was dark.").await;
        stage.model.plays([rewrites("It was very dark."), says("Done.")]);
        stage.ask("Make it darker").await;
        stage.decide(RequestVerdict::Approve).await;
        stage.response().await;
        long_runs(&stage, 30, (10, 100_000)).await;
        let run = Run::new(stage.question("And now?"), 0);
        let entries = stage.agents.remembered(&run).await.unwrap();
        let bytes: usize = entries.iter().map(transcript::size).sum();
        assert!((200_000..450_000).contains(&bytes), "{bytes}");
        assert_eq!(transcript::decided(entries.iter()).count(), 1, "the decision is long ago");
        let sent = transcript::recent(&entries, &run.ask.run, usize::MAX);
        assert_eq!(sent[0].run.as_str(), "long_27", "what is sent begins with a prompt");
    }

    #[tokio::test]
    async fn people_are_told_a_long_conversation_page_by_page() {
        let stage = TestAgent::with("").await;
        long_runs(&stage, 20, (90_000, 100_000)).await;
        let (mut before, mut told) = (None, Vec::new());
        loop {
            let of = Some(stage.room.document());
            let page = stage.agents.said_before(&stage.session, of, before.as_ref()).await.unwrap();
            let bytes: usize = page.entries.iter().map(transcript::size).sum();
            assert!(bytes as u64 <= PAGE, "{bytes}");
            assert!(matches!(page.entries[0].kind, EntryKind::Prompt { .. }));
            told.splice(0..0, page.entries);
            before = page.before;
            if before.is_none() {
                break;
            }
        }
        let numbers: Vec<u64> = told.iter().map(|entry| entry.at_ms).collect();
        let expected: Vec<u64> = (0..20).flat_map(|number| [number, number]).collect();
        assert_eq!(numbers, expected);
    }

    #[tokio::test]
    async fn a_run_that_waits_while_much_is_said_is_taken_up_whole() {
        let mut stage = TestAgent::with("It was dark.").await;
        stage.model.plays([rewrites("It was very dark."), says("Done.")]);
        stage.ask("Make it darker").await;
        let request = stage.request().await;
        long_runs(&stage, 30, (10, 100_000)).await;
        stage.restart().await;
        let approve = Decision::plain(RequestVerdict::Approve);
        stage.room.decide(request.id().clone(), approve, owner()).await.unwrap();
        assert_eq!(stage.response().await.message, "Done.");
        let words = stage.words();
        let asked = words.iter().filter(|word| *word == "prompt").count();
        assert_eq!(asked, 1, "it was not asked a second time");
    }
}
