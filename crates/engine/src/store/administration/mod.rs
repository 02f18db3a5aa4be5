//! Storage of what owners look after: roles in single documents, what models cost, the limits of
//! it, and the size of everything.

pub(super) mod document_roles;
pub(super) mod records;
pub(super) mod spending;
pub(super) mod spending_month;
pub(super) mod storage;

use super::database::statement_batch::StatementBatch;
use records::AdministrationOp;

/// Writes an operation.
pub(super) fn write(script: &mut StatementBatch<'_>, op: &AdministrationOp) {
    match op {
        AdministrationOp::AddSpending(entry) => spending::add(script, entry),
        AdministrationOp::PutSpendingLimit { scope, amount } => {
            spending::put_limit(script, scope, *amount);
        }
        AdministrationOp::MoveSpending { from, to } => spending::move_to(script, from, to),
        AdministrationOp::PutDocumentRole(record) => document_roles::put(script, record),
        AdministrationOp::RemoveDocumentRole { document, grantee } => {
            document_roles::remove(script, document, grantee);
        }
        AdministrationOp::RemoveDocumentRoles(document) => {
            document_roles::remove_all(script, document);
        }
    }
}
