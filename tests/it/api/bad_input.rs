//! The table: for every event of the protocol, what is wrong with a payload and which code says so.
//!
//! After all of it the same socket still works, another one never noticed, and the document is as
//! it was.

use serde_json::{Value, json};

use crate::support::{Person, Script, TestServer, wire};

const TEXT: &str = "Nothing of this may change.\n";

/// (event, payload, code). `$document` and `$session` are the person's own; `$nowhere` has the
/// right shape and belongs to nothing.
#[rustfmt::skip]
const TABLE: &[(&str, &str, &str)] = &[
    ("document:create", r#"{"title": 7}"#, "invalid_payload"),
    ("document:create", r#"{"text": ["a", "b"]}"#, "invalid_payload"),
    ("document:create", r#"{"title": {}, "text": "x"}"#, "invalid_payload"),
    ("document:open", "{}", "invalid_payload"),
    ("document:open", r#"{"documentId": 7}"#, "invalid_payload"),
    ("document:open", r#"{"documentId": "$document", "path": "a.md"}"#, "invalid_payload"),
    ("document:open", r#"{"documentId": "$document", "since": -1}"#, "invalid_payload"),
    ("document:open", r#"{"documentId": "$document", "since": 1.5}"#, "invalid_payload"),
    ("document:open", r#"{"documentId": "$document", "since": "now"}"#, "invalid_payload"),
    ("document:open", r#"{"documentId": "$document", "since": 9e99}"#, "invalid_payload"),
    ("document:open", r#"{"documentId": "$nowhere"}"#, "not_found"),
    ("document:push", "{}", "invalid_payload"),
    ("document:push", r#"{"documentId": "$document"}"#, "invalid_payload"),
    ("document:push", r#"{"documentId": "$document", "version": 0, "updates": []}"#, "invalid_payload"),
    ("document:push", r#"{"documentId": "$document", "version": 0, "updates": "all"}"#, "invalid_payload"),
    ("document:push", r#"{"documentId": "$document", "version": -1, "updates": [{"clientID": "me", "changes": [28, [0, "x"]]}]}"#, "invalid_payload"),
    ("document:push", r#"{"documentId": "$document", "version": "0", "updates": [{"clientID": "me", "changes": [28, [0, "x"]]}]}"#, "invalid_payload"),
    ("document:push", r#"{"documentId": "$document", "version": 0, "updates": [{"changes": [28, [0, "x"]]}]}"#, "invalid_payload"),
    ("document:push", r#"{"documentId": "$document", "version": 0, "updates": [{"clientID": 7, "changes": [28, [0, "x"]]}]}"#, "invalid_payload"),
    ("document:push", r#"{"documentId": "$document", "version": 0, "updates": [{"clientID": "me"}]}"#, "invalid_payload"),
    ("document:push", r#"{"documentId": "$document", "version": 0, "updates": [{"clientID": "me", "changes": null}]}"#, "invalid_payload"),
    ("document:push", r#"{"documentId": "$document", "version": 0, "updates": [{"clientID": "me", "changes": [99, [0, "x"]]}]}"#, "invalid_payload"),
    ("document:push", r#"{"documentId": "$document", "version": 0, "updates": [{"clientID": "me", "changes": [-28, [0, "x"]]}]}"#, "invalid_payload"),
    ("document:push", r#"{"documentId": "$document", "version": 0, "updates": [{"clientID": "me", "changes": ["x"]}]}"#, "invalid_payload"),
    ("document:push", r#"{"documentId": "$document", "version": 0, "updates": [{"clientID": "me", "changes": [28, [0, {"x": 1}]]}]}"#, "invalid_payload"),
    ("document:push", r#"{"documentId": "$document", "version": 0, "updates": [{"clientID": "me", "changes": [4294967296]}]}"#, "invalid_payload"),
    ("document:push", r#"{"documentId": "$document", "version": 99, "updates": [{"clientID": "me", "changes": [28, [0, "x"]]}]}"#, "resync"),
    ("document:push", r#"{"documentId": "$nowhere", "version": 0, "updates": [{"clientID": "me", "changes": [[0, "x"]]}]}"#, "not_found"),
    ("document:resync", r#"{"documentId": "$document"}"#, "invalid_payload"),
    ("document:resync", r#"{"documentId": "$document", "version": -1}"#, "invalid_payload"),
    ("document:resync", r#"{"documentId": "$nowhere", "version": 0}"#, "not_found"),
    ("document:settings", r#"{"documentId": "$document", "policy": 7}"#, "invalid_payload"),
    ("document:settings", r#"{"documentId": "$document", "policy": "nobody"}"#, "invalid_payload"),
    ("document:settings", r#"{"documentId": "$document", "approvals": true}"#, "invalid_payload"),
    ("document:settings", r#"{"documentId": "$document", "policies": [{"marks": ["colour"], "policy": "two"}]}"#, "invalid_payload"),
    ("document:settings", r#"{"documentId": "$document", "policies": [{"marks": [], "policy": "any"}]}"#, "invalid_payload"),
    ("document:settings", r#"{"documentId": "$document", "timeoutSeconds": -1}"#, "invalid_payload"),
    ("document:settings", r#"{"documentId": "$document", "frozen": []}"#, "invalid_payload"),
    ("document:settings", r#"{"documentId": "$nowhere", "policy": "any"}"#, "not_found"),
    ("document:close", r#"{"documentId": null}"#, "invalid_payload"),
    ("document:close", "{}", "invalid_payload"),
    ("document:rename", r#"{"documentId": "$document"}"#, "invalid_payload"),
    ("document:rename", r#"{"documentId": "$document", "title": ["x"]}"#, "invalid_payload"),
    ("document:rename", r#"{"documentId": "$nowhere", "title": "x"}"#, "not_found"),
    ("document:delete", r#"{"documentId": {}}"#, "invalid_payload"),
    ("document:delete", r#"{"documentId": "$nowhere"}"#, "not_found"),
    ("document:duplicate", r#"{"documentId": {}}"#, "invalid_payload"),
    ("document:duplicate", r#"{"documentId": "$nowhere"}"#, "not_found"),
    ("suggestion:update", "{}", "invalid_payload"),
    ("suggestion:update", r#"{"documentId": "$document", "version": 0, "revision": 0}"#, "invalid_payload"),
    ("suggestion:update", r#"{"documentId": "$document", "version": 0, "revision": 0, "changes": "x"}"#, "invalid_payload"),
    ("suggestion:update", r#"{"documentId": "$document", "version": 0, "revision": -1, "changes": [1]}"#, "invalid_payload"),
    ("suggestion:update", r#"{"documentId": "$document", "version": 0, "revision": 0, "changes": [900]}"#, "invalid_payload"),
    ("suggestion:update", r#"{"documentId": "$document", "version": 99, "revision": 0, "changes": [1]}"#, "resync"),
    ("suggestion:update", r#"{"documentId": "$document", "version": 0, "revision": 4, "changes": [1]}"#, "stale_suggestion"),
    ("suggestion:update", r#"{"documentId": "$nowhere", "version": 0, "revision": 0, "changes": [1]}"#, "not_found"),
    ("comment:list", "{}", "invalid_payload"),
    ("comment:list", r#"{"documentId": "$document", "status": "lost"}"#, "invalid_payload"),
    ("comment:list", r#"{"documentId": "$document", "limit": 0}"#, "invalid_payload"),
    ("comment:list", r#"{"documentId": "$nowhere"}"#, "not_found"),
    ("comment:create", r#"{"documentId": "$document"}"#, "invalid_payload"),
    ("comment:create", r#"{"documentId": "$document", "text": ""}"#, "invalid_payload"),
    ("comment:create", r#"{"documentId": "$document", "text": "x", "from": 3}"#, "invalid_payload"),
    ("comment:create", r#"{"documentId": "$document", "text": "x", "from": 3, "to": 900}"#, "invalid_payload"),
    ("comment:create", r#"{"documentId": "$document", "text": "x", "mentions": "ai"}"#, "invalid_payload"),
    ("comment:create", r#"{"documentId": "$nowhere", "text": "x"}"#, "not_found"),
    ("comment:reply", r#"{"text": "x"}"#, "invalid_payload"),
    ("comment:reply", r#"{"threadId": "$nowhere", "text": "x"}"#, "not_found"),
    ("comment:edit", r#"{"commentId": 7, "text": "x"}"#, "invalid_payload"),
    ("comment:edit", r#"{"commentId": "$nowhere", "text": "x"}"#, "not_found"),
    ("comment:delete", "{}", "invalid_payload"),
    ("comment:delete", r#"{"commentId": "$nowhere"}"#, "not_found"),
    ("comment:resolve", r#"{"threadId": "$nowhere"}"#, "invalid_payload"),
    ("comment:resolve", r#"{"threadId": "$nowhere", "resolved": true}"#, "not_found"),
    ("comment:read", r#"{"documentId": "$document", "threadIds": "all"}"#, "invalid_payload"),
    ("comment:read", r#"{"documentId": "$nowhere"}"#, "not_found"),
    ("comment:people", "{}", "invalid_payload"),
    ("comment:people", r#"{"documentId": "$nowhere"}"#, "not_found"),
    ("document:list", r#"{"limit": 0}"#, "invalid_payload"),
    ("document:list", r#"{"limit": 1001}"#, "invalid_payload"),
    ("document:list", r#"{"before": "x"}"#, "invalid_payload"),
    ("document:list", r#"{"before": 7}"#, "invalid_payload"),
    ("trash:recover", r#"{"documentId": {}}"#, "invalid_payload"),
    ("trash:recover", r#"{"documentId": "$nowhere"}"#, "not_found"),
    ("trash:empty", r#"{"documentId": 7}"#, "invalid_payload"),
    ("trash:empty", r#"{"documentId": "$nowhere"}"#, "not_found"),
    ("document:history", "{}", "invalid_payload"),
    ("document:history", r#"{"documentId": "$document", "limit": 0}"#, "invalid_payload"),
    ("document:history", r#"{"documentId": "$document", "limit": 100000}"#, "invalid_payload"),
    ("document:history", r#"{"documentId": "$document", "limit": -5}"#, "invalid_payload"),
    ("document:history", r#"{"documentId": "$document", "before": "x"}"#, "invalid_payload"),
    ("document:history", r#"{"documentId": "$nowhere"}"#, "not_found"),
    ("document:at", r#"{"documentId": "$document"}"#, "invalid_payload"),
    ("document:at", r#"{"documentId": "$document", "version": -1}"#, "invalid_payload"),
    ("document:at", r#"{"documentId": "$document", "version": 99}"#, "invalid_payload"),
    ("document:provenance", "{}", "invalid_payload"),
    ("document:provenance", r#"{"documentId": "$document", "from": "a"}"#, "invalid_payload"),
    ("document:provenance", r#"{"documentId": "$document", "to": 100000}"#, "invalid_payload"),
    ("document:provenance", r#"{"documentId": "$nowhere"}"#, "not_found"),
    ("document:compare", r#"{"documentId": "$document"}"#, "invalid_payload"),
    ("document:compare", r#"{"documentId": "$document", "from": 99}"#, "invalid_payload"),
    ("document:compare", r#"{"documentId": "$document", "from": 0, "to": -1}"#, "invalid_payload"),
    ("document:compare", r#"{"documentId": "$nowhere", "from": 0}"#, "not_found"),
    ("document:restore", r#"{"documentId": "$document"}"#, "invalid_payload"),
    ("document:restore", r#"{"documentId": "$document", "version": 99}"#, "invalid_payload"),
    ("document:restore", r#"{"documentId": "$document", "version": 0, "onlyAt": "x"}"#, "invalid_payload"),
    ("document:restore", r#"{"documentId": "$nowhere", "version": 0}"#, "not_found"),
    ("document:at", r#"{"documentId": "$nowhere", "version": 0}"#, "not_found"),
    ("workspace:files", r#"{"pattern": 7}"#, "invalid_payload"),
    ("workspace:files", "[]", "invalid_payload"),
    ("document:open", r#"{"path": "a.md"}"#, "unsupported"),
    ("document:open", r#"{"path": 7}"#, "invalid_payload"),
    ("presence:update", r#"{"documentId": "$document", "version": 0, "anchor": -1, "head": 0}"#, "invalid_payload"),
    ("presence:update", r#"{"documentId": "$document", "version": 0, "anchor": "a", "head": 0}"#, "invalid_payload"),
    ("presence:update", r#"{"documentId": "$document"}"#, "invalid_payload"),
    ("askClaudeCode", r#"{"prompt": "Hello"}"#, "invalid_payload"),
    ("askClaudeCode", r#"{"sessionId": "$session"}"#, "invalid_payload"),
    ("askClaudeCode", r#"{"sessionId": "$session", "prompt": 7}"#, "invalid_payload"),
    ("askClaudeCode", r#"{"sessionId": "$session", "prompt": ""}"#, "invalid_payload"),
    ("askClaudeCode", r#"{"sessionId": "$session", "prompt": "x", "continue": "yes"}"#, "invalid_payload"),
    ("askClaudeCode", r#"{"sessionId": "$session", "prompt": "x", "requestId": ""}"#, "invalid_payload"),
    ("askClaudeCode", r#"{"sessionId": "$session", "prompt": "x", "requestId": "$long"}"#, "invalid_payload"),
    ("askClaudeCode", r#"{"sessionId": "$session", "prompt": "x", "permission_mode": "root"}"#, "invalid_payload"),
    ("askClaudeCode", r#"{"sessionId": "$session", "prompt": "x", "model": "none"}"#, "invalid_payload"),
    ("askClaudeCode", r#"{"sessionId": "$session", "prompt": "Hello", "context": "all of it"}"#, "invalid_payload"),
    ("askClaudeCode", r#"{"sessionId": "$session", "prompt": "Hello", "context": {"documentId": 7}}"#, "invalid_payload"),
    ("askClaudeCode", r#"{"sessionId": "$session", "prompt": "Hello", "context": {"documentContent": {"text": "x"}}}"#, "invalid_payload"),
    ("askClaudeCode", r#"{"sessionId": "$session", "prompt": "Hello", "context": {"selection": "0-3"}}"#, "invalid_payload"),
    ("askClaudeCode", r#"{"sessionId": "$session", "prompt": "Hello", "context": {"selection": {"start": "a", "end": 3}}}"#, "invalid_payload"),
    ("askClaudeCode", r#"{"sessionId": "$session", "prompt": "Hello", "context": {"selection": {"start": 3, "end": 1}}}"#, "invalid_payload"),
    ("askClaudeCode", r#"{"sessionId": "$session", "prompt": "Hello", "context": {"selection": {"start": -3, "end": 1}}}"#, "invalid_payload"),
    ("askClaudeCode", r#"{"sessionId": "$session", "prompt": "Hello", "context": {"conversationHistory": "before"}}"#, "invalid_payload"),
    ("askClaudeCode", r#"{"sessionId": "$session", "prompt": "Hello", "context": {"conversationHistory": [7]}}"#, "invalid_payload"),
    ("askClaudeCode", r#"{"sessionId": "$session", "prompt": "Hello", "context": {"systemInstructions": ["x"]}}"#, "invalid_payload"),
    ("askClaudeCode", r#"{"sessionId": "$nowhere", "prompt": "x"}"#, "not_found"),
    ("askClaudeCode", r#"{"sessionId": "$session", "prompt": "Hello", "context": {"documentId": "$nowhere"}}"#, "not_found"),
    ("run", "{}", "invalid_payload"),
    ("run", r#"{"prompt": null}"#, "invalid_payload"),
    ("run", r#"{"prompt": "x", "auto_approve_safe": "no"}"#, "invalid_payload"),
    ("run", r#"{"prompt": "x", "permission_mode": "root"}"#, "invalid_payload"),
    ("tool_approval_response", "{}", "invalid_payload"),
    ("tool_approval_response", r#"{"request_id": 7, "approved": true}"#, "invalid_payload"),
    ("tool_approval_response", r#"{"request_id": "$nowhere"}"#, "invalid_payload"),
    ("tool_approval_response", r#"{"request_id": "$nowhere", "approved": "true"}"#, "invalid_payload"),
    ("tool_approval_response", r#"{"request_id": "$nowhere", "approved": true, "hunks": {}}"#, "invalid_payload"),
    ("tool_approval_response", r#"{"request_id": "$nowhere", "approved": true, "hunks": [7]}"#, "invalid_payload"),
    ("tool_approval_response", r#"{"request_id": "$nowhere", "decision": "maybe"}"#, "invalid_payload"),
    ("tool_approval_response", r#"{"request_id": "$nowhere", "approved": true}"#, "not_found"),
    ("approval:told", "{}", "invalid_payload"),
    ("approval:told", r#"{"request_id": "$nowhere", "approved": 1}"#, "invalid_payload"),
    ("approval:told", r#"{"request_id": "$nowhere", "approved": true}"#, "not_found"),
    ("tool_approval_batch", "{}", "invalid_payload"),
    ("tool_approval_batch", r#"{"responses": {}}"#, "invalid_payload"),
    ("list_pending_approvals", r#"{"documentId": 7}"#, "invalid_payload"),
    ("list_pending_approvals", r#"{"documentId": "$nowhere"}"#, "not_found"),
    ("approval:list", r#"{"documentId": 7}"#, "invalid_payload"),
    ("approval:list", r#"{"documentId": "$nowhere"}"#, "not_found"),
    ("approval:list", r#"{"documentId": "$document", "status": "rejected"}"#, "invalid_payload"),
    ("approval:list", r#"{"documentId": "$document", "status": ["pending"]}"#, "invalid_payload"),
    ("approval:list", r#"{"documentId": "$document", "limit": 0}"#, "invalid_payload"),
    ("approval:list", r#"{"documentId": "$document", "limit": 101}"#, "invalid_payload"),
    ("approval:list", r#"{"documentId": "$document", "before": ""}"#, "invalid_payload"),
    ("approval:list", r#"{"documentId": "$document", "before": 7}"#, "invalid_payload"),
    ("approval:focus", r#"{"request_id": "$nowhere"}"#, "invalid_payload"),
    ("approval:focus", r#"{"request_id": "$nowhere", "on": "yes"}"#, "invalid_payload"),
    ("approval:focus", r#"{"request_id": "$nowhere", "on": true}"#, "not_found"),
    ("approval:split", r#"{"request_id": "$nowhere"}"#, "invalid_payload"),
    ("approval:split", r#"{"request_id": "$nowhere", "hunk_id": ["h1"]}"#, "invalid_payload"),
    ("approval:split", r#"{"request_id": "$nowhere", "hunk_id": "h1"}"#, "not_found"),
    ("approval:defer", r#"{"request_id": "$nowhere", "hunk_id": "h1"}"#, "invalid_payload"),
    ("approval:defer", r#"{"request_id": "$nowhere", "hunk_id": "h1", "on": 1}"#, "invalid_payload"),
    ("approval:defer", r#"{"request_id": "$nowhere", "hunk_id": "h1", "on": true}"#, "not_found"),
    ("approval:deferred", r#"{"documentId": 7}"#, "invalid_payload"),
    ("approval:deferred", r#"{"documentId": "$nowhere"}"#, "not_found"),
    ("approval:extend", "{}", "invalid_payload"),
    ("approval:extend", r#"{"request_id": "$nowhere"}"#, "not_found"),
    ("approval:undo", r#"{"request_id": "$nowhere", "hunks": "all"}"#, "invalid_payload"),
    ("approval:undo", r#"{"request_id": "$nowhere"}"#, "not_found"),
    ("approval:reopen", r#"{"request_id": []}"#, "invalid_payload"),
    ("approval:reopen", r#"{"request_id": "$nowhere"}"#, "not_found"),
    ("approval:reopen", r#"{"request_id": "$nowhere", "hunks": "all"}"#, "invalid_payload"),
    ("approval:withdraw", r#"{"request_id": false}"#, "invalid_payload"),
    ("approval:withdraw", r#"{"request_id": "$nowhere"}"#, "not_found"),
    ("cancel", "{}", "invalid_payload"),
    ("cancel", r#"{"requestId": 7}"#, "invalid_payload"),
    ("cancel", r#"{"sessionId": "$nowhere"}"#, "not_found"),
    ("cancel", r#"{"requestId": "$nowhere"}"#, "not_found"),
    ("transcript:get", "{}", "invalid_payload"),
    ("transcript:get", r#"{"sessionId": "$nowhere"}"#, "not_found"),
    ("transcript:clear", "{}", "invalid_payload"),
    ("transcript:clear", r#"{"sessionId": "$session", "documentId": 7}"#, "invalid_payload"),
    ("transcript:clear", r#"{"sessionId": "$nowhere"}"#, "not_found"),
    ("transcript:clear", r#"{"sessionId": "$session", "documentId": "$nowhere"}"#, "not_found"),
    ("transcript:fork", r#"{"sessionId": "$session"}"#, "invalid_payload"),
    ("transcript:fork", r#"{"sessionId": "$session", "requestId": 7}"#, "invalid_payload"),
    ("transcript:fork", r#"{"sessionId": "$session", "requestId": "$nowhere"}"#, "not_found"),
    ("transcript:fork", r#"{"sessionId": "$nowhere", "requestId": "r"}"#, "not_found"),
    ("transcript:fork", r#"{"sessionId": "$session", "requestId": "r", "fromSessionId": "$nowhere"}"#, "not_found"),
    ("rules:list", r#"{"documentId": 7}"#, "invalid_payload"),
    ("rules:list", r#"{"documentId": "$nowhere"}"#, "not_found"),
    ("rules:add", "{}", "invalid_payload"),
    ("rules:add", r#"{"documentId": "desk"}"#, "invalid_payload"),
    ("rules:add", r#"{"documentId": "desk", "effect": "forbid"}"#, "invalid_payload"),
    ("rules:add", r#"{"documentId": "desk", "effect": "deny", "ovr": 5}"#, "invalid_payload"),
    ("rules:add", r#"{"documentId": "desk", "effect": "deny", "over": -1}"#, "invalid_payload"),
    ("rules:add", r#"{"documentId": "desk", "effect": "deny", "tool": ""}"#, "invalid_payload"),
    ("rules:add", r#"{"documentId": "desk", "effect": "deny", "tool": "bash"}"#, "invalid_payload"),
    ("rules:add", r#"{"documentId": "desk", "effect": "deny", "tool": "Bash(rm *)"}"#, "invalid_payload"),
    ("rules:add", r#"{"documentId": "desk", "effect": "ask", "tool": "atlas_write"}"#, "invalid_payload"),
    ("rules:add", r#"{"documentId": "desk", "effect": "deny", "tool": "Bash", "path": "private/**"}"#, "invalid_payload"),
    ("rules:add", r#"{"documentId": "desk", "effect": "deny", "path": "/private/**"}"#, "invalid_payload"),
    ("rules:add", r#"{"documentId": "desk", "effect": "deny", "path": "../**"}"#, "invalid_payload"),
    ("rules:add", r#"{"documentId": "desk", "effect": "deny", "path": "private\\**"}"#, "invalid_payload"),
    ("rules:add", r#"{"documentId": "desk", "effect": "deny", "path": " private/** "}"#, "invalid_payload"),
    ("rules:add", r#"{"documentId": "desk", "effect": "deny", "path": "[a"}"#, "invalid_payload"),
    ("rules:add", r#"{"documentId": "desk", "effect": "deny", "max_units": 5}"#, "invalid_payload"),
    ("rules:add", r#"{"documentId": "desk", "effect": "allow"}"#, "invalid_payload"),
    ("rules:add", r#"{"documentId": "desk", "effect": "allow", "tool": "ExitPlanMode"}"#, "invalid_payload"),
    ("rules:add", r#"{"documentId": "desk", "effect": "allow", "tool": "Write", "over": 5}"#, "invalid_payload"),
    ("rules:add", r#"{"documentId": "desk", "effect": "allow", "tool": "Write", "unmarked": true}"#, "invalid_payload"),
    ("rules:add", r#"{"documentId": "$document", "effect": "deny", "unmarked": true}"#, "invalid_payload"),
    ("rules:add", r#"{"documentId": "$nowhere", "effect": "ask"}"#, "not_found"),
    ("rules:revoke", "{}", "invalid_payload"),
    ("rules:revoke", r#"{"id": "$nowhere"}"#, "not_found"),
    ("settings:set", r#"{"approvals": true}"#, "invalid_payload"),
    ("settings:set", r#"{"approvals": "maybe"}"#, "invalid_payload"),
    ("settings:set", r#"{"timeoutSeconds": -1}"#, "invalid_payload"),
    ("settings:set", r#"{"permission_mode": "root"}"#, "invalid_payload"),
    ("settings:set", r#"{"permission_mode": 7}"#, "invalid_payload"),
    ("settings:set", r#"{"permission_mode": "mcpProxy"}"#, "unsupported"),
    ("settings:set", r#"{"permission_mode": "bypassPermissions"}"#, "not_allowed"),
    ("token:name", "{}", "invalid_payload"),
    ("token:name", r#"{"name": "  "}"#, "invalid_payload"),
    ("token:issue", "{}", "invalid_payload"),
    ("token:issue", r#"{"role": "editor"}"#, "invalid_payload"),
    ("token:issue", r#"{"name": "Bo"}"#, "invalid_payload"),
    ("token:issue", r#"{"role": "king", "name": "Bo"}"#, "invalid_payload"),
    ("token:issue", r#"{"role": "Owner", "name": "Bo"}"#, "invalid_payload"),
    ("token:issue", r#"{"role": ["editor"], "name": "Bo"}"#, "invalid_payload"),
    ("token:issue", r#"{"role": "editor", "name": "  "}"#, "invalid_payload"),
    ("token:issue", r#"{"role": "editor", "name": "\u0007"}"#, "invalid_payload"),
    ("token:issue", r#"{"role": "editor", "name": "Bo", "documentId": 7}"#, "invalid_payload"),
    ("token:issue", r#"{"role": "editor", "name": "Bo", "documentId": "$nowhere"}"#, "not_found"),
    ("token:issue", r#"{"role": "owner", "name": "Bo", "documentId": "$document"}"#, "invalid_payload"),
    ("token:issue", r#"{"role": "editor", "name": "Bo", "expiresIn": 7}"#, "invalid_payload"),
    ("token:issue", r#"{"role": "editor", "name": "Bo", "expiresIn": "soon"}"#, "invalid_payload"),
    ("token:issue", r#"{"role": "editor", "name": "Bo", "expiresIn": "-1d"}"#, "invalid_payload"),
    ("token:issue", r#"{"role": "editor", "name": "Bo", "expiresIn": "9000y"}"#, "invalid_payload"),
    ("token:revoke", "{}", "invalid_payload"),
    ("token:revoke", r#"{"id": 7}"#, "invalid_payload"),
    ("token:revoke", r#"{"id": "$nowhere"}"#, "not_found"),
    ("token:revoke", r#"{"id": "tok_owner"}"#, "not_allowed"),
    ("token:tie", r#"{"id": "tok_owner"}"#, "invalid_payload"),
    ("token:tie", r#"{"id": "$nowhere", "login": "usr_owner"}"#, "not_found"),
    ("token:tie", r#"{"id": "tok_owner", "login": "$nowhere"}"#, "not_found"),
    ("token:issue", r#"{"role": "guest", "name": "Bo"}"#, "invalid_payload"),
    ("document:roles", "{}", "invalid_payload"),
    ("document:roles", r#"{"documentId": "$nowhere"}"#, "not_found"),
    ("document:roles", r#"{"documentId": "desk"}"#, "not_found"),
    ("document:share", "{}", "invalid_payload"),
    ("document:share", r#"{"documentId": "$document", "role": "viewer"}"#, "invalid_payload"),
    ("document:share", r#"{"documentId": "$document", "group": "writers"}"#, "invalid_payload"),
    ("document:share", r#"{"documentId": "$document", "group": "writers", "role": "owner"}"#, "invalid_payload"),
    ("document:share", r#"{"documentId": "$document", "group": "writers", "role": "guest"}"#, "invalid_payload"),
    ("document:share", r#"{"documentId": "$document", "group": "writers", "email": "a@b.example", "role": "viewer"}"#, "invalid_payload"),
    ("document:share", r#"{"documentId": "$document", "group": " ", "role": "viewer"}"#, "invalid_payload"),
    ("document:share", r#"{"documentId": "$document", "group": "a\u0007", "role": "viewer"}"#, "invalid_payload"),
    ("document:share", r#"{"documentId": "$document", "group": ["writers"], "role": "viewer"}"#, "invalid_payload"),
    ("document:share", r#"{"documentId": "$document", "email": "ana", "role": "viewer"}"#, "invalid_payload"),
    ("document:share", r#"{"documentId": "$document", "email": "@b.example", "role": "viewer"}"#, "invalid_payload"),
    ("document:share", r#"{"documentId": "$document", "email": "a b@c.example", "role": "viewer"}"#, "invalid_payload"),
    ("document:share", r#"{"documentId": "$document", "login": "$nowhere", "role": "viewer"}"#, "not_found"),
    ("document:share", r#"{"documentId": "$nowhere", "group": "writers", "role": "viewer"}"#, "not_found"),
    ("document:share", r#"{"documentId": "desk", "group": "writers", "role": "viewer"}"#, "not_found"),
    ("document:unshare", r#"{"documentId": "$document"}"#, "invalid_payload"),
    ("document:unshare", r#"{"documentId": "$document", "group": "none"}"#, "not_found"),
    ("document:unshare", r#"{"documentId": "$nowhere", "group": "none"}"#, "not_found"),
    ("spending:get", r#"{"month": 7}"#, "invalid_payload"),
    ("spending:limit", r#"{"for": "server"}"#, "invalid_payload"),
    ("spending:limit", r#"{"for": "moon", "usd": 1}"#, "invalid_payload"),
    ("server:stop", "{}", "invalid_payload"),
    ("server:stop", r#"{"sessionId": 7, "requestId": "none"}"#, "invalid_payload"),
    ("person:preview", "{}", "invalid_payload"),
    ("person:preview", r#"{"id": "$nowhere"}"#, "not_found"),
    ("person:delete", r#"{"id": 7}"#, "invalid_payload"),
    ("person:delete", r#"{"id": "$nowhere"}"#, "not_found"),
    ("person:delete", r#"{"id": "usr_owner"}"#, "not_allowed"),
    ("no:such:event", "{}", "invalid_payload"),
    ("", "{}", "invalid_payload"),
    ("sessionRegistered", "{}", "invalid_payload"),
    ("claudeResponse", "{}", "invalid_payload"),
    ("__proto__", "{}", "invalid_payload"),
];

/// Every event of the protocol.
fn events() -> Vec<&'static str> {
    let mut events: Vec<_> = wire::shapes()
        .iter()
        .filter(|it| it.name.starts_with("client/"))
        .map(wire::Shape::event)
        .collect();
    events.dedup();
    events
}

struct Scene {
    copydesk: TestServer,
    owner: Person,
    witness: Person,
}

/// The owner may do everything, so that nothing but the payload is wrong.
fn scene() -> Scene {
    let copydesk = TestServer::scripted(Script::talking());
    let (owner, witness) = (copydesk.owner(), copydesk.editor("Wilma"));
    witness.opens(&owner.creates(TEXT));
    Scene { copydesk, owner, witness }
}

impl Scene {
    /// The server and everybody in it go on, and nothing happened.
    fn goes_on(self) {
        self.owner.is_fine();
        self.witness.is_fine();
        assert_eq!((self.owner.text().as_str(), self.witness.text().as_str()), (TEXT, TEXT));
        self.owner.types(0, "x");
        self.witness.comes_to_read(&format!("x{TEXT}"));
        assert!(!self.copydesk.complaints().contains("panicked"), "{}", self.copydesk.complaints());
    }

    fn fill(&self, payload: &str) -> String {
        payload
            .replace("$document", &self.owner.document())
            .replace("$session", &self.owner.session())
            .replace("$nowhere", "01939d7e-0000-7000-8000-000000000000")
            .replace("$long", &"r".repeat(1_000))
    }

    fn sends(&self, event: &str, args: &Value) -> Value {
        self.owner.ack(self.owner.send_args(event, args)).refused()
    }
}

#[test]
fn every_bad_payload_is_answered_with_its_code() {
    let scene = scene();
    let wrong: Vec<_> = TABLE
        .iter()
        .filter_map(|(event, payload, code)| {
            let packet = format!("[{event:?},{}]", scene.fill(payload));
            let error = scene.owner.ack(scene.owner.send_raw(&packet)).refused();
            (error["code"] != *code).then(|| format!("{event} {payload}: {error}, not {code}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    scene.goes_on();
}

#[test]
fn every_event_is_in_the_table_or_takes_nothing() {
    let takes_nothing =
        ["server:storage", "server:work", "settings:get", "token:list", "trash:list"];
    for event in events() {
        let listed = TABLE.iter().any(|row| row.0 == event);
        assert!(
            listed || takes_nothing.contains(&event),
            "{event} has no bad payload in the table"
        );
    }
}

#[test]
fn no_event_takes_anything_but_an_object() {
    let scene = scene();
    let bodies = [
        json!(null),
        json!([]),
        json!([{}]),
        json!("text"),
        json!(7),
        json!(-1.5),
        json!(true),
        json!("{}"),
    ];
    for event in events() {
        for body in &bodies {
            let error = scene.sends(event, &json!([body]));
            assert_eq!(error["code"], "invalid_payload", "{event} {body}");
        }
        let error = scene.sends(event, &json!([{}, {}]));
        assert_eq!(error["code"], "invalid_payload", "{event} with two payloads");
    }
    scene.goes_on();
}

#[test]
fn a_missing_payload_is_an_empty_one() {
    let scene = scene();
    let ack = scene.owner.ack(scene.owner.send_args("document:list", &json!([])));
    ack.ok();
    assert_eq!(scene.sends("document:open", &json!([]))["code"], "invalid_payload");
    scene.goes_on();
}

#[test]
fn binary_payloads_are_refused() {
    let scene = scene();
    for event in events() {
        let error = scene.sends(event, &json!([{"$binary": 16}]));
        assert_eq!(error["code"], "invalid_payload", "{event}");
        let error = scene.sends(event, &json!([{"documentId": {"$binary": 4}}]));
        assert_eq!(error["code"], "invalid_payload", "{event}");
    }
    scene.goes_on();
}

#[test]
fn deeply_nested_payloads_are_refused() {
    let scene = scene();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for event in [
        "document:open",
        "document:push",
        "askClaudeCode",
        "tool_approval_response",
        "no:such:event",
    ] {
        for payload in [
            deep.clone(),
            format!(r#"{{"documentId":{deep}}}"#),
            format!(r#"{{"updated_input":{deep}}}"#),
        ] {
            let pending = scene.owner.send_raw(&format!(r#"["{event}",{payload}]"#));
            assert_eq!(scene.owner.ack(pending).refused()["code"], "invalid_payload", "{event}");
        }
    }
    scene.goes_on();
}

#[test]
fn numbers_and_strings_no_client_writes_are_refused() {
    let scene = scene();
    let document = scene.owner.document();
    for payload in [
        format!(r#"{{"documentId":"{document}","version":1e999}}"#),
        format!(r#"{{"documentId":"{document}","version":-0.0}}"#),
        format!(r#"{{"documentId":"{document}","version":99999999999999999999}}"#),
        format!(r#"{{"documentId":"{document}","version":0,"version":1}}"#),
        r#"{"documentId":"\ud800","version":0}"#.to_owned(),
    ] {
        let pending = scene.owner.send_raw(&format!(r#"["document:resync",{payload}]"#));
        let code = scene.owner.ack(pending).refused()["code"].clone();
        assert_eq!(code, "invalid_payload", "{payload}");
    }
    scene.goes_on();
}

#[test]
fn events_of_the_protocol_underneath_are_no_events() {
    let scene = scene();
    for event in ["connect", "disconnect", "connect_error", "disconnecting", "newListener"] {
        let pending = scene.owner.send_raw(&format!(r#"["{event}",{{}}]"#));
        assert_eq!(scene.owner.ack(pending).refused()["code"], "invalid_payload", "{event}");
    }
    scene.goes_on();
}

#[test]
fn control_characters_and_other_strange_ids_find_nothing() {
    let scene = scene();
    for id in [
        "\u{0}",
        "a\u{0}b",
        "'; DROP TABLE documents; --",
        "%s%n",
        "\u{202e}",
        &"x".repeat(100_000),
        "😀",
    ] {
        let error = scene.sends("document:open", &json!([{"documentId": id}]));
        assert!(
            error["code"] == "not_found" || error["code"] == "invalid_payload",
            "{id:?}: {error}"
        );
        let error =
            scene.sends("tool_approval_response", &json!([{"request_id": id, "approved": true}]));
        assert!(
            error["code"] == "not_found" || error["code"] == "invalid_payload",
            "{id:?}: {error}"
        );
        assert!(
            error["message"].as_str().unwrap().len() < 1_000,
            "an error does not repeat what it was sent"
        );
    }
    scene.goes_on();
}

#[test]
fn an_error_never_repeats_a_huge_payload() {
    let scene = scene();
    let huge = "x".repeat(200_000);
    for event in events() {
        let error = scene.sends(event, &json!([huge]));
        assert_eq!(error["code"], "invalid_payload", "{event}");
        assert!(error.to_string().len() < 2_000, "{event}: {} bytes", error.to_string().len());
    }
    scene.goes_on();
}

#[test]
fn text_that_is_too_long_is_refused() {
    let scene = scene();
    let words = "word ".repeat(3_000_000);
    let error = scene.sends("document:create", &json!([{"text": words}]));
    assert_eq!(error["code"], "invalid_payload");
    let ask = json!({"sessionId": scene.owner.session(), "prompt": words, "context": {}});
    assert_eq!(scene.sends("askClaudeCode", &json!([ask]))["code"], "invalid_payload");
    scene.goes_on();
}

#[test]
fn unknown_fields_are_ignored() {
    let scene = scene();
    let payload = json!({"documentId": scene.owner.document(), "since": 0, "fromTheFuture": {"a": [1, 2, 3]}});
    scene.owner.ack(scene.owner.send_args("document:open", &json!([payload]))).ok();
    scene.goes_on();
}

#[test]
fn a_packet_that_is_no_event_harms_no_one_else() {
    let scene = scene();
    for packet in [
        "",
        "[",
        "[]",
        "[7]",
        "{}",
        "null",
        r#"["document:list",{]"#,
        r#"[{"event":1}]"#,
        r#"["x",{"version":NaN}]"#,
        r#"["x",00]"#,
    ] {
        let victim = scene.copydesk.owner();
        victim.send_raw(packet);
        // Whether it is answered or cut off: the others go on.
        scene.witness.is_fine();
    }
    scene.goes_on();
}
