//! Type-erased form of a tool: what the registry keeps of the type that implements it.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde::Deserialize as _;
use serde_json::Value;

use crate::ids::DocumentId;
use crate::llm::messages_api::ToolDefinition;

use super::schema::{expected, schema};
use super::{
    ApprovedCall, CompletedExecution, ExecutionContext, FinishedCall, PreparedCall, ProposalResult,
    ReplacedText, StreamedField, Tool, ToolContext, ToolEffect, ToolError, ToolScope,
};

/// Type-erased [`Tool`], as the registry keeps it.
#[derive(Debug)]
pub(crate) struct RegisteredTool {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) when: &'static str,
    pub(super) effect: ToolEffect,
    pub(super) ground: ToolScope,
    pub(super) takes: ReplacedText,
    pub(super) writes: Option<StreamedField>,
    pub(super) schema: Value,
    pub(super) prepare:
        fn(ToolContext, Value) -> BoxFuture<'static, Result<PreparedCall, ToolError>>,
    pub(super) check: fn(&Value) -> Result<(), ToolError>,
    pub(super) act: fn(ExecutionContext, Value) -> BoxFuture<'static, Result<String, ToolError>>,
    pub(super) conclude: Conclude,
    pub(super) only_looks: fn(&Value) -> bool,
    pub(super) scope: fn(&ToolContext, &Value) -> Option<(usize, usize)>,
    pub(super) target: fn(&Value) -> Option<DocumentId>,
    pub(super) missing: fn(&ToolContext, &Value) -> Option<String>,
    pub(super) file: fn(&Value) -> Option<String>,
    pub(super) finish: fn(&ToolContext, &ProposalResult) -> FinishedCall,
}

type Conclude = fn(
    ToolContext,
    ApprovedCall,
    Value,
) -> BoxFuture<'static, Result<CompletedExecution, ToolError>>;

impl RegisteredTool {
    pub(super) fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            description: T::DESCRIPTION,
            when: T::WHEN,
            effect: T::EFFECT,
            ground: T::GROUND,
            takes: T::TAKES,
            writes: T::WRITES,
            schema: schema::<T::Input>(),
            prepare: prepare::<T>,
            check: check::<T>,
            act: act::<T>,
            conclude: conclude::<T>,
            only_looks: T::only_looks,
            scope: T::scope,
            target: T::target,
            missing: T::missing,
            file: T::file,
            finish: T::finish,
        }
    }

    /// Returns the definition for the model.
    pub(super) fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: self.name.into(),
            description: self.description.into(),
            input_schema: self.schema.clone(),
            strict: None,
        }
    }
}

fn prepare<T: Tool>(
    context: ToolContext,
    input: Value,
) -> BoxFuture<'static, Result<PreparedCall, ToolError>> {
    async move { T::prepare(context, read::<T>(&input)?).await }.boxed()
}

fn act<T: Tool>(
    errand: ExecutionContext,
    input: Value,
) -> BoxFuture<'static, Result<String, ToolError>> {
    async move { T::act(errand, read::<T>(&input)?).await }.boxed()
}

fn conclude<T: Tool>(
    context: ToolContext,
    approved: ApprovedCall,
    input: Value,
) -> BoxFuture<'static, Result<CompletedExecution, ToolError>> {
    async move { T::conclude(context, approved, read::<T>(&input)?).await }.boxed()
}

fn check<T: Tool>(input: &Value) -> Result<(), ToolError> {
    read::<T>(input).map(drop)
}

fn read<T: Tool>(input: &Value) -> Result<T::Input, ToolError> {
    let read = if has_null(input) {
        T::Input::deserialize(without_null(input))
    } else {
        T::Input::deserialize(input)
    };
    read.map_err(|error| ToolError::Input {
        tool: T::NAME,
        reason: error.to_string(),
        expected: expected(&schema::<T::Input>()),
    })
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.values().any(|it| it.is_null() || has_null(it)),
        Value::Array(items) => items.iter().any(has_null),
        _ => false,
    }
}

/// Removes `null` members. Models send `null` for fields that they do not want to set.
fn without_null(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let said = members.iter().filter(|(_, it)| !it.is_null());
            said.map(|(name, it)| (name.clone(), without_null(it))).collect()
        }
        Value::Array(items) => items.iter().map(without_null).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::registry::ToolRegistry;

    #[test]
    fn null_is_as_good_as_nothing_wherever_a_tool_needs_nothing() {
        let registry = ToolRegistry::default();
        #[cfg(unix)]
        let registry = registry.with_commands();
        let mut switches = 0;
        for offer in registry.offers() {
            let tool = registry.tool(&offer.definition.name).unwrap();
            let some = |kind: &Value| match kind["type"].as_str() {
                Some("string") => json!("x"),
                Some("integer") => json!(1),
                Some("array") => json!([]),
                Some("object") => json!({"start": 0, "end": 0}),
                _ => json!("view"),
            };
            let properties = tool.schema["properties"].as_object().unwrap();
            let required = tool.schema["required"].as_array().cloned().unwrap_or_default();
            let mut input = json!({});
            for (name, property) in properties {
                let is_needed = required.iter().any(|it| it == name);
                switches += usize::from(!is_needed);
                input[name] = if is_needed { some(property) } else { Value::Null };
            }
            (tool.check)(&input).unwrap_or_else(|error| panic!("{}: {error}", tool.name));
        }
        assert!(switches > 10, "{switches}");
    }

    #[test]
    fn null_inside_of_lists_is_left_out_too_and_never_stands_for_what_is_needed() {
        let edit = json!({"old_string": "a", "new_string": "b", "replace_all": null});
        let input = json!({"file_path": "a.txt", "edits": [edit]});
        let tool = ToolRegistry::default();
        let check = |input: &Value| (tool.tool("MultiEdit").unwrap().check)(input);
        check(&input).unwrap();
        let refused = check(&json!({"file_path": null, "edits": []})).unwrap_err().to_string();
        assert!(refused.contains("missing field `file_path`"), "{refused}");
    }
}
