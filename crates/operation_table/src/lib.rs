//! Declaration of operations: what a person may ask of the server, each with its name on each
//! transport, its right, its input and output, and the function that does it.
//!
//! The transports take from an [`OperationTable`] what they dispatch, route and describe, and do
//! not know who declared it. So a change of an operation rebuilds no transport.

#![warn(clippy::missing_errors_doc)]

mod input;
mod operation;
mod right;
mod table;

pub use input::{PathFields, RawInput, complaint, event};
pub use operation::{
    BASE, BodyKind, DeclaredRight, InputType, Operation, OutputType, Route, operation,
    socket_handled, transport_handled, type_name,
};
pub use right::{
    Anyone, ManageDeletedDocument, ManageListedDocument, OnAnyDocument, OnComment, OnDocument,
    OnDocumentOrInbox, OnOwnSession, OnRequest, OnServer, OnThread, Right,
};
pub use table::OperationTable;
