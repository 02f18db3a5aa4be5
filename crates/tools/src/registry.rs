//! List of the tools of a server, and the offers to each kind of caller.

use std::sync::Arc;

use serde_json::Value;

use copydesk_approvals::{CatalogTool, ToolCatalog};
use copydesk_file_sync::FileSync;
use copydesk_llm::messages_api::ToolDefinition;
use copydesk_workspace::Workspace;

use super::conversation::exit_plan_mode::ExitPlanMode;
use super::conversation::respond_conversation_only::RespondConversationOnly;
use super::document::add_comment::AddComment;
use super::document::create_new_document::CreateNewDocument;
use super::document::find_and_replace::FindAndReplace;
use super::document::insert_at_cursor::InsertAtCursor;
use super::document::list_documents::ListDocuments;
use super::document::read_document::ReadDocument;
use super::document::str_replace_based_edit_tool::StrReplaceBasedEditTool;
use super::document::suggest_improvements::SuggestImprovements;
use super::document::update_document_by_id::UpdateDocumentById;
use super::document::update_full_document::UpdateFullDocument;
use super::document::update_selection::UpdateSelection;
use super::pipeline::{HOOKS, HookLists};
#[cfg(unix)]
use super::workspace::bash::BashTool;
use super::workspace::edit::EditTool;
use super::workspace::glob::GlobTool;
use super::workspace::grep::GrepTool;
use super::workspace::multi_edit::MultiEdit;
use super::workspace::read::ReadFile;
use super::workspace::write::WriteTool;
use super::{
    RegisteredTool, StreamedField, ToolContext, ToolEffect, ToolError, ToolFacts, ToolResult,
    ToolScope,
};

/// Returns the tools of every server, in the order of the prompt. A new line goes to the end: the
/// prompt cache depends on the lines before it.
fn all() -> Vec<RegisteredTool> {
    vec![
        RegisteredTool::proposes(UpdateFullDocument),
        RegisteredTool::proposes(UpdateSelection),
        RegisteredTool::proposes(InsertAtCursor),
        RegisteredTool::proposes(FindAndReplace),
        RegisteredTool::proposes(SuggestImprovements),
        RegisteredTool::proposes(StrReplaceBasedEditTool),
        RegisteredTool::reads(ReadDocument),
        RegisteredTool::reads(ListDocuments),
        RegisteredTool::proposes(UpdateDocumentById),
        RegisteredTool::creates(CreateNewDocument),
        RegisteredTool::reads(RespondConversationOnly),
        RegisteredTool::reads(ReadFile),
        RegisteredTool::reads(GlobTool),
        RegisteredTool::reads(GrepTool),
        RegisteredTool::changes_file(WriteTool),
        RegisteredTool::changes_file(EditTool),
        RegisteredTool::changes_file(MultiEdit),
        RegisteredTool::plans(ExitPlanMode),
        RegisteredTool::comments(AddComment),
    ]
}

pub(super) fn commands() -> impl Iterator<Item = Arc<ToolFacts>> {
    #[cfg(unix)]
    let tools = [RegisteredTool::acts(BashTool)];
    #[cfg(not(unix))]
    let tools: [RegisteredTool; 0] = [];
    tools.into_iter().map(|tool| Arc::clone(tool.facts()))
}

/// Tools of a server. [`ToolRegistry::attempt`] runs their calls.
#[derive(Debug)]
pub struct ToolRegistry {
    tools: Vec<RegisteredTool>,
    pub(super) hooks: HookLists,
    pub(super) workspace: Option<Workspace>,
    pub(super) files: Option<FileSync>,
}

impl Default for ToolRegistry {
    fn default() -> Self {
        Self { tools: all(), hooks: HOOKS, workspace: None, files: None }
    }
}

impl ToolRegistry {
    /// Replaces the hooks.
    #[must_use]
    pub fn with_hooks(mut self, hooks: HookLists) -> Self {
        self.hooks = hooks;
        self
    }

    /// Sets the folder for work without a document.
    #[must_use]
    pub fn in_workspace(mut self, workspace: Workspace) -> Self {
        self.workspace = Some(workspace);
        self
    }

    /// Sets the files that may be open as documents.
    #[must_use]
    pub fn with_files(mut self, files: FileSync) -> Self {
        self.files = Some(files);
        self
    }

    /// Adds the tool that runs shell commands, each after the approval of an owner.
    #[cfg(unix)]
    #[must_use]
    pub fn with_commands(self) -> Self {
        self.with_tool(RegisteredTool::acts(BashTool))
    }

    /// Adds a tool.
    #[must_use]
    pub fn with_tool(mut self, tool: RegisteredTool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Returns the folder for work without a document.
    pub fn workspace(&self) -> Option<&Workspace> {
        self.workspace.as_ref()
    }

    /// Returns the facts about each tool, in the order of the prompt.
    pub fn facts(&self) -> impl Iterator<Item = &Arc<ToolFacts>> {
        self.tools.iter().map(RegisteredTool::facts)
    }

    /// Returns what rules and policies need to know of the tools.
    pub fn catalog(&self) -> ToolCatalog {
        let known = |tool: &Arc<ToolFacts>| CatalogTool {
            name: tool.name,
            is_plan: tool.effect == ToolEffect::Plans,
            changes_files: tool.effect == ToolEffect::ChangesFile,
            repeats: tool.repeats,
        };
        self.facts().map(known).collect()
    }

    pub(crate) fn find(&self, name: &str) -> Option<&RegisteredTool> {
        self.tools.iter().find(|tool| tool.facts().name == name)
    }

    pub(crate) fn tool(&self, name: &str) -> ToolResult<&RegisteredTool> {
        self.find(name).ok_or_else(|| unknown(name, self.offered_in(self.workspace.is_some())))
    }

    /// Returns the tool of a call; the error for an unknown name lists the tools that are
    /// available.
    pub(crate) fn called(&self, context: &ToolContext, name: &str) -> ToolResult<&RegisteredTool> {
        self.find(name).ok_or_else(|| self.unknown_here(context, name))
    }

    pub(crate) fn unknown_here(&self, context: &ToolContext, name: &str) -> ToolError {
        let scope = match (&context.environment.workspace, &context.view.base) {
            (Some(_), _) => ToolScope::Workspace,
            (None, Some(_)) => ToolScope::Document,
            (None, None) => ToolScope::Conversation,
        };
        unknown(name, self.offered(scope))
    }

    /// Returns every tool that works on this server, for outside callers.
    pub fn offers(&self) -> Vec<Arc<ToolFacts>> {
        self.offers_in(self.workspace.is_some())
    }

    /// Returns every tool that works where there is a workspace, or none.
    pub fn offers_in(&self, has_workspace: bool) -> Vec<Arc<ToolFacts>> {
        self.offered_in(has_workspace).cloned().collect()
    }

    fn offered_in(&self, has_workspace: bool) -> impl Iterator<Item = &Arc<ToolFacts>> {
        // A plan belongs to a run, and an outside caller has none.
        self.facts().filter(move |tool| {
            (has_workspace || tool.scope != ToolScope::Workspace)
                && tool.effect != ToolEffect::Plans
        })
    }

    fn offered(&self, scope: ToolScope) -> impl Iterator<Item = &Arc<ToolFacts>> {
        self.facts().filter(move |tool| {
            let fits = match scope {
                ToolScope::Document => tool.scope != ToolScope::Workspace,
                ToolScope::Conversation => tool.scope == ToolScope::Conversation,
                ToolScope::Workspace => tool.scope != ToolScope::Document,
            };
            fits && tool.effect != ToolEffect::Plans
        })
    }

    /// Returns the definitions of the tools for a kind of conversation outside of plan mode.
    pub fn definitions(&self, scope: ToolScope) -> Vec<ToolDefinition> {
        self.offered(scope).map(|tool| tool.definition()).collect()
    }

    /// Returns name and occasion of each tool in [`ToolRegistry::definitions`], for the prompt.
    pub fn occasions(&self, scope: ToolScope) -> Vec<(&'static str, &'static str)> {
        self.offered(scope).map(|tool| (tool.name, tool.when)).collect()
    }

    /// Returns the tool that proposes a plan, for runs in plan mode: its definition, and its name
    /// and occasion for the prompt.
    pub fn planning(&self) -> Option<(ToolDefinition, (&'static str, &'static str))> {
        let tool = self.facts().find(|tool| tool.effect == ToolEffect::Plans)?;
        Some((tool.definition(), (tool.name, tool.when)))
    }

    /// Returns the effect of a tool; `None` if there is no tool of this name.
    pub fn effect(&self, tool: &str) -> Option<ToolEffect> {
        self.find(tool).map(|tool| tool.facts().effect)
    }

    /// Returns the field of a tool's input that people can watch while the model writes it.
    pub fn streamed_field(&self, tool: &str) -> Option<StreamedField> {
        self.find(tool)?.facts().input.streams
    }

    /// Returns the range that a call is about, if `input` already contains it.
    pub fn edited_range(
        &self,
        context: &ToolContext,
        tool: &str,
        input: &Value,
    ) -> Option<(usize, usize)> {
        self.find(tool)?.facts().edited_range(context, input)
    }
}

fn unknown<'t>(name: &str, available: impl Iterator<Item = &'t Arc<ToolFacts>>) -> ToolError {
    let names: Vec<_> = available.map(|tool| tool.name).collect();
    ToolError::Unknown { name: name.into(), available: names.join(", ") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn in_a_document_there_are_tools_that_change_it() {
        let definitions = ToolRegistry::default().definitions(ToolScope::Document);
        let names: Vec<_> = definitions.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "update_full_document",
                "update_selection",
                "insert_at_cursor",
                "find_and_replace",
                "suggest_improvements",
                "str_replace_based_edit_tool",
                "read_document",
                "list_documents",
                "update_document_by_id",
                "create_new_document",
                "respond_conversation_only",
                "add_comment",
            ]
        );
    }

    #[test]
    fn the_schemas_are_plain_and_closed() {
        let definitions = ToolRegistry::default().definitions(ToolScope::Document);
        assert_eq!(
            definitions[1].input_schema,
            json!({
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "new_text": {"type": "string", "description": "Text that replaces the range."},
                    "reasons": {
                        "type": "array",
                        "description": "Reasons for single changes, a few words each, which people read beside the change. At most 200.",
                        "items": {
                            "type": "object",
                            "description": "One reason.",
                            "additionalProperties": false,
                            "properties": {
                                "quote": {
                                    "type": "string",
                                    "description": "Changed words, exactly as in the new text; if words are only removed, these words of the old\ntext. At most 300 characters."
                                },
                                "why": {
                                    "type": "string",
                                    "description": "Reason for this change alone. At most 300 characters."
                                },
                            },
                            "required": ["quote", "why"],
                        },
                    },
                    "selection_range": {
                        "type": "object",
                        "description": "Range to replace, in UTF-16 code units of the document as shown; an empty range inserts.",
                        "additionalProperties": false,
                        "properties": {
                            "start": {"type": "integer", "minimum": 0, "description": "First code unit."},
                            "end": {"type": "integer", "minimum": 0, "description": "Code unit after the last one."},
                        },
                        "required": ["start", "end"],
                    },
                    "explanation": {
                        "type": "string",
                        "description": "One sentence for the people who decide: what changes, and why.",
                    },
                },
                "required": ["new_text", "selection_range", "explanation"],
            })
        );
    }

    #[test]
    fn without_a_document_there_are_only_talking_and_other_documents() {
        let occasions = ToolRegistry::default().occasions(ToolScope::Conversation);
        let names: Vec<_> = occasions.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            names,
            [
                "str_replace_based_edit_tool",
                "read_document",
                "list_documents",
                "update_document_by_id",
                "create_new_document",
                "respond_conversation_only",
            ]
        );
    }
}
