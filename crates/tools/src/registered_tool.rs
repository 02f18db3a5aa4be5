//! Tool as the registry keeps it: its facts, and what it does with an input that is JSON.

use std::fmt;
use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt as _};
use serde_json::{Value, json};

use copydesk_approvals::Preview;

use super::document::text_changes::blocking;
use super::pipeline::open_file;
use super::tool_facts::parse;
use super::{
    ActTool, ActionPreview, ApprovedCall, CommentTool, CompletedExecution, CreateTool,
    DocumentProposal, ExecutionContext, FileTool, PlanTool, ProposeTool, Proposed, ReadTool, Tool,
    ToolAnswer, ToolContext, ToolEffect, ToolFacts, ToolResult, ToolScope, WordsRead,
};

pub(crate) type ToolStep<C, R> =
    Box<dyn Fn(C, &Value) -> BoxFuture<'static, ToolResult<R>> + Send + Sync>;

pub(crate) type PreviewStep = ToolStep<ToolContext, ActionPreview>;

/// Steps of a tool, by its effect. A call can only take the steps that fit it.
pub(crate) enum ToolAction {
    /// See [`ReadTool`] and [`CommentTool`].
    Read(ToolStep<ToolContext, ToolAnswer>),
    /// See [`ProposeTool`].
    Propose(ToolStep<ToolContext, Proposed>),
    /// See [`FileTool`].
    ChangeFile {
        propose: ToolStep<ToolContext, DocumentProposal>,
        preview: PreviewStep,
        execute: ToolStep<ExecutionContext, String>,
    },
    /// See [`ActTool`].
    Act { preview: PreviewStep, execute: ToolStep<ExecutionContext, String> },
    /// See [`CreateTool`] and [`PlanTool`].
    CreateOrPlan { preview: PreviewStep, complete: ToolStep<ApprovedCall, CompletedExecution> },
}

#[derive(Clone, Copy)]
pub(crate) enum ApprovedStep<'t> {
    InWorkspace(WorkspaceStep<'t>),
    CreateOrPlan(&'t ToolStep<ApprovedCall, CompletedExecution>),
}

#[derive(Clone, Copy)]
pub(crate) enum WorkspaceStep<'t> {
    /// Reads, after a person or an owner's rule wanted to be asked.
    Read(&'t ToolStep<ToolContext, ToolAnswer>),
    Execute(&'t ToolStep<ExecutionContext, String>),
}

/// Tool with its facts. Made by the function for its effect, such as [`RegisteredTool::proposes`].
pub struct RegisteredTool {
    facts: Arc<ToolFacts>,
    pub(crate) action: ToolAction,
}

impl fmt::Debug for RegisteredTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.facts.fmt(f)
    }
}

fn step<T: Tool, C, R, F>(
    facts: &Arc<ToolFacts>,
    run: impl Fn(C, T::Input) -> F + Send + Sync + 'static,
) -> ToolStep<C, R>
where
    F: Future<Output = ToolResult<R>> + Send + 'static,
    R: Send + 'static,
{
    let facts = Arc::clone(facts);
    Box::new(move |context, input: &Value| match parse::<T>(&facts, input) {
        Ok(input) => run(context, input).boxed(),
        Err(error) => std::future::ready(Err(error)).boxed(),
    })
}

macro_rules! method {
    ($facts:ident, $tool:ident as $T:ident, $method:ident) => {{
        let tool = Arc::clone(&$tool);
        step::<$T, _, _, _>(&$facts, move |context, input| {
            let tool = Arc::clone(&tool);
            async move { tool.$method(context, input).await }
        })
    }};
}

impl RegisteredTool {
    /// Returns a tool that only answers.
    pub fn reads<T: ReadTool>(tool: T) -> Self {
        let effect = match T::SCOPE {
            ToolScope::Document | ToolScope::Conversation => ToolEffect::OnlyAnswers,
            ToolScope::Workspace => ToolEffect::Reads,
        };
        let facts = ToolFacts { reads: T::READS, ..ToolFacts::of::<T>(effect) };
        let (facts, tool) = (Arc::new(facts), Arc::new(tool));
        let action = ToolAction::Read(method!(facts, tool as T, read));
        Self { facts, action }
    }

    /// Returns a tool that comments on a document.
    pub fn comments<T: CommentTool>(tool: T) -> Self {
        let facts = ToolFacts::of::<T>(ToolEffect::Comments);
        // The refusal of words that are not there shows others.
        let facts = Arc::new(ToolFacts { reads: WordsRead::OfDocument, ..facts });
        let tool = Arc::new(tool);
        let action = ToolAction::Read(method!(facts, tool as T, comment));
        Self { facts, action }
    }

    /// Returns a tool that proposes changes of a document.
    pub fn proposes<T: ProposeTool>(tool: T) -> Self {
        let mut facts = ToolFacts::of::<T>(ToolEffect::Proposes);
        (facts.input.replaces, facts.input.streams) = (T::REPLACES, T::STREAMS);
        facts.input.substitutes = T::SUBSTITUTES;
        (facts.input.only_reads, facts.input.edited_range) = (T::only_reads, T::edited_range);
        let (facts, tool) = (Arc::new(facts), Arc::new(tool));
        let action = ToolAction::Propose(method!(facts, tool as T, propose));
        Self { facts, action }
    }

    /// Returns a tool that changes a file of the workspace.
    pub fn changes_file<T: FileTool>(_: T) -> Self {
        let mut facts = ToolFacts::of::<T>(ToolEffect::ChangesFile);
        (facts.input.replaces, facts.repeats) = (T::REPLACES, T::REPEATS);
        let facts = Arc::new(facts);
        let propose = step::<T, _, _, _>(&facts, |context: ToolContext, input| async move {
            let edit = T::edit(context.document()?, input)?;
            open_file::propose(&context, edit, T::REPLACES).await
        });
        let preview = step::<T, _, _, _>(&facts, |context: ToolContext, input| async move {
            let workspace = context.workspace()?.clone();
            blocking(move |limits| T::preview(&workspace, input, limits)).await?
        });
        let execute = step::<T, _, _, _>(&facts, |execution: ExecutionContext, input| async move {
            blocking(move |_| T::write(&execution, input)).await?
        });
        Self { facts, action: ToolAction::ChangeFile { propose, preview, execute } }
    }

    /// Returns a tool that acts in the workspace.
    pub fn acts<T: ActTool>(tool: T) -> Self {
        let (facts, tool) = (Arc::new(ToolFacts::of::<T>(ToolEffect::Acts)), Arc::new(tool));
        let preview = method!(facts, tool as T, preview);
        let execute = method!(facts, tool as T, execute);
        Self { facts, action: ToolAction::Act { preview, execute } }
    }

    /// Returns a tool that creates a document.
    pub fn creates<T: CreateTool>(tool: T) -> Self {
        let (facts, tool) = (Arc::new(ToolFacts::of::<T>(ToolEffect::Creates)), Arc::new(tool));
        let preview = method!(facts, tool as T, preview);
        let complete = method!(facts, tool as T, create);
        Self { facts, action: ToolAction::CreateOrPlan { preview, complete } }
    }

    /// Returns a tool that proposes plans.
    pub fn plans<T: PlanTool>(_: T) -> Self {
        let facts = Arc::new(ToolFacts::of::<T>(ToolEffect::Plans));
        let preview = step::<T, _, _, _>(&facts, |_, input| async move {
            let plan = T::plan(input)?;
            let shown = Preview::of_input(&json!({ "plan": plan }));
            let preview = Preview { new_content: Some(plan.into()), ..shown };
            Ok(ActionPreview { preview, touched: None })
        });
        let complete = step::<T, _, _, _>(&facts, |_, input| async move {
            let plan = T::plan(input)?;
            Ok(CompletedExecution { text: T::approved(&plan), plan: Some(plan), read: None })
        });
        Self { facts, action: ToolAction::CreateOrPlan { preview, complete } }
    }

    /// Returns the step after an approval in the workspace inbox; `None` if people are asked
    /// elsewhere or not at all.
    pub(crate) fn approved_step(&self) -> Option<ApprovedStep<'_>> {
        match &self.action {
            ToolAction::Read(read) => {
                let step = ApprovedStep::InWorkspace(WorkspaceStep::Read(read));
                (self.facts.effect == ToolEffect::Reads).then_some(step)
            }
            ToolAction::Propose(_) => None,
            ToolAction::ChangeFile { execute, .. } | ToolAction::Act { execute, .. } => {
                Some(ApprovedStep::InWorkspace(WorkspaceStep::Execute(execute)))
            }
            ToolAction::CreateOrPlan { complete, .. } => Some(ApprovedStep::CreateOrPlan(complete)),
        }
    }

    /// Returns what the tool declares about itself.
    pub fn facts(&self) -> &Arc<ToolFacts> {
        &self.facts
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::registry::ToolRegistry;

    #[test]
    fn null_is_as_good_as_nothing_wherever_a_tool_needs_nothing() {
        let registry = ToolRegistry::default();
        #[cfg(unix)]
        let registry = registry.with_commands();
        let mut switches = 0;
        for offer in registry.offers() {
            let tool = registry.tool(offer.name).unwrap();
            let some = |kind: &Value| match kind["type"].as_str() {
                Some("string") => json!("x"),
                Some("integer") => json!(1),
                Some("array") => json!([]),
                Some("object") => json!({"start": 0, "end": 0}),
                _ => json!("view"),
            };
            let properties = tool.facts().schema["properties"].as_object().unwrap();
            let required = tool.facts().schema["required"].as_array().cloned().unwrap_or_default();
            let mut input = json!({});
            for (name, property) in properties {
                let is_needed = required.iter().any(|it| it == name);
                switches += usize::from(!is_needed);
                input[name] = if is_needed { some(property) } else { Value::Null };
            }
            tool.facts()
                .check(&input)
                .unwrap_or_else(|error| panic!("{}: {error}", tool.facts().name));
        }
        assert!(switches > 10, "{switches}");
    }

    #[test]
    fn null_inside_of_lists_is_left_out_too_and_never_stands_for_what_is_needed() {
        let edit = json!({"old_string": "a", "new_string": "b", "replace_all": null});
        let input = json!({"file_path": "a.txt", "edits": [edit]});
        let tool = ToolRegistry::default();
        let check = |input: &Value| tool.tool("MultiEdit").unwrap().facts().check(input);
        check(&input).unwrap();
        let refused = check(&json!({"file_path": null, "edits": []})).unwrap_err().to_string();
        assert!(refused.contains("missing field `file_path`"), "{refused}");
    }
}
