//! Models that the configuration names.

use std::sync::Arc;

use anyhow::{Context as _, Result};

use copydesk_agent::ModelCatalog;
use copydesk_commands::commands::{chat_completions, messages_api};
use copydesk_commands::config::{ModelChoice, ServerConfig};
use copydesk_llm::scripted::ScriptedModel;
use copydesk_llm::{Model, prices};

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
            ModelChoice::OpenAi(name) => chat_completions(&config.openai, name.as_deref())?,
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
    use copydesk_llm::harper::HarperModel;
    let Some(program) = copydesk_commands::config::own_program() else {
        tracing::warn!("the path of this program is unknown: grammar is checked in the server");
        return Ok(Arc::new(HarperModel::default()));
    };
    Ok(Arc::new(HarperModel::in_worker(program)))
}

#[cfg(not(feature = "grammar"))]
fn harper() -> Result<Arc<dyn Model>> {
    anyhow::bail!("this build has no grammar checker (feature `grammar`); name another model")
}
