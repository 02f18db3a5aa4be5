//! Tool that creates a document, once people have seen its title and text and approved it.

use schemars::JsonSchema;
use serde::Deserialize;

use copydesk_approvals::{ApprovalRequest, Person, Preview};
use copydesk_document::Text;
use copydesk_ids::DocumentId;
use copydesk_rooms::{LONGEST_TITLE, NewDocumentFromRequest};

use super::text_changes;
use crate::pipeline::input_hooks::{CONTENT_LIMIT, check_text};
use crate::pipeline::{elisions, invisible_chars};
use crate::{
    ActionPreview, ApprovedCall, CompletedExecution, CreateTool, ProgramOffer, Tool, ToolContext,
    ToolError, ToolResult, ToolScope,
};

/// Tool `create_new_document`.
pub struct CreateNewDocument;

/// Input of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
// Models are to explain themselves; a call that does not is still understood.
#[schemars(extend("required" = ["title", "new_content", "explanation"]))]
pub struct Input {
    /// Title of the new document: one line, at most 200 characters.
    title: String,
    /// Complete text of the new document.
    new_content: String,
    /// One sentence for the people who decide: the purpose of the document.
    #[serde(default)]
    #[expect(dead_code, reason = "read from the stored input, which counts after a restart")]
    explanation: String,
}

impl Tool for CreateNewDocument {
    const NAME: &'static str = "create_new_document";
    const TITLE: &'static str = "New document";
    const DESCRIPTION: &'static str = "Create a new document with a title and a text. People see both and decide; once it is created you \
         are told its id, which `update_document_by_id` and `read_document` take.";
    const WHEN: &'static str =
        "Use when the person wants a new document, not a change of the current one";
    const SCOPE: ToolScope = ToolScope::Conversation;
    const PROGRAM: Option<ProgramOffer> = Some(ProgramOffer {
        noun: "Document",
        description: Some(
            "Create a new document with a title and a text. Once it is created you are told its id, which `read_document` \
             and the tools that change a document take. People see title and text, and decide.",
        ),
        ..ProgramOffer::new(Self::NAME, "Create a document")
    });
    type Input = Input;
}

impl CreateTool for CreateNewDocument {
    async fn preview(&self, _context: ToolContext, input: Input) -> ToolResult<ActionPreview> {
        let (title, text) = checked(&input)?;
        text_changes::blocking(move |limits| {
            let unseen = invisible_chars::of_new(&text);
            let warnings = unseen.into_iter().chain(elisions::warnings("", &text)).collect();
            let preview = Preview { warnings, ..Preview::diff(&title, None, &text, limits) };
            Ok(ActionPreview { preview, touched: None })
        })
        .await?
    }

    async fn create(&self, approved: ApprovedCall, input: Input) -> ToolResult<CompletedExecution> {
        let (title, text) = checked(&input)?;
        let ApprovedCall { context, request, auto_approved } = approved;
        let id = named_after(&request);
        let new_document = NewDocumentFromRequest {
            id: id.clone(),
            title: title.clone(),
            text,
            request: request.id().clone(),
            requester: request.proposal.requester.clone(),
            approver: approver(&request).filter(|_| !auto_approved),
            rule: request.decisions.closed.as_ref().and_then(|closed| closed.rule.clone()),
            edited: request.decisions.edited_input.is_some(),
        };
        let found = context.environment.rooms.create_from_request(new_document).await;
        found.map_err(|error| ToolError::Failed(error.to_string()))?;
        // The model knows the words it wrote, so it may continue with them at once.
        let read = async { context.environment.rooms.open(&id).await?.read().await }.await.ok();
        let text = format!("Created “{title}”; its id is {id}.");
        Ok(CompletedExecution { text, plan: None, read: read.map(|reading| (id, reading)) })
    }
}

/// Returns an id derived from the request, so that a call that is concluded twice creates one
/// document.
fn named_after(request: &ApprovalRequest) -> DocumentId {
    let name = request.id().as_str();
    DocumentId::from(format!("doc_{}", name.strip_prefix("req_").unwrap_or(name)))
}

fn approver(request: &ApprovalRequest) -> Option<Person> {
    request.decisions.closed.as_ref()?.by.clone()
}

fn checked(input: &Input) -> ToolResult<(String, String)> {
    let title = input.title.trim();
    if title.is_empty() {
        return Err(ToolError::Denied("The title is empty".into()));
    }
    if title.chars().any(char::is_control) {
        return Err(ToolError::Denied("The title is one line without control characters".into()));
    }
    let length = title.chars().count();
    if length > LONGEST_TITLE {
        let reason = format!("The title has {length} characters; at most {LONGEST_TITLE} are kept");
        return Err(ToolError::Denied(reason));
    }
    check_text("text", &input.new_content, CONTENT_LIMIT)?;
    Ok((title.to_owned(), Text::new(&input.new_content).to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(title: &str, new_content: &str) -> Option<String> {
        let input = Input {
            title: title.into(),
            new_content: new_content.into(),
            explanation: String::new(),
        };
        checked(&input).err().map(|error| error.to_string())
    }

    #[test]
    fn a_title_and_any_text_pass() {
        assert_eq!(refused(" Notes ", ""), None);
        assert_eq!(refused(&"t".repeat(LONGEST_TITLE), &"😀".repeat(CONTENT_LIMIT)), None);
    }

    #[test]
    fn what_would_be_kept_otherwise_than_it_was_shown_is_refused() {
        let long = "t".repeat(LONGEST_TITLE + 1);
        let cases = [
            ("", "x", "The title is empty"),
            (" \u{a0} ", "x", "The title is empty"),
            ("a\nb", "x", "The title is one line"),
            (&long, "x", "The title has 201 characters"),
            ("a", "b\0c", "The text contains NUL"),
        ];
        for (title, text, words) in cases {
            let reason = refused(title, text).unwrap_or_default();
            assert!(reason.starts_with(words), "{title:?}: {reason}");
        }
        let reason = refused("a", &"x".repeat(CONTENT_LIMIT + 1));
        assert_eq!(reason.as_deref(), Some("Content too large"));
    }
}
