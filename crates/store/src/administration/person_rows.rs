//! Rows that belong to a person or name them: found, changed and removed a few at a time, by key.

use std::fmt::Write as _;

use sqlx::AssertSqlSafe;

use crate::database::columns::ColumnValue;
use crate::database::statement_batch::StatementBatch;
use crate::{Store, StoreResult};
use copydesk_ids::UserId;
use copydesk_ids::permissions::DELETED_PERSON;
use copydesk_macros::record;

use super::person_records::{PersonRow, PersonRowOp, PersonSearch, PersonTable, RowKey};

/// Number of rows whose texts one query searches.
const PIECE: u32 = 500;

struct TableShape {
    name: &'static str,
    /// Columns of the key: texts, and a number behind them.
    keys: &'static [&'static str],
    number: Option<&'static str>,
    /// Column with text in which people are named.
    body: Option<&'static str>,
    /// Condition for rows of the user `$1`.
    owned: &'static str,
}

impl PersonTable {
    fn shape(self) -> TableShape {
        let plain = |name, keys, body| TableShape {
            name,
            keys,
            number: None,
            body: Some(body),
            owned: "user_id = $1",
        };
        match self {
            Self::Requests => plain("requests", &["id"], "body"),
            Self::RequestParts => plain("request_parts", &["request", "hunk"], "body"),
            Self::Rules => plain("rules", &["id"], "body"),
            Self::CommentThreads => plain("comment_threads", &["id"], "body"),
            Self::CommentReads => {
                TableShape { body: None, ..plain("comment_reads", &["user_id", "thread"], "") }
            }
            Self::CommentMentions => {
                TableShape { body: None, ..plain("comment_mentions", &["user_id", "thread"], "") }
            }
            Self::Runs => {
                let owned = "user_id = $1 AND finished_ms IS NOT NULL";
                TableShape { owned, ..plain("runs", &["id"], "body") }
            }
            Self::Messages => TableShape {
                number: Some("seq"),
                owned: "session IN (SELECT id FROM sessions WHERE user_id = $1)",
                ..plain("messages", &["session", "document"], "body")
            },
            Self::Outbox => TableShape { number: Some("seq"), ..plain("outbox", &[], "body") },
            Self::Idempotency => plain("idempotency", &["user_id", "key"], "answer"),
            Self::Answers => plain("answers", &["user_id", "key"], "body"),
            Self::Sessions => TableShape {
                owned: "user_id = $1 AND NOT EXISTS (SELECT 1 FROM documents
                     WHERE unlisted_owner = sessions.id AND deleted = FALSE)",
                ..plain("sessions", &["id"], "body")
            },
            Self::Decisions => TableShape {
                name: "decisions",
                keys: &[],
                number: Some("seq"),
                body: None,
                owned: "user_id = $1 AND name <> 'Deleted person'",
            },
        }
    }
}

impl TableShape {
    fn columns(&self) -> Vec<&'static str> {
        self.keys.iter().copied().chain(self.number).collect()
    }

    /// Returns a key's columns under the names of [`KeyRow`], empty for those the table lacks.
    fn key_columns(&self) -> String {
        let text = |index: usize| self.keys.get(index).copied().unwrap_or("CAST('' AS TEXT)");
        let number = self.number.unwrap_or("CAST(0 AS BIGINT)");
        format!("{} AS k1, {} AS k2, {number} AS k3", text(0), text(1))
    }

    fn places(&self, first: usize) -> String {
        let places = (0..self.columns().len()).map(|index| format!("${}", first + index));
        places.collect::<Vec<_>>().join(", ")
    }

    fn values<'k>(&self, key: &'k RowKey) -> Vec<&'k dyn ColumnValue> {
        let texts: [&dyn ColumnValue; 2] = [&key.first, &key.second];
        let texts = texts.into_iter().take(self.keys.len());
        texts.chain(self.number.map(|_| &key.number as &dyn ColumnValue)).collect()
    }

    fn is_row(&self, first: usize) -> String {
        let columns = self.columns().into_iter().enumerate();
        let equal = columns.map(|(index, column)| format!("{column} = ${}", first + index));
        equal.collect::<Vec<_>>().join(" AND ")
    }
}

#[record]
struct KeyRow {
    k1: String,
    k2: String,
    k3: i64,
}

impl From<KeyRow> for RowKey {
    fn from(KeyRow { k1, k2, k3 }: KeyRow) -> Self {
        Self { first: k1, second: k2, number: k3 }
    }
}

#[record]
struct FoundRow {
    #[sqlx(flatten)]
    key: KeyRow,
    body: String,
    role: String,
}

impl Store {
    /// Returns up to `limit` rows of a table behind the key `after`, in the order of keys.
    pub async fn person_rows(
        &self,
        table: PersonTable,
        search: PersonSearch<'_>,
        after: Option<&RowKey>,
        limit: u32,
    ) -> StoreResult<Vec<PersonRow>> {
        let shape = table.shape();
        // Before every key.
        let mut after =
            after.cloned().unwrap_or_else(|| RowKey { number: -1, ..RowKey::default() });
        loop {
            // Texts are searched piece by piece: a whole table may take too long for one query.
            let end = match search {
                PersonSearch::Naming(_) => self.piece_end(&shape, &after).await?,
                PersonSearch::OwnedBy(_) => None,
            };
            let found = self.rows_between(&shape, search, (&after, end.as_ref()), limit).await?;
            match end {
                Some(end) if found.is_empty() => after = end,
                _ => return Ok(found),
            }
        }
    }

    /// Returns the key of the last row of the next piece; `None` if the rest is no longer than one.
    async fn piece_end(&self, shape: &TableShape, after: &RowKey) -> StoreResult<Option<RowKey>> {
        let (columns, places) = (shape.columns().join(", "), shape.places(3));
        let sql = format!(
            "SELECT {} FROM {} WHERE ({columns}) > ({places}) ORDER BY {columns}
             LIMIT $1 OFFSET $2",
            shape.key_columns(),
            shape.name,
        );
        let (one, others) = (1_u32, PIECE - 1);
        let mut values: Vec<&dyn ColumnValue> = vec![&one, &others];
        values.extend(shape.values(after));
        // Consists of constants alone.
        let last: Vec<KeyRow> = self.all(AssertSqlSafe(sql), &values).await?;
        Ok(last.into_iter().next().map(RowKey::from))
    }

    async fn rows_between(
        &self,
        shape: &TableShape,
        search: PersonSearch<'_>,
        (after, end): (&RowKey, Option<&RowKey>),
        limit: u32,
    ) -> StoreResult<Vec<PersonRow>> {
        let columns = shape.columns().join(", ");
        let role = if shape.name == "messages" { "role" } else { "CAST('' AS TEXT)" };
        let (wanted, condition, body) = match (search, shape.body) {
            (PersonSearch::Naming(words), Some(column)) => {
                (pattern(words), format!("{column} LIKE $1 ESCAPE '!'"), column)
            }
            (PersonSearch::Naming(_), None) => return Ok(Vec::new()),
            (PersonSearch::OwnedBy(user), _) => {
                (user.to_string(), shape.owned.to_owned(), "CAST('' AS TEXT)")
            }
        };
        let mut range = format!("({columns}) > ({})", shape.places(3));
        let mut values: Vec<&dyn ColumnValue> = vec![&wanted, &limit];
        values.extend(shape.values(after));
        if let Some(end) = end {
            write!(range, " AND ({columns}) <= ({})", shape.places(values.len() + 1)).ok();
            values.extend(shape.values(end));
        }
        let sql = format!(
            "SELECT {}, {body} AS body, {role} AS role FROM {} WHERE {condition} AND {range}
             ORDER BY {columns} LIMIT $2",
            shape.key_columns(),
            shape.name,
        );
        // Consists of constants alone.
        let found: Vec<FoundRow> = self.all(AssertSqlSafe(sql), &values).await?;
        let row = |FoundRow { key, body, role }| PersonRow { key: RowKey::from(key), body, role };
        Ok(found.into_iter().map(row).collect())
    }

    /// Returns the names under which a user has decided.
    pub async fn names_of_decider(&self, user: &UserId) -> StoreResult<Vec<String>> {
        let sql = "SELECT DISTINCT name FROM decisions WHERE user_id = $1 AND name <> $2";
        self.first_columns(sql, &[user, &DELETED_PERSON]).await
    }
}

fn pattern(words: &str) -> String {
    let escaped = words.replace('!', "!!").replace('%', "!%").replace('_', "!_");
    format!("%{escaped}%")
}

pub(crate) fn write(script: &mut StatementBatch<'_>, op: &PersonRowOp) {
    match op {
        PersonRowOp::Replace { table, row, body } => {
            let shape = table.shape();
            let Some(column) = shape.body else { return };
            let (name, is_row) = (shape.name, shape.is_row(3));
            let sql = format!("UPDATE {name} SET {column} = $1 WHERE {column} = $2 AND {is_row}");
            let mut values: Vec<&dyn ColumnValue> = vec![body, &row.body];
            values.extend(shape.values(&row.key));
            script.run(&sql, &values);
        }
        PersonRowOp::Remove(table, key) => {
            let shape = table.shape();
            let sql = format!("DELETE FROM {} WHERE {}", shape.name, shape.is_row(1));
            script.run(&sql, &shape.values(key));
        }
        PersonRowOp::RenameDecision(key) => {
            let sql = "UPDATE decisions SET name = $2 WHERE seq = $1";
            script.run(sql, &[&key.number, &DELETED_PERSON]);
        }
    }
}
