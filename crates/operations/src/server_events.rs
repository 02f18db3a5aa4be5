//! Events that the server sends, each with the type of its payload.

use copydesk_operation_table::type_name;
use copydesk_protocol::comments::{CommentChanged, CommentUnread};
use copydesk_protocol::files::DocumentFile;
use copydesk_protocol::rules::RulesChanged;
use copydesk_protocol::server::{
    AgentEvent, ClaudeResponse, ClaudeStream, DocumentChanged, DocumentCreated, DocumentUpdates,
    PresenceChanges, PresencePeers, PresenceUpdate, SessionEnded, SessionRegistered,
    SettingsChanged, ShortUpdates, ToolApprovalRequest, ToolApprovalResolved, ToolApprovalUpdate,
};

/// Returns the names of all events that the server sends, each with the name of its type.
#[rustfmt::skip]
pub fn server_events() -> Vec<(&'static str, &'static str)> {
    vec![
        ("sessionRegistered", type_name::<SessionRegistered>()),
        ("sessionEnded", type_name::<SessionEnded>()),
        ("document:created", type_name::<DocumentCreated>()),
        ("document:updates", type_name::<DocumentUpdates>()),
        ("updates", type_name::<ShortUpdates>()),
        ("document:changed", type_name::<DocumentChanged>()),
        ("comment:changed", type_name::<CommentChanged>()),
        ("comment:unread", type_name::<CommentUnread>()),
        ("document:file", type_name::<DocumentFile>()),
        ("presence:peers", type_name::<PresencePeers>()),
        ("presence:changes", type_name::<PresenceChanges>()),
        ("presence:update", type_name::<PresenceUpdate>()),
        ("rules:changed", type_name::<RulesChanged>()),
        ("settings:changed", type_name::<SettingsChanged>()),
        ("claudeStreamStart", type_name::<ClaudeStream>()),
        ("claudeStreamChunk", type_name::<ClaudeStream>()),
        ("claudeStreamEnd", type_name::<ClaudeStream>()),
        ("agent_event", type_name::<AgentEvent>()),
        ("claudeResponse", type_name::<ClaudeResponse>()),
        ("tool_approval_request", type_name::<ToolApprovalRequest>()),
        ("tool_approval_update", type_name::<ToolApprovalUpdate>()),
        ("tool_approval_resolved", type_name::<ToolApprovalResolved>()),
    ]
}
