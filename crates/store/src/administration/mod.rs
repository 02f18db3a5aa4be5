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
