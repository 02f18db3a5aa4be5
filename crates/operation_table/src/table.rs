//! Table of operations ([`OperationTable`]), found by their events.

use std::collections::HashMap;

use crate::Operation;

/// Every [`Operation`] of the server, in the order of the documentation.
pub struct OperationTable {
    operations: Vec<Operation>,
    /// Places of the operations that have an event, by its name.
    by_event: HashMap<&'static str, usize>,
}

impl OperationTable {
    /// Creates the table of each [`Operation`].
    pub fn new(operations: Vec<Operation>) -> Self {
        let events = operations.iter().enumerate();
        let by_event = events.filter_map(|(at, it)| it.event.map(|event| (event, at))).collect();
        Self { operations, by_event }
    }

    /// Returns all operations.
    pub fn all(&self) -> &[Operation] {
        &self.operations
    }

    /// Returns the operation with this event.
    pub fn of_event(&self, name: &str) -> Option<&Operation> {
        self.by_event.get(name).map(|at| &self.operations[*at])
    }
}
