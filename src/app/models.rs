//! The models that the configuration names.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};

use crate::agent::Models;
use crate::config::{Config, ModelChoice, Provider};
use crate::llm::harper::Harper;
use crate::llm::scripted::Scripted;
use crate::llm::{Model, Patience, anthropic, openai};

/// The models that can be asked, the default first.
pub(super) fn models(config: &Config) -> Result<Models> {
    let mut models = Vec::new();
    for choice in &config.models {
        models.push(match choice {
            ModelChoice::Harper => Arc::new(Harper) as Arc<dyn Model>,
            ModelChoice::Anthropic(name) => messages_api(&config.anthropic, name.as_deref())?,
            ModelChoice::OpenAi(name) => chat_completions(&config.openai, name.as_ref())?,
            ModelChoice::Claude(name) => super::claude::model(config, name.as_deref())?,
            ModelChoice::Script(path) => Arc::new(Scripted::load(path)?),
        });
    }
    let mut models = models.into_iter();
    let first = models.next().context("no model is configured")?;
    Ok(Models::new(first, models))
}

fn messages_api(settings: &Provider, name: Option<&str>) -> Result<Arc<dyn Model>> {
    let Some(api_key) = settings.key.clone() else { bail!("ANTHROPIC_API_KEY is not set") };
    let base_url = settings.base_url.clone();
    let model = anthropic::Anthropic::new(anthropic::Settings {
        base_url: base_url.unwrap_or_else(|| anthropic::DEFAULT_BASE_URL.to_owned()),
        api_key,
        model: name.unwrap_or(anthropic::DEFAULT_MODEL).to_owned(),
        patience: Patience::default(),
    })?;
    Ok(Arc::new(model))
}

fn chat_completions(settings: &Provider, name: Option<&String>) -> Result<Arc<dyn Model>> {
    let base_url = settings.base_url.clone();
    let model = openai::OpenAi::new(openai::Settings {
        base_url: base_url.unwrap_or_else(|| openai::DEFAULT_BASE_URL.to_owned()),
        api_key: settings.key.clone(),
        model: name.cloned(),
        patience: Patience::default(),
    })?;
    Ok(Arc::new(model))
}
