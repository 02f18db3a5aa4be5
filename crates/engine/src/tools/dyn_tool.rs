//! Object-safe form of a tool, which the registry keeps: its input is JSON, not a type of its own.

use std::fmt;

use futures_util::future::{BoxFuture, FutureExt as _};
use serde::Deserialize as _;
use serde_json::Value;

use crate::llm::messages_api::ToolDefinition;

use super::schema::{expected, schema};
use super::{
    ApprovedCall, CallTarget, CompletedExecution, ExecutionContext, PreparedCall, ReplacedText,
    StreamedField, Tool, ToolContext, ToolEffect, ToolError, ToolScope, lenient_input,
};

/// Result of a method of [`DynTool`] that waits.
type ToolFuture<'t, T> = BoxFuture<'t, Result<T, ToolError>>;

/// [`Tool`] without its input type. Only [`boxed`] makes one.
pub(crate) trait DynTool: Send + Sync {
    /// Returns what the tool declares about itself.
    fn spec(&self) -> &ToolSpec;
    /// Checks if an input fits the tool's schema.
    fn check(&self, input: &Value) -> Result<(), ToolError>;
    /// See [`Tool::prepare`].
    fn prepare(&self, context: ToolContext, input: &Value) -> ToolFuture<'_, PreparedCall>;
    /// See [`Tool::execute`].
    fn execute(&self, execution: ExecutionContext, input: &Value) -> ToolFuture<'_, String>;
    /// See [`Tool::conclude`].
    fn conclude(
        &self,
        context: ToolContext,
        approved: ApprovedCall,
        input: &Value,
    ) -> ToolFuture<'_, CompletedExecution>;
    /// See [`Tool::target`].
    fn target(&self, input: &Value) -> CallTarget;
    /// Returns `true` if a call with this input needs nobody's approval because it only reads
    /// documents.
    fn only_reads(&self, input: &Value) -> bool;
    /// See [`Tool::edited_range`].
    fn edited_range(&self, context: &ToolContext, input: &Value) -> Option<(usize, usize)>;
    /// Returns an input in the shape of the tool's schema, where only one meaning is possible.
    fn shaped(&self, input: &Value) -> Value;
    /// See [`Tool::not_found_message`].
    fn not_found_message(&self, context: &ToolContext, input: &Value) -> Option<String>;
}

impl fmt::Debug for dyn DynTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec().fmt(f)
    }
}

/// Declarations of a tool: the constants of [`Tool`], and the schema of its input.
#[derive(Debug)]
pub(crate) struct ToolSpec {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) when: &'static str,
    pub(crate) effect: ToolEffect,
    pub(crate) scope: ToolScope,
    pub(crate) replaces: ReplacedText,
    pub(crate) streams: Option<StreamedField>,
    pub(crate) schema: Value,
}

impl ToolSpec {
    fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            description: T::DESCRIPTION,
            when: T::WHEN,
            effect: T::EFFECT,
            scope: T::SCOPE,
            replaces: T::REPLACES,
            streams: T::STREAMS,
            schema: schema::<T::Input>(),
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

/// Returns a tool as the registry keeps it.
pub(super) fn boxed<T: Tool>(tool: T) -> Box<dyn DynTool> {
    Box::new(TypedTool { spec: ToolSpec::of::<T>(), tool })
}

/// Tool with its declarations. Parses the input for it.
struct TypedTool<T> {
    spec: ToolSpec,
    tool: T,
}

impl<T: Tool> TypedTool<T> {
    fn parse(&self, input: &Value) -> Result<T::Input, ToolError> {
        T::Input::deserialize(self.shaped(input)).map_err(|error| ToolError::Input {
            tool: self.spec.name,
            reason: error.to_string(),
            expected: expected(&self.spec.schema),
        })
    }
}

impl<T: Tool> DynTool for TypedTool<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn check(&self, input: &Value) -> Result<(), ToolError> {
        self.parse(input).map(drop)
    }

    fn prepare(&self, context: ToolContext, input: &Value) -> ToolFuture<'_, PreparedCall> {
        let input = self.parse(input);
        async move { self.tool.prepare(context, input?).await }.boxed()
    }

    fn execute(&self, execution: ExecutionContext, input: &Value) -> ToolFuture<'_, String> {
        let input = self.parse(input);
        async move { self.tool.execute(execution, input?).await }.boxed()
    }

    fn conclude(
        &self,
        context: ToolContext,
        approved: ApprovedCall,
        input: &Value,
    ) -> ToolFuture<'_, CompletedExecution> {
        let input = self.parse(input);
        async move { self.tool.conclude(context, approved, input?).await }.boxed()
    }

    fn target(&self, input: &Value) -> CallTarget {
        self.tool.target(input)
    }

    fn only_reads(&self, input: &Value) -> bool {
        self.spec.effect == ToolEffect::Safe || self.tool.only_reads(input)
    }

    fn edited_range(&self, context: &ToolContext, input: &Value) -> Option<(usize, usize)> {
        self.tool.edited_range(context, &self.shaped(input))
    }

    fn shaped(&self, input: &Value) -> Value {
        lenient_input::shaped(&self.spec.schema, input)
    }

    fn not_found_message(&self, context: &ToolContext, input: &Value) -> Option<String> {
        self.tool.not_found_message(context, input)
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
            let properties = tool.spec().schema["properties"].as_object().unwrap();
            let required = tool.spec().schema["required"].as_array().cloned().unwrap_or_default();
            let mut input = json!({});
            for (name, property) in properties {
                let is_needed = required.iter().any(|it| it == name);
                switches += usize::from(!is_needed);
                input[name] = if is_needed { some(property) } else { Value::Null };
            }
            tool.check(&input).unwrap_or_else(|error| panic!("{}: {error}", tool.spec().name));
        }
        assert!(switches > 10, "{switches}");
    }

    #[test]
    fn null_inside_of_lists_is_left_out_too_and_never_stands_for_what_is_needed() {
        let edit = json!({"old_string": "a", "new_string": "b", "replace_all": null});
        let input = json!({"file_path": "a.txt", "edits": [edit]});
        let tool = ToolRegistry::default();
        let check = |input: &Value| tool.tool("MultiEdit").unwrap().check(input);
        check(&input).unwrap();
        let refused = check(&json!({"file_path": null, "edits": []})).unwrap_err().to_string();
        assert!(refused.contains("missing field `file_path`"), "{refused}");
    }
}
