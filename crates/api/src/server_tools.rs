//! Tools of this server that a person has enabled for programs of the Messages API.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use copydesk_ids::UserId;
use copydesk_store::{AuditEntry, StoreOp, WriteBatch};

use super::{ApiResult, Application, Caller};

impl Application {
    /// Returns the tools that a person has enabled, under the names of the protocol.
    ///
    /// # Errors
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the store cannot read the person's choice.
    pub async fn server_tools<T: DeserializeOwned>(&self, user: &UserId) -> ApiResult<Vec<T>> {
        let value = self.store.setting(&setting(user)).await?;
        Ok(value.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }
}

impl Caller {
    /// Sets the tools that the caller enables.
    ///
    /// # Errors
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the choice is not stored.
    pub async fn enable_server_tools<T: Serialize>(&self, tools: &[T]) -> ApiResult<()> {
        let (user, now_ms) = (&self.principal.user, self.application.clock.now_ms());
        let detail = json!({"tools": tools, "token": self.token});
        let line = StoreOp::Audit(AuditEntry::new("server_tools.chosen", user, detail, now_ms));
        let put = StoreOp::PutSetting { key: setting(user), value: json!(tools).to_string() };
        Ok(self.application.store.commit(WriteBatch::from(put).with(line)).await?)
    }
}

pub(super) fn setting(user: &UserId) -> String {
    format!("server_tools:{user}")
}
