//! Models of providers, as the configuration names them.

use std::sync::Arc;

use anyhow::{Result, bail};

use crate::config::ProviderConfig;
use copydesk_llm::anthropic::{self, AnthropicModel, AnthropicSettings};
use copydesk_llm::openai::{self, OpenAiModel, OpenAiSettings};
use copydesk_llm::{Model, RetryPolicy};

/// Returns a model behind the Messages API; nothing is sent yet.
pub fn messages_api(settings: &ProviderConfig, name: Option<&str>) -> Result<Arc<dyn Model>> {
    let Some(api_key) = settings.key.clone() else { bail!("ANTHROPIC_API_KEY is not set") };
    let base_url = settings.base_url.clone();
    let model = AnthropicModel::new(AnthropicSettings {
        base_url: base_url.unwrap_or_else(|| anthropic::DEFAULT_BASE_URL.to_owned()),
        api_key,
        model: name.unwrap_or(anthropic::DEFAULT_MODEL).to_owned(),
        patience: RetryPolicy::default(),
    })?;
    Ok(Arc::new(model))
}

/// Returns a model behind chat completions; nothing is sent yet.
pub fn chat_completions(settings: &ProviderConfig, name: Option<&str>) -> Result<Arc<dyn Model>> {
    let base_url = settings.base_url.clone();
    let model = OpenAiModel::new(OpenAiSettings {
        base_url: base_url.unwrap_or_else(|| openai::DEFAULT_BASE_URL.to_owned()),
        api_key: settings.key.clone(),
        model: name.map(str::to_owned),
        patience: RetryPolicy::default(),
    })?;
    Ok(Arc::new(model))
}
