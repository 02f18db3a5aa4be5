//! Models that the configuration names.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};

use crate::agent::ModelCatalog;
use crate::config::{ModelChoice, ProviderConfig, ServerConfig};
use crate::llm::scripted::ScriptedModel;
use crate::llm::{Model, RetryPolicy, anthropic, openai, prices};

/// Returns the [`ModelCatalog`] of models that can be asked, the default first.
pub(super) fn models(config: &ServerConfig) -> Result<ModelCatalog> {
    if let Some(path) = &config.prices {
        prices::add_file(path)?;
    }
    let mut models = Vec::new();
    for choice in &config.models {
        models.push(match choice {
            ModelChoice::Harper => harper()?,
            ModelChoice::Anthropic(name) => messages_api(&config.anthropic, name.as_deref())?,
            ModelChoice::OpenAi(name) => chat_completions(&config.openai, name.as_ref())?,
            ModelChoice::Claude(name) => super::claude::model(config, name.as_deref())?,
            ModelChoice::Script(path) => Arc::new(ScriptedModel::load(path)?),
        });
    }
    let mut models = models.into_iter();
    let first = models.next().context("no model is configured")?;
    Ok(ModelCatalog::new(first, models))
}

#[cfg(feature = "grammar")]
#[expect(
    clippy::unnecessary_wraps,
    reason = "a build without the grammar checker has no such model"
)]
fn harper() -> Result<Arc<dyn Model>> {
    use crate::llm::harper::HarperModel;
    let Some(program) = crate::config::own_program() else {
        tracing::warn!("the path of this program is unknown: grammar is checked in the server");
        return Ok(Arc::new(HarperModel::default()));
    };
    Ok(Arc::new(HarperModel::in_worker(program)))
}

#[cfg(not(feature = "grammar"))]
fn harper() -> Result<Arc<dyn Model>> {
    bail!("this build has no grammar checker (feature `grammar`); name another model")
}

fn messages_api(settings: &ProviderConfig, name: Option<&str>) -> Result<Arc<dyn Model>> {
    let Some(api_key) = settings.key.clone() else { bail!("ANTHROPIC_API_KEY is not set") };
    let base_url = settings.base_url.clone();
    let model = anthropic::AnthropicModel::new(anthropic::AnthropicSettings {
        base_url: base_url.unwrap_or_else(|| anthropic::DEFAULT_BASE_URL.to_owned()),
        api_key,
        model: name.unwrap_or(anthropic::DEFAULT_MODEL).to_owned(),
        patience: RetryPolicy::default(),
    })?;
    Ok(Arc::new(model))
}

fn chat_completions(settings: &ProviderConfig, name: Option<&String>) -> Result<Arc<dyn Model>> {
    let base_url = settings.base_url.clone();
    let model = openai::OpenAiModel::new(openai::OpenAiSettings {
        base_url: base_url.unwrap_or_else(|| openai::DEFAULT_BASE_URL.to_owned()),
        api_key: settings.key.clone(),
        model: name.cloned(),
        patience: RetryPolicy::default(),
    })?;
    Ok(Arc::new(model))
}
