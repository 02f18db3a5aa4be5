//! Spending of a month, and its limits.

use serde_json::json;

use copydesk_ids::UserId;
use copydesk_macros::boxed;
use copydesk_store::{
    AuditEntry, SpendingGroup, SpendingLimit, SpendingMonth, SpendingScope, SpendingSum, StoreOp,
    WriteBatch,
};

use crate::{ApiError, ApiResult, Caller};

/// Maximum number of people, and of documents, in a report.
const MOST_LINES: u32 = 500;

/// Cost of models in a month, and the limits in force.
#[derive(Clone, Debug)]
pub struct SpendingReport {
    /// The month.
    pub month: SpendingMonth,
    /// Cost of all calls, in billionths of a US dollar.
    pub total: u64,
    /// Limits in force, of whatever month.
    pub limits: Vec<SpendingLimit>,
    /// Sums of people, the highest first; also of people who have a limit and cost nothing.
    pub people: Vec<SpendingSum>,
    /// Sums of documents, the highest first; also of documents that have a limit and cost nothing.
    pub documents: Vec<SpendingSum>,
    /// Sums of models whose price is not known.
    pub unpriced: Vec<SpendingSum>,
}

#[boxed]
impl Caller {
    /// Returns what models have cost in a month, by default in this one, and the limits.
    ///
    /// # Errors
    /// [`Unavailable`](crate::ErrorCode::Unavailable) if the sums cannot be read.
    pub async fn spending(&self, month: Option<SpendingMonth>) -> ApiResult<SpendingReport> {
        let month = month.unwrap_or_else(|| SpendingMonth::at(self.application.clock.now_ms()));
        let store = &self.application.store;
        let limits = store.spending_limits().await?;
        let mut people = store.spending_sums(month, SpendingGroup::People, MOST_LINES).await?;
        let mut documents =
            store.spending_sums(month, SpendingGroup::Documents, MOST_LINES).await?;
        for SpendingLimit { scope, .. } in &limits {
            match scope {
                SpendingScope::Person(user) if !has(&people, user.as_str()) => {
                    people.push(nothing_spent(user.as_str(), self.name_of(user).await?));
                }
                SpendingScope::Document(document) if !has(&documents, document.as_str()) => {
                    let title = store.document(document).await?.map(|record| record.title);
                    documents.push(nothing_spent(document.as_str(), title));
                }
                _ => {}
            }
        }
        let total = store.spent(month, None, None).await?;
        let unpriced =
            store.spending_sums(month, SpendingGroup::UnpricedModels, MOST_LINES).await?;
        Ok(SpendingReport { month, total, limits, people, documents, unpriced })
    }

    /// Sets a spending limit in billionths of a US dollar, or removes it without `amount`. It holds
    /// from the next call of a model on.
    ///
    /// # Errors
    /// [`NotFound`](crate::ErrorCode::NotFound) for an unknown person or document,
    /// [`Unavailable`](crate::ErrorCode::Unavailable) if the limit is not stored.
    pub async fn set_spending_limit(
        &self,
        scope: SpendingScope,
        amount: Option<u64>,
    ) -> ApiResult<SpendingReport> {
        // A limit can be removed although what it was about is gone.
        if amount.is_some() {
            self.check_subject(&scope).await?;
        }
        let usd = amount.map(|amount| amount as f64 / 1e9);
        let detail = json!({"for": scope.kind(), "id": scope.subject(), "usd": usd});
        let (by, now_ms) = (&self.principal.user, self.application.clock.now_ms());
        let mut line = AuditEntry::new("spending.limit_set", by, detail, now_ms);
        if let SpendingScope::Document(document) = &scope {
            line.document = Some(document.clone());
        }
        let put = StoreOp::PutSpendingLimit { scope, amount };
        self.application.store.commit(WriteBatch::from(put).with(StoreOp::Audit(line))).await?;
        self.spending(None).await
    }

    async fn check_subject(&self, scope: &SpendingScope) -> ApiResult<()> {
        match scope {
            SpendingScope::Server | SpendingScope::Everyone => Ok(()),
            SpendingScope::Person(user) => {
                let name = self.name_of(user).await?;
                name.map(drop).ok_or_else(|| ApiError::not_found("person"))
            }
            SpendingScope::Document(document) => self.application.check_listed(document).await,
        }
    }

    async fn name_of(&self, user: &UserId) -> ApiResult<Option<String>> {
        Ok(self.application.auth.names(std::slice::from_ref(user)).await?.remove(user))
    }
}

fn has(sums: &[SpendingSum], subject: &str) -> bool {
    sums.iter().any(|sum| sum.subject == subject)
}

fn nothing_spent(subject: &str, title: Option<String>) -> SpendingSum {
    let subject = subject.to_owned();
    SpendingSum { subject, title, calls: 0, unpriced: 0, tokens: 0, cost: 0 }
}
