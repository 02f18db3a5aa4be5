//! A tool of your own: `append_note` adds a note to the end of a document, and people decide about
//! it.
//!
//! ```sh
//! cargo run --example custom_tool
//! ```
//!
//! Everything runs in this process, with a store in memory. A script plays the model. Its call of
//! the tool becomes a request, the request is approved, and the note is in the text.

use std::io::Write as _;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use copydesk_agent::{
    AgentQuestion, AgentService, AskKind, BypassPolicy, ModelCatalog, PermissionMode, RunEndKind,
};
use copydesk_approvals::ApprovalSwitch;
use copydesk_approvals::{Decision, RequestVerdict};
use copydesk_auth::{Authenticator, TokenSecret};
use copydesk_clock::WallClock;
use copydesk_document::Text;
use copydesk_ids::{DocumentId, MemberId, SessionId};
use copydesk_llm::scripted::{ModelScript, ScriptedModel};
use copydesk_rooms::command::{ClientCapabilities, JoiningMember};
use copydesk_rooms::event::{AgentEventSubtype, RoomEvent, RunEventKind};
use copydesk_rooms::settings::ServerSettings;
use copydesk_rooms::{EncodedEvent, EventSink, NewDocument, RoomHandle, RoomRegistry};
use copydesk_store::Store;
use copydesk_tools::{
    DocumentProposal, ProgramOffer, ProposeTool, Proposed, RegisteredTool, ReplacedText, Tool,
    ToolContext, ToolError, ToolRegistry, ToolResult,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Tool `append_note`.
struct AppendNote;

/// Input of [`AppendNote`]. The model is told the names, the types and these comments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AppendNoteInput {
    /// The note: one line.
    note: String,
}

impl Tool for AppendNote {
    const NAME: &'static str = "append_note";
    // Its name for people, in the editor and in rules.
    const TITLE: &'static str = "Note";
    const DESCRIPTION: &'static str = "Add a note at the end of the document.";
    const WHEN: &'static str = "Use to leave a note for the people who write the document";
    // Programs may call it over MCP.
    const PROGRAM: Option<ProgramOffer> = Some(ProgramOffer::new(Self::NAME, "Append a note"));
    type Input = AppendNoteInput;
}

// A change of the document, which people decide about.
impl ProposeTool for AppendNote {
    // It removes no words, so the model need not have read the document.
    const REPLACES: ReplacedText = ReplacedText::Nothing;

    async fn propose(&self, context: ToolContext, input: AppendNoteInput) -> ToolResult<Proposed> {
        if input.note.trim().is_empty() || input.note.contains('\n') {
            return Err(ToolError::Denied("The note is one line of text".into()));
        }
        let base = context.document()?;
        let text = Text::new(&format!("{}\n\nNote: {}\n", base.text, input.note.trim()));
        DocumentProposal::rewriting(base, text).await.map(Proposed::Change)
    }
}

/// Answers of the model: a call of the tool, and a last word once the call is decided.
const SCRIPT: &str = r#"{"name": "leave a note", "turns": [
    {"content": [{"type": "tool_use", "name": "append_note", "input": {"note": "Check the figures."}}]},
    {"content": [{"type": "text", "text": "The note is there."}]}
]}"#;

/// Returns the tools of a server, with this one.
pub fn tools() -> ToolRegistry {
    ToolRegistry::default().with_tool(RegisteredTool::proposes(AppendNote))
}

/// Sink that passes the events of the rooms to this program.
struct EventChannel(UnboundedSender<RoomEvent>);

impl EventSink for EventChannel {
    fn notify(&self, _: &DocumentId, _: &[MemberId], event: &RoomEvent, _: Option<&EncodedEvent>) {
        // The program may have ended.
        self.0.send(event.clone()).ok();
    }
}

/// Lets the model call the tool, decides about the call, and returns the text of the document.
///
/// # Errors
/// The refusal of the question or of the decision, or the end of a run that did not succeed.
pub async fn run(verdict: RequestVerdict) -> Result<String> {
    let (store, clock) = (Store::in_memory().await?, WallClock::system());
    let auth = Authenticator::new(store.clone());
    auth.set_owner(&TokenSecret::chosen("the-owner-of-this-example")?, clock.now_ms()).await?;
    let (events, mut received) = unbounded_channel();
    let settings = ServerSettings {
        approvals: ApprovalSwitch::On,
        timeout_ms: Some(60_000),
        permission_mode: PermissionMode::Ask,
    };
    let sink = Arc::new(EventChannel(events));
    let script = ModelScript::parse("custom_tool", SCRIPT)?;
    let models = ModelCatalog::new(Arc::new(ScriptedModel::new("custom_tool", script)), []);
    let (tools, time) = (tools(), clock.clone());
    let rooms = RoomRegistry::new(store.clone(), sink, settings, time, tools.catalog());
    let (stored, bypass) = (store.clone(), BypassPolicy::Forbidden);
    let agents = AgentService::with_tools(tools, stored, rooms.clone(), models, bypass, clock);

    let new = NewDocument {
        title: "Report".into(),
        text: "Sales rose by 4 %.".into(),
        unlisted_owner: None,
    };
    let room = rooms.create(new, &Authenticator::owner()).await?;
    let owner = JoiningMember {
        id: MemberId::generate(),
        principal: Authenticator::owner(),
        capabilities: ClientCapabilities::default(),
    };
    room.open(owner, None).await?;
    agents.ask(question(&room, "Remind us to check the figures.")).await?;
    decide(&room, &mut received, verdict).await?;
    let text = room.read().await?.text.to_string();
    agents.shutdown().await;
    rooms.close().await;
    Ok(text)
}

/// Returns a question of the owner about the document of a room.
fn question(room: &RoomHandle, prompt: &str) -> AgentQuestion {
    let (session, owner) = (SessionId::generate(), Authenticator::owner());
    AgentQuestion {
        document: Some(room.document().clone()),
        ..AgentQuestion::new(session, owner, prompt.into(), AskKind::Ask)
    }
}

/// Decides about every request, until the run is over.
async fn decide(
    room: &RoomHandle,
    events: &mut UnboundedReceiver<RoomEvent>,
    verdict: RequestVerdict,
) -> Result<()> {
    loop {
        match events.recv().await.context("the rooms were closed")? {
            RoomEvent::Requested(request) => {
                let decision = Decision::plain(verdict.clone());
                room.decide(request.id().clone(), decision, Authenticator::owner()).await?;
            }
            RoomEvent::Said(event) => {
                if let RunEventKind::Agent(object) = &event.saying
                    && let AgentEventSubtype::Ended(kind) = object.subtype
                {
                    let is_success = kind == RunEndKind::Success;
                    anyhow::ensure!(is_success, "the run ended with {}", kind.as_str());
                    return Ok(());
                }
            }
            _ => {}
        }
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let text = run(RequestVerdict::Approve).await?;
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}
