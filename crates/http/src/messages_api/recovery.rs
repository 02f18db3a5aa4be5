//! Recovery of answers in which tools of this server run. They are kept until the program has them,
//! so that a program whose request broke off because the server died can send it again without
//! people being asked twice.
//!
//! A kept answer is found by the request itself: the conversation, in its canonical form, and
//! everything else that shapes the answer. It is continued only if another process began it. Within
//! one process the connection tells more: an open connection gets its answer, and a closed one has
//! withdrawn its calls, so a repeated request there wants another answer. If the program withdrew
//! its calls before the server died, they are made anew, as after a manual retry.

use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::messages_api::conversation_hash::ConversationHash;
use crate::messages_api::failure::ApiFailure;
use crate::messages_api::request::CheckedRequest;
use crate::messages_api::server_tool_loop::PausedLoop;
use copydesk_engine::api::AnswerRecord;
use copydesk_engine::ids::{SessionId, UserId, Version};
use copydesk_engine::llm::messages_api::ContentBlock;

use super::conversations::Conversations;

/// Answer that another process may have to continue.
pub(crate) struct ResumableAnswer {
    conversations: Conversations,
    user: UserId,
    key: String,
    /// Prefix of the marks of its calls, by which a repeated call is recognized.
    name: String,
    /// True once progress of this answer is stored.
    is_kept: bool,
}

/// Stored progress of a [`ResumableAnswer`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedProgress {
    /// Process that wrote this record.
    life: String,
    name: String,
    /// Session of the calls.
    pub(crate) session: SessionId,
    /// Version of the document that the model had read.
    pub(crate) read: Option<Version>,
    /// Messages so far, with the calls that were about to run.
    pub(crate) paused: PausedLoop,
}

impl ResumableAnswer {
    /// Returns the answer to this request in the conversation up to `key`, and the progress that an
    /// earlier process made with it.
    pub(crate) async fn open(
        conversations: &Conversations,
        user: &UserId,
        key: ConversationHash,
        asked: &CheckedRequest,
        now_ms: u64,
    ) -> Result<(Self, Option<SavedProgress>), ApiFailure> {
        let key = format!("{key} {}", shape(asked));
        let found = conversations.find(user, &key, now_ms).await?;
        // A record that this version of the server cannot read is ignored, and the model is asked
        // anew.
        let left: Option<SavedProgress> = found.and_then(|body| serde_json::from_value(body).ok());
        let left = left.filter(|left| left.life != conversations.life());
        let name = match &left {
            Some(left) => left.name.clone(),
            None => uuid::Uuid::new_v4().simple().to_string(),
        };
        let (conversations, user) = (conversations.clone(), user.clone());
        Ok((Self { conversations, user, key, name, is_kept: left.is_some() }, left))
    }

    /// Stores the progress, before any action that must not be repeated.
    pub(crate) async fn keep(
        &mut self,
        session: &SessionId,
        read: Option<Version>,
        paused: PausedLoop,
        now_ms: u64,
    ) {
        let (life, name) = (self.conversations.life().to_owned(), self.name.clone());
        let left = SavedProgress { life, name, session: session.clone(), read, paused };
        let (user, key) = (self.user.clone(), self.key.clone());
        let record = AnswerRecord { user, key, used_ms: now_ms, body: json!(left) };
        self.is_kept = true;
        if let Err(error) = self.conversations.stored().put(record).await {
            // At worst people are asked once more.
            tracing::warn!(%error, "cannot store the progress of an answer");
        }
    }

    /// Drops the stored progress once the program has its answer.
    pub(crate) async fn over(self) {
        if !self.is_kept {
            return;
        }
        let Self { conversations, user, key, .. } = self;
        if let Err(error) = conversations.stored().remove(user, key).await {
            tracing::warn!(%error, "cannot delete the record of a finished answer");
        }
    }

    /// Returns the mark that identifies a call: the answer, the place of the call in it, and the
    /// call's whole content.
    pub(crate) fn mark(&self, round: usize, place: usize, call: &ContentBlock) -> String {
        format!("messages\n{}\n{round}\n{place}\n{}", self.name, json!(call))
    }
}

/// Hashes the fields of a [`CheckedRequest`] that identify it besides the conversation.
fn shape(asked: &CheckedRequest) -> String {
    let CheckedRequest {
        model,
        max_tokens,
        system,
        tools,
        native,
        choice,
        stop_sequences,
        more,
        ..
    } = asked;
    let native: Vec<_> = native.iter().map(|tool| &tool.definition).collect();
    let shape =
        json!([model, max_tokens, system, tools, native, choice, stop_sequences, more]).to_string();
    let digest = Sha256::digest(shape);
    uuid::Uuid::from_slice(&digest[..16]).unwrap_or_default().simple().to_string()
}
