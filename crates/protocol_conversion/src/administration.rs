//! Spending, work in progress and storage, on the wire.

use copydesk_agent::RunState;
use copydesk_api::{
    RunLine, ServerWork, SpendingLimit, SpendingMonth, SpendingReport, SpendingScope, SpendingSum,
    StorageSizes,
};
use copydesk_protocol::administration::{
    MonthSpending, ReadSpending, SetSpendingLimit, SpendingLine, StoredSizes, UnfinishedRun,
    UnpricedModel, WorkInProgress,
};
use copydesk_protocol::names::{SpendingLimitKind, WorkState};
use copydesk_protocol::server::Person;

use super::time;

/// Highest limit that is accepted, in US dollars.
const HIGHEST_USD: f64 = 1_000_000.0;

/// Returns the month that is asked for; `None` is this one.
///
/// # Errors
/// The reason why it is no month.
pub fn spending_month(wish: &ReadSpending) -> Result<Option<SpendingMonth>, String> {
    let Some(month) = &wish.month else { return Ok(None) };
    let read = SpendingMonth::parse(month);
    read.map(Some).ok_or_else(|| "month: is a month such as 2026-11".to_owned())
}

/// Returns what the wanted limit is about, and its amount in billionths of a US dollar; `None`: no
/// limit.
///
/// # Errors
/// The reason why there can be no such limit.
pub fn wanted_limit(wish: SetSpendingLimit) -> Result<(SpendingScope, Option<u64>), String> {
    let SetSpendingLimit { kind, id, usd } = wish;
    let scope = match (kind, id.filter(|id| !id.is_empty())) {
        (SpendingLimitKind::Server, None) => SpendingScope::Server,
        (SpendingLimitKind::Everyone, None) => SpendingScope::Everyone,
        (SpendingLimitKind::Person, Some(id)) => SpendingScope::Person(id.into()),
        (SpendingLimitKind::Document, Some(id)) => SpendingScope::Document(id.into()),
        (SpendingLimitKind::Server | SpendingLimitKind::Everyone, Some(_)) => {
            return Err("id: this limit is about no single person or document".to_owned());
        }
        (SpendingLimitKind::Person | SpendingLimitKind::Document, None) => {
            return Err("id: says which person or document the limit is about".to_owned());
        }
    };
    let amount = match usd {
        None => None,
        Some(usd) if (0.0..=HIGHEST_USD).contains(&usd) => Some(billionths(usd)),
        Some(usd) => {
            return Err(format!("usd: is a number from 0 to {HIGHEST_USD}, or null, not {usd}"));
        }
    };
    Ok((scope, amount))
}

/// Returns US dollars in billionths, rounded to a millionth.
fn billionths(usd: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range is checked before"
    )]
    let millionths = (usd * 1e6).round() as u64;
    millionths * 1_000
}

/// Returns billionths as US dollars.
fn usd(amount: u64) -> f64 {
    amount as f64 / 1e9
}

/// Returns the spending of a month.
pub fn spending(report: SpendingReport) -> MonthSpending {
    let SpendingReport { month, total, limits, people, documents, unpriced } = report;
    let limit = |scope: &SpendingScope| {
        let found = limits.iter().find(|limit| limit.scope == *scope);
        found.map(|SpendingLimit { amount, .. }| usd(*amount))
    };
    let line = |sum: SpendingSum, scope: SpendingScope| {
        let SpendingSum { subject, title, calls, unpriced, tokens, cost } = sum;
        SpendingLine {
            id: Some(subject).filter(|subject| !subject.is_empty()),
            name: title,
            usd: usd(cost),
            calls,
            unpriced_calls: unpriced,
            tokens,
            limit_usd: limit(&scope),
        }
    };
    let person = |sum: SpendingSum| {
        let scope = SpendingScope::Person(sum.subject.as_str().into());
        line(sum, scope)
    };
    let document = |sum: SpendingSum| {
        let scope = SpendingScope::Document(sum.subject.as_str().into());
        line(sum, scope)
    };
    let unpriced_model = |sum: SpendingSum| {
        let SpendingSum { subject, title: _, calls: _, unpriced, tokens, cost: _ } = sum;
        UnpricedModel { model: subject, calls: unpriced, tokens }
    };
    MonthSpending {
        month: month.to_string(),
        renews_at: time(month.end_ms()),
        usd: usd(total),
        limit_usd: limit(&SpendingScope::Server),
        person_limit_usd: limit(&SpendingScope::Everyone),
        people: people.into_iter().map(person).collect(),
        documents: documents.into_iter().map(document).collect(),
        unpriced: unpriced.into_iter().map(unpriced_model).collect(),
    }
}

/// Returns what the server is working on.
pub fn work(found: ServerWork) -> WorkInProgress {
    let ServerWork { runs, runs_left_out, open_requests } = found;
    let line = |RunLine { record, run, name, title }: RunLine| UnfinishedRun {
        session_id: record.session.to_string(),
        request_id: run.to_string(),
        by: Person { id: record.user.to_string(), name: name.unwrap_or_default() },
        document_id: record.document.map(|document| document.to_string()),
        title,
        state: match record.state {
            RunState::Queued => WorkState::Queued,
            RunState::Running | RunState::Ended(_) => WorkState::Running,
        },
        created_at: time(record.created_ms),
    };
    WorkInProgress { runs: runs.into_iter().map(line).collect(), runs_left_out, open_requests }
}

/// Returns the sizes of what is stored.
pub fn storage(sizes: StorageSizes) -> StoredSizes {
    let StorageSizes { documents, deleted_documents, text_bytes, .. } = sizes;
    let StorageSizes { updates, update_bytes, database_bytes, .. } = sizes;
    StoredSizes { documents, deleted_documents, text_bytes, updates, update_bytes, database_bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_read_to_the_millionth_and_nothing_else_is_one() {
        let read = |json: &str| serde_json::from_str(json).map(wanted_limit);
        let amount = |json: &str| read(json).unwrap().unwrap().1;
        assert_eq!(amount(r#"{"for": "server", "usd": 19.99}"#), Some(19_990_000_000));
        assert_eq!(amount(r#"{"for": "everyone", "usd": 0}"#), Some(0));
        assert_eq!(amount(r#"{"for": "person", "id": "usr_a", "usd": null}"#), None);
        for unfit in [
            r#"{"for": "person", "usd": 1}"#,
            r#"{"for": "document", "id": "", "usd": 1}"#,
            r#"{"for": "server", "id": "doc_1", "usd": 1}"#,
            r#"{"for": "server", "usd": -0.01}"#,
            r#"{"for": "server", "usd": 1000000.01}"#,
        ] {
            assert!(read(unfit).unwrap().is_err(), "{unfit}");
        }
        for unreadable in [
            r#"{"for": "server"}"#,
            r#"{"for": "nobody", "usd": 1}"#,
            r#"{"for": "server", "usd": "1"}"#,
            r#"{"for": "server", "usd": 1, "month": "2026-11"}"#,
        ] {
            assert!(read(unreadable).is_err(), "{unreadable}");
        }
    }
}
