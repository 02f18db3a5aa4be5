//! Tests of the agent, by behaviour, over one fixture.

pub(crate) mod budgets;
pub(crate) mod calling;
pub(crate) mod changed_decisions;
pub(crate) mod conversation_stories;
pub(crate) mod deciding;
pub(crate) mod editing;
pub(crate) mod fixture;
pub(crate) mod modes;
pub(crate) mod plans;
pub(crate) mod reasons;
pub(crate) mod restarts;
pub(crate) mod unread;
pub(crate) mod watching;
pub(crate) mod workspace;
