//! Maker of the calls of runs: this server, or another one of several.

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use copydesk_store::StoreOp;
use copydesk_tools::{FinishedCall, ToolCall, ToolContext};

use crate::{AgentQuestion, AgentService, AskResult};

/// Call that was made.
#[derive(Debug)]
pub struct MadeCall {
    /// Result of the call.
    pub finished: FinishedCall,
    /// Write that is to be stored in one transaction with the result.
    pub with_result: Option<StoreOp>,
}

impl From<FinishedCall> for MadeCall {
    fn from(finished: FinishedCall) -> Self {
        Self { finished, with_result: None }
    }
}

/// Call that is to be made.
#[derive(Clone, Copy)]
pub struct RunCall<'a> {
    /// Service of the run.
    pub agents: &'a AgentService,
    /// Question of the run.
    pub ask: &'a AgentQuestion,
    /// Context of the call in the conversation.
    pub context: &'a ToolContext,
    /// Call as the model made it.
    pub call: &'a ToolCall,
    /// Token that stops the run.
    pub cancel: &'a CancellationToken,
}

/// Maker of the calls of runs. Where no method is replaced, it is this server.
#[async_trait]
pub trait CallMaker: Send + Sync {
    /// Makes a call, and waits for its result.
    ///
    /// # Errors
    /// If another server is to make the call, and it cannot be stored.
    async fn make(
        &self,
        RunCall { agents, context, call, cancel, .. }: RunCall<'_>,
    ) -> AskResult<MadeCall> {
        Ok(agents.tools().call(context, call, cancel).await.into())
    }

    /// Waits for the result of a call that may have been made before a restart. Returns `None` if
    /// it was not.
    ///
    /// # Errors
    /// Those of [`Self::make`], and if that cannot be looked up.
    async fn resume(
        &self,
        RunCall { agents, context, call, cancel, .. }: RunCall<'_>,
    ) -> AskResult<Option<MadeCall>> {
        let made = agents.tools().resume(context, call, cancel).await;
        Ok(made.and_then(Result::ok).map(MadeCall::from))
    }
}

/// Maker of calls on a server that is the only one.
pub(crate) struct SingleCallMaker;

impl CallMaker for SingleCallMaker {}
