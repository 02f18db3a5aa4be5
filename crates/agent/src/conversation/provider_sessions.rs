//! Conversations that a model keeps by itself (threads), and the choice of the thread that a run
//! continues.
//!
//! Each run has a thread of its own, which begins where the one of the previous run ends. So
//! entries that people remove from a conversation are not in the next thread either. If another
//! model answered last, a new thread is begun.

use copydesk_ids::RunId;
use copydesk_llm as llm;
use copydesk_store::RunRecord;

use super::transcript::{EntryKind, TranscriptEntry};
use crate::models::ChosenModel;
use crate::run::run_record::{ProviderSession, Run};
use crate::{AgentService, AskError, ConversationMode};

impl Run {
    /// Returns the name of the run that is unique on this server.
    pub fn full_name(&self) -> String {
        RunRecord::key(&self.ask.session, &self.ask.run).to_string()
    }

    /// Returns the thread in its present state; it has begun once the model has answered.
    pub fn thread_now(&self, entries: &[TranscriptEntry]) -> Option<llm::ModelThread> {
        let ProviderSession { id, from } = self.thread.clone()?;
        let answered = |entry: &TranscriptEntry| {
            entry.run == self.ask.run && matches!(entry.kind, EntryKind::Answer { .. })
        };
        Some(llm::ModelThread { id, from, begun: entries.iter().any(answered) })
    }
}

/// Chooses the thread of a run whose model keeps threads, if it has none yet. `said` is the
/// conversation so far.
///
/// # Errors
/// [`AskError::Store`] if the previous run cannot be read; the run is unchanged then.
pub async fn choose(
    shared: &AgentService,
    run: &mut Run,
    chosen: &ChosenModel,
    said: &[TranscriptEntry],
) -> Result<(), AskError> {
    if run.ask.outside().is_some() || !chosen.model.keeps_threads() {
        run.thread = None;
        return Ok(());
    }
    if run.thread.is_some() {
        return Ok(());
    }
    let before = match run.ask.conversation {
        ConversationMode::Continue => said,
        ConversationMode::Fresh => &[],
    };
    let known = match previous(before, &run.ask.run) {
        Some(previous) => {
            let record = shared.store.run(&RunRecord::key(&run.ask.session, previous)).await?;
            let previous = record.and_then(|record| Run::read(record).ok());
            previous.filter(|it| it.model == run.model).and_then(|it| it.thread)
        }
        None => None,
    };
    let id = uuid::Uuid::new_v4().to_string();
    run.thread = Some(ProviderSession { id, from: known.map(|thread| thread.id) });
    Ok(())
}

/// Returns the previous run with a model. The first entries of a long conversation may be missing.
fn previous<'a>(before: &'a [TranscriptEntry], run: &RunId) -> Option<&'a RunId> {
    let is_call =
        |entry: &&TranscriptEntry| matches!(entry.kind, EntryKind::Prompt { source: Some(_), .. });
    let calls: Vec<&RunId> = before.iter().filter(is_call).map(|entry| &entry.run).collect();
    before
        .iter()
        .rev()
        .map(|entry| &entry.run)
        .find(|other| *other != run && !calls.contains(other))
}
