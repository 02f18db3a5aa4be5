//! Storage for owners: roles in documents, spending, sizes, and the deletion of people's data.

pub(super) mod deleted_people;
pub(super) mod document_roles;
pub(super) mod person_data;
pub(super) mod person_records;
pub(super) mod person_rows;
pub(super) mod records;
pub(super) mod spending;
pub(super) mod spending_month;
pub(super) mod storage;

use super::database::statement_batch::StatementBatch;
use super::settings;
use records::AdministrationOp;

pub(super) fn write<'a>(script: &mut StatementBatch<'a>, op: &'a AdministrationOp) {
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
        AdministrationOp::BeginPersonDeletion(deletion) => deleted_people::begin(script, deletion),
        AdministrationOp::PutPersonDeletion(deletion) => deleted_people::put(script, deletion),
        AdministrationOp::ChangePersonRow(op) => person_rows::write(script, op),
        AdministrationOp::RemoveSetting(key) => settings::remove(script, key),
    }
}
