//! A tool as a value: what the registry keeps of the type that implements it.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde::Deserialize as _;
use serde_json::Value;

use crate::ids::DocumentId;
use crate::wire::messages::ToolDefinition;

use super::schema::{expected, schema};
use super::{
    Approved, Concluded, Context, Effect, Errand, Finished, Ground, Prepared, Tool, ToolError,
    Verdict, Writes,
};

/// What the registry knows of a tool.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) when: &'static str,
    pub(super) effect: Effect,
    pub(super) ground: Ground,
    pub(super) writes: Option<Writes>,
    pub(super) schema: Value,
    pub(super) prepare: fn(Context, Value) -> BoxFuture<'static, Result<Prepared, ToolError>>,
    pub(super) check: fn(&Value) -> Result<(), ToolError>,
    pub(super) act: fn(Errand, Value) -> BoxFuture<'static, Result<String, ToolError>>,
    pub(super) conclude: Conclude,
    pub(super) only_looks: fn(&Value) -> bool,
    pub(super) scope: fn(&Context, &Value) -> Option<(usize, usize)>,
    pub(super) target: fn(&Value) -> Option<DocumentId>,
    pub(super) file: fn(&Value) -> Option<String>,
    pub(super) finish: fn(&Context, &Verdict) -> Finished,
}

type Conclude = fn(Context, Approved, Value) -> BoxFuture<'static, Result<Concluded, ToolError>>;

impl Entry {
    pub(super) fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            description: T::DESCRIPTION,
            when: T::WHEN,
            effect: T::EFFECT,
            ground: T::GROUND,
            writes: T::WRITES,
            schema: schema::<T::Input>(),
            prepare: prepare::<T>,
            check: check::<T>,
            act: act::<T>,
            conclude: conclude::<T>,
            only_looks: T::only_looks,
            scope: T::scope,
            target: T::target,
            file: T::file,
            finish: T::finish,
        }
    }

    /// As the model is told of it.
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
    context: Context,
    input: Value,
) -> BoxFuture<'static, Result<Prepared, ToolError>> {
    async move { T::prepare(context, read::<T>(&input)?).await }.boxed()
}

fn act<T: Tool>(errand: Errand, input: Value) -> BoxFuture<'static, Result<String, ToolError>> {
    async move { T::act(errand, read::<T>(&input)?).await }.boxed()
}

fn conclude<T: Tool>(
    context: Context,
    approved: Approved,
    input: Value,
) -> BoxFuture<'static, Result<Concluded, ToolError>> {
    async move { T::conclude(context, approved, read::<T>(&input)?).await }.boxed()
}

fn check<T: Tool>(input: &Value) -> Result<(), ToolError> {
    read::<T>(input).map(drop)
}

fn read<T: Tool>(input: &Value) -> Result<T::Input, ToolError> {
    T::Input::deserialize(input).map_err(|error| ToolError::Input {
        tool: T::NAME,
        reason: error.to_string(),
        expected: expected(&schema::<T::Input>()),
    })
}
