//! People whose data is deleted: the state of each deletion, and how it begins and ends.

use serde_json::Value;

use crate::database::columns::list;
use crate::database::statement_batch::{RowExpectation, StatementBatch};
use crate::{Store, StoreResult};
use async_recursion::async_recursion as boxed;
use copydesk_ids::UserId;
use copydesk_ids::permissions::DELETED_PERSON;
use copydesk_macros::record;

use super::person_records::PersonDeletion;

#[record]
struct DeletionRow {
    #[sqlx(rename = "user_id")]
    user: UserId,
    person: UserId,
    begun_ms: u64,
    ended_ms: Option<u64>,
    body: Value,
}

impl Store {
    /// Returns the deletion of the person who is or was `user`; `None` if there is none.
    #[boxed]
    pub async fn person_deletion(&self, user: &UserId) -> StoreResult<Option<PersonDeletion>> {
        let sql = "SELECT * FROM deleted_people
             WHERE person IN (SELECT person FROM deleted_people WHERE user_id = $1)
             ORDER BY user_id";
        Ok(deletions(self.all(sql, &[user]).await?).pop())
    }

    /// Returns the deletions that have not ended, in no order.
    pub async fn person_deletions_under_way(&self) -> StoreResult<Vec<PersonDeletion>> {
        let sql = "SELECT * FROM deleted_people WHERE ended_ms IS NULL ORDER BY person, user_id";
        Ok(deletions(self.all(sql, &[]).await?))
    }

    pub(crate) async fn deleted_among(&self, users: &[UserId]) -> StoreResult<Vec<UserId>> {
        let sql = "SELECT user_id FROM deleted_people
             WHERE user_id IN (SELECT value ->> 0 FROM json_each($1))";
        self.first_columns(sql, &[&list(users)]).await
    }
}

/// Groups rows by their person. The rows of a person are beside each other.
fn deletions(rows: Vec<DeletionRow>) -> Vec<PersonDeletion> {
    let mut found: Vec<PersonDeletion> = Vec::new();
    for DeletionRow { user, person, begun_ms, ended_ms, body } in rows {
        if found.last().is_none_or(|last| last.person != person) {
            let users = vec![person.clone()];
            let body = Value::Null;
            found.push(PersonDeletion { person: person.clone(), users, begun_ms, ended_ms, body });
        }
        let Some(deletion) = found.last_mut() else { continue };
        if user == person {
            deletion.body = body;
        } else {
            deletion.users.push(user);
        }
    }
    found
}

/// Begins a deletion: the person loses access, login and name. An ended one can begin again.
pub(crate) fn begin<'a>(script: &mut StatementBatch<'a>, deletion: &'a PersonDeletion) {
    let PersonDeletion { person, users, begun_ms, body, .. } = deletion;
    for user in users {
        // Only the row of the person has the state.
        let body = if user == person { body } else { &Value::Null };
        let sql = "INSERT INTO deleted_people (user_id, person, begun_ms, ended_ms, body)
             VALUES ($1, $2, $3, NULL, $4)
             ON CONFLICT (user_id) DO UPDATE SET person = excluded.person,
                 begun_ms = excluded.begun_ms, ended_ms = NULL, body = excluded.body
             WHERE deleted_people.ended_ms IS NOT NULL";
        script.run(sql, &[user, person, begun_ms, body]);
        script.must(RowExpectation::BeNew { kind: "deletion", id: user.as_str() });
        let sql = "UPDATE tokens SET revoked_ms = COALESCE(revoked_ms, $2), name = $3, login = NULL
             WHERE user_id = $1";
        script.run(sql, &[user, begun_ms, &DELETED_PERSON]);
        // What was shared with them, also by their address.
        let sql = "DELETE FROM document_roles WHERE (kind = 'login' AND grantee = $1)
             OR (kind = 'email' AND grantee IN (SELECT LOWER(email) FROM logins WHERE user_id = $1))";
        script.run(sql, &[user]);
        script.run("DELETE FROM logins WHERE user_id = $1", &[user]);
        let sql = "DELETE FROM spending_limits WHERE kind = 'person' AND subject = $1";
        script.run(sql, &[user]);
    }
}

pub(crate) fn put<'a>(script: &mut StatementBatch<'a>, deletion: &'a PersonDeletion) {
    let PersonDeletion { person, ended_ms, body, .. } = deletion;
    let sql = "UPDATE deleted_people SET ended_ms = $2 WHERE person = $1";
    script.run(sql, &[person, ended_ms]);
    script.must(RowExpectation::BeThere { kind: "deletion", id: person.as_str() });
    script.run("UPDATE deleted_people SET body = $2 WHERE user_id = $1", &[person, body]);
}
