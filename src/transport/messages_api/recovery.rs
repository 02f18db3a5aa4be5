//! Answers in which tools of this server run, kept until the program has them: so that a program whose request broke off
//! because the server died can send it again, and nobody is asked twice.
//!
//! What is kept is found by the request itself: the conversation, in its canonical form, and everything else that shapes the
//! answer. It is gone on with only if another process began it. In the same process the connection tells more: one that is
//! there is answered, and one that is gone has taken its calls back; so whoever sends the same once more there wants
//! another answer. Where the program took its calls back before the server died, they are made anew, as they would be
//! made by hand.

use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::ids::{SessionId, UserId, Version};
use crate::llm::messages_api::ContentBlock;
use crate::store::{AnswerRecord, StoreOp};
use crate::transport::messages_api::conversation_hash::ConversationHash;
use crate::transport::messages_api::failure::ApiFailure;
use crate::transport::messages_api::request::CheckedRequest;
use crate::transport::messages_api::server_tool_loop::PausedLoop;

use super::conversations::Conversations;

/// One answer that may have to be gone on with.
pub(crate) struct ResumableAnswer {
    conversations: Conversations,
    user: UserId,
    key: String,
    /// Names its calls, so that they are known when they are made again.
    name: String,
    /// Whether anything is kept of it.
    is_kept: bool,
}

/// How far it came.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedProgress {
    /// The process that wrote this.
    life: String,
    name: String,
    /// The session of its calls.
    pub(crate) session: SessionId,
    /// The version of the document that the model had read.
    pub(crate) read: Option<Version>,
    /// What was said.
    pub(crate) paused: PausedLoop,
}

impl ResumableAnswer {
    /// The answer to this request in the conversation up to `key`, and how far an earlier process came with it.
    pub(crate) async fn open(
        conversations: &Conversations,
        user: &UserId,
        key: ConversationHash,
        asked: &CheckedRequest,
        now_ms: u64,
    ) -> Result<(Self, Option<SavedProgress>), ApiFailure> {
        let key = format!("{key} {}", shape(asked));
        let found = conversations.find(user, &key, now_ms).await?;
        // What another version of this server wrote, and this one cannot read, is asked anew.
        let left: Option<SavedProgress> = found.and_then(|body| serde_json::from_value(body).ok());
        let left = left.filter(|left| left.life != conversations.life());
        let name = match &left {
            Some(left) => left.name.clone(),
            None => uuid::Uuid::new_v4().simple().to_string(),
        };
        let (conversations, user) = (conversations.clone(), user.clone());
        Ok((Self { conversations, user, key, name, is_kept: left.is_some() }, left))
    }

    /// Keeps how far it is, before anything is done that must not be done twice.
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
        if let Err(error) = self.conversations.commit(StoreOp::PutAnswer(record)).await {
            // At worst people are asked once more.
            tracing::warn!(%error, "how far an answer came could not be kept");
        }
    }

    /// The program has its answer.
    pub(crate) async fn over(self) {
        if !self.is_kept {
            return;
        }
        let Self { conversations, user, key, .. } = self;
        if let Err(error) = conversations.commit(StoreOp::DropAnswer { user, key }).await {
            tracing::warn!(%error, "an answer that is over could not be forgotten");
        }
    }

    /// What a call of it is known by: the answer, its place there, and all there is in it.
    pub(crate) fn mark(&self, round: usize, place: usize, call: &ContentBlock) -> String {
        format!("messages\n{}\n{round}\n{place}\n{}", self.name, json!(call))
    }
}

/// Everything besides the conversation that makes it this request.
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
