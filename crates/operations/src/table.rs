//! Table of all operations: those of each file, in the order of the documentation.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::operation::Operation;
use crate::{
    comments, connections, conversations, documents, files, history, requests, rules, server,
    sharing, suggestions, tokens, webhooks,
};

static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(|| {
    let files = [
        documents::operations(),
        connections::operations(),
        history::operations(),
        comments::operations(),
        suggestions::operations(),
        sharing::operations(),
        files::operations(),
        requests::operations(),
        rules::operations(),
        conversations::operations(),
        tokens::operations(),
        server::operations(),
        webhooks::operations(),
    ];
    files.into_iter().flatten().collect()
});

static EVENTS: LazyLock<HashMap<&str, &Operation>> = LazyLock::new(|| {
    OPERATIONS.iter().filter_map(|it| it.event.map(|event| (event, it))).collect()
});

/// Returns all operations.
pub fn all() -> &'static [Operation] {
    &OPERATIONS
}

/// Returns the operation with this event.
pub fn of_event(name: &str) -> Option<&'static Operation> {
    EVENTS.get(name).copied()
}
