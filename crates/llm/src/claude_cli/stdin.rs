//! Names of the tools for the CLI, and the prompt that it reads on standard input.

use serde_json::{Value, json};

use crate::messages_api::{ChatMessage, ContentBlock, MessageRole, ToolDefinition};

use super::super::ModelRequest;

/// Name of this server for the CLI.
pub(super) const SERVER: &str = "atlas-tools";
/// Subcommand of this program that the CLI starts to reach its tools.
const LINK: &str = "claude-tools";
/// Milliseconds that the CLI waits for a call: people decide when they like, and the server reports
/// when it is too late.
pub(super) const CALL_TIMEOUT_MS: u32 = 2_000_000_000;
/// Bytes of earlier turns that a new conversation of the CLI is sent, the newest.
const HISTORY_LIMIT: usize = 100_000;

/// Returns the name of a tool for the CLI.
pub(super) fn alias(tool: &ToolDefinition) -> &str {
    tool.alias.as_deref().unwrap_or(&tool.name)
}

/// Returns `true` if `name` is the CLI's name for one of this server's tools.
pub(super) fn is_ours(name: &str) -> bool {
    ours(name).is_some()
}

fn ours(name: &str) -> Option<&str> {
    name.strip_prefix("mcp__")?.strip_prefix(SERVER)?.strip_prefix("__")
}

/// Returns the one of the `tools` that the CLI's `name` means. A tool of the CLI itself gets a name
/// that no tool here has, so that it is refused.
pub(super) fn tool(name: &str, tools: &[ToolDefinition]) -> String {
    match ours(name) {
        Some(ours) => {
            let known = tools.iter().find(|tool| alias(tool) == ours);
            known.map_or(ours, |tool| &tool.name).to_owned()
        }
        None => format!("claude:{name}"),
    }
}

/// Builds the system prompt: the rules, and the CLI's names of the tools that the rules mention.
pub(super) fn system(rules: &str, tools: &[ToolDefinition]) -> String {
    let renamed = tools.iter().filter(|it| alias(it) != it.name);
    let renamed: Vec<_> = renamed.map(|it| format!("{} is {}", it.name, alias(it))).collect();
    let there = match renamed.as_slice() {
        [] => String::new(),
        renamed => format!(" There, {}.", renamed.join(", ")),
    };
    format!("{rules}\n\nYour tools are those of the server {SERVER}.{there}")
}

/// Builds the CLI's whole MCP configuration, which has only this server.
pub(super) fn config(program: &str, socket: &str, secret: &str) -> Value {
    json!({"mcpServers": {SERVER: {
        "command": program,
        "args": [LINK],
        "env": {"ATLAS_TOOL_SOCKET": socket, "ATLAS_TOKEN": secret},
        "alwaysLoad": true,
        "timeout": CALL_TIMEOUT_MS,
    }}})
}

/// Builds the prompt. `knows`: the CLI remembers the earlier turns, so the prompt leaves them out.
pub(super) fn prompt(request: &ModelRequest, knows: bool) -> String {
    let Some((last, before)) = request.messages.split_last() else { return String::new() };
    let answers: Vec<String> = last.content.iter().filter_map(answer).collect();
    // Results of an earlier run and a new question are one message.
    let asked = request.prompt.is_some() || answers.is_empty();
    let now = if asked {
        texts(last)
    } else {
        // The process that made these calls is gone.
        format!(
            "You were interrupted while you waited for tools. Your calls were answered meanwhile; do not repeat them:\n\
             {}\nGo on with the request from there.",
            answers.join("\n")
        )
    };
    if knows || before.is_empty() {
        return now;
    }
    let late = answers.into_iter().filter(|_| asked);
    let mut earlier = Vec::new();
    let mut size = 0;
    for message in before.iter().rev() {
        let line = transcript_line(message);
        size += line.len();
        if size > HISTORY_LIMIT && !earlier.is_empty() {
            break;
        }
        earlier.push(line);
    }
    earlier.reverse();
    earlier.extend(late);
    format!("What was said before:\n{}\n\n{now}", earlier.join("\n"))
}

fn answer(block: &ContentBlock) -> Option<String> {
    let ContentBlock::ToolResult { tool_use_id, content, is_error } = block else { return None };
    let words: Vec<_> = content.iter().filter_map(ContentBlock::as_text).collect();
    let how = if *is_error { " (an error)" } else { "" };
    Some(format!("- {tool_use_id}{how}: {}", words.join("\n")))
}

fn texts(message: &ChatMessage) -> String {
    let texts: Vec<_> = message.content.iter().filter_map(ContentBlock::as_text).collect();
    texts.join("\n\n")
}

fn transcript_line(message: &ChatMessage) -> String {
    let speaker = match message.role {
        MessageRole::Assistant => "You",
        _ => "User",
    };
    let lines = message.content.iter().filter_map(|block| match block {
        ContentBlock::ToolUse { id, name, input } => Some(format!("[call {id}: {name} {input}]")),
        block => block.as_text().map(str::to_owned).or_else(|| answer(block)),
    });
    format!("{speaker}: {}", lines.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AssistantMessage;
    use crate::messages_api::{StopReason, TokenUsage};
    use crate::testing::{asks, with_results};

    fn called() -> AssistantMessage {
        AssistantMessage {
            content: vec![
                ContentBlock::text("Let me see."),
                ContentBlock::tool_use("toolu_1", "update_selection", json!({"new_text": "x"})),
            ],
            stop_reason: StopReason::ToolUse,
            stop_details: None,
            stop_sequence: None,
            usage: TokenUsage::default(),
            model: String::new(),
            calls_left_out: 0,
            notice: None,
        }
    }

    #[test]
    fn only_tools_of_this_server_mean_anything_here() {
        let mut tools = asks("x").tools;
        (tools[0].name, tools[0].alias) = ("Write".into(), Some("atlas_write".into()));
        let tool = |name: &str| tool(name, &tools);
        assert_eq!(tool("mcp__atlas-tools__atlas_write"), "Write");
        assert_eq!(alias(&tools[0]), "atlas_write");
        assert_eq!(tool("mcp__atlas-tools__update_selection"), "update_selection");
        // A native tool of the same name must never run ours unasked for.
        for foreign in ["Write", "atlas_write", "mcp__other__atlas_write", "mcp__atlas-tools_x", ""]
        {
            assert_eq!(tool(foreign), format!("claude:{foreign}"));
            assert!(!is_ours(foreign));
        }
    }

    #[test]
    fn a_conversation_it_knows_is_not_told_again() {
        let mut request = with_results(asks("First"), &called(), "Applied");
        request.messages.push(ChatMessage::user("Second"));
        assert_eq!(prompt(&request, true), "Second");
        let whole = prompt(&request, false);
        for part in
            ["User: First", "You: Let me see.", "[call toolu_1: update_selection", "Applied"]
        {
            assert!(whole.contains(part), "{part} in {whole}");
        }
        assert!(whole.ends_with("\n\nSecond"), "{whole}");
        assert_eq!(prompt(&asks("Only"), false), "Only");
    }

    #[test]
    fn a_question_right_after_the_results_of_another_run_is_a_question() {
        let mut request = with_results(asks("First"), &called(), "Applied");
        let results = request.messages.last_mut().expect("results");
        results.content.push(ContentBlock::text("Second"));
        request.prompt = Some("Second".into());
        assert_eq!(prompt(&request, true), "Second");
        let whole = prompt(&request, false);
        assert!(whole.ends_with("\n- toolu_1: Applied\n\nSecond"), "{whole}");
        assert!(!whole.contains("interrupted"), "{whole}");
    }

    #[test]
    fn of_a_long_conversation_the_newest_part_is_told() {
        let mut request = asks("0");
        for turn in 1..30 {
            let long = format!("{turn} {}", "x".repeat(10_000));
            request.messages.push(ChatMessage::assistant(vec![ContentBlock::text(long)]));
            request.messages.push(ChatMessage::user("Go on"));
        }
        let whole = prompt(&request, false);
        assert!(whole.len() < HISTORY_LIMIT + 20_000);
        assert!(whole.contains("You: 29 ") && !whole.contains("You: 3 "));
    }

    #[test]
    fn answers_to_a_process_that_is_gone_are_told_in_words() {
        let words = prompt(&with_results(asks("Fix it"), &called(), "!User rejected: no"), true);
        assert!(words.contains("- toolu_1 (an error): User rejected: no"), "{words}");
        assert!(!words.contains("Fix it"), "{words}");
    }

    #[test]
    fn odd_characters_go_through_as_they_are() {
        let odd = "\u{202e}🦀 'quotes\" $(rm) \0 --flag\r\n/compact";
        assert_eq!(prompt(&asks(odd), true), odd);
    }

    #[test]
    fn the_rules_say_how_renamed_tools_are_called() {
        let mut request = asks("x");
        assert!(!system("Rules.", &request.tools).contains("There,"));
        let tool = &mut request.tools[0];
        (tool.name, tool.alias) = ("Write".into(), Some("atlas_write".into()));
        assert!(system("Rules.", &request.tools).ends_with(" There, Write is atlas_write."));
    }
}
