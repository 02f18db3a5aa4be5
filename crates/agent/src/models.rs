//! Models that a server can ask, by name.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use parking_lot::RwLock;
use tokio::time::timeout;

use copydesk_llm::Model;
use copydesk_rooms::RoomHandle;
use copydesk_rooms::settings::model_access::AskedModel;

use super::{AgentQuestion, AskError, AskResult, PermissionMode};

/// Time limit for a provider to list its models.
const LIST_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum number of listed models of one provider; any other can still be named.
const LIST_LIMIT: usize = 40;

const CLI: &str = "claude-cli";

/// Models of the server, the default first. Clones share the lists of the providers.
#[derive(Clone)]
pub struct ModelCatalog {
    asked: Arc<[(String, Arc<dyn Model>)]>,
    /// Names that the provider lists, for each model.
    listed: Arc<RwLock<Vec<Vec<String>>>>,
}

/// Model that was chosen ([`ModelCatalog::choose`]), and the provider's name to use with it.
#[derive(Clone)]
pub struct ChosenModel {
    /// Client of the model.
    pub model: Arc<dyn Model>,
    /// Provider's name of the model; empty for the default.
    pub name: String,
}

pub(super) fn is_cli(name: &str) -> bool {
    provider(name) == CLI
}

impl ModelCatalog {
    /// Creates a catalog. `first` is the default; each model is known by its own name.
    pub fn new(first: Arc<dyn Model>, others: impl IntoIterator<Item = Arc<dyn Model>>) -> Self {
        let all = std::iter::once(first).chain(others);
        let asked: Arc<[_]> = all.map(|model| (model.name().to_owned(), model)).collect();
        let listed = Arc::new(RwLock::new(vec![Vec::new(); asked.len()]));
        Self { asked, listed }
    }

    /// Returns the names, the default first; each model is followed by the others that its provider
    /// lists.
    pub fn names(&self) -> Vec<String> {
        let listed = self.listed.read();
        let mut names: Vec<String> = Vec::new();
        for ((own, _), others) in self.asked.iter().zip(listed.iter()) {
            let others = others.iter().map(|name| format!("{}:{name}", provider(own)));
            for name in std::iter::once(own.clone()).chain(others) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// Returns the names of the models on this machine, among [`names`](Self::names).
    pub fn local_names(&self) -> Vec<String> {
        let mut names = self.names();
        names.retain(|name| self.choose(Some(name)).is_some_and(|it| it.model.is_local()));
        names
    }

    /// Asks the providers for their models. Those that do not answer keep the names they were
    /// given.
    pub async fn list_provider_models(&self) {
        let lists = self.asked.iter().enumerate().map(|(index, (own, model))| async move {
            match timeout(LIST_TIMEOUT, model.list()).await {
                Ok(Ok(mut names)) => {
                    names.truncate(LIST_LIMIT);
                    let mut listed = self.listed.write();
                    listed[index] = names;
                }
                Ok(Err(error)) => tracing::warn!(model = own, %error, "cannot list models"),
                Err(_) => tracing::warn!(model = own, "listing models timed out"),
            }
        });
        join_all(lists).await;
    }

    /// Returns `true` if the Claude CLI can be asked.
    pub fn has_cli(&self) -> bool {
        self.asked.iter().any(|(known, _)| is_cli(known))
    }

    /// Matches model and permission mode: `mcpProxy` selects the CLI, and the CLI selects
    /// `mcpProxy`.
    pub(super) fn of_mode(&self, mut ask: AgentQuestion) -> AgentQuestion {
        if ask.outside().is_some() {
            // No model takes part.
            return ask;
        }
        let own = self.asked.iter().map(|(known, _)| known).find(|known| is_cli(known));
        let named = ask.model.as_ref().or_else(|| self.asked.first().map(|(known, _)| known));
        let is_cli = named.is_some_and(|name| is_cli(name));
        match ask.permission_mode {
            PermissionMode::ClaudeCli if !is_cli => ask.model = own.cloned(),
            PermissionMode::Ask if is_cli => ask.permission_mode = PermissionMode::ClaudeCli,
            PermissionMode::Ask
            | PermissionMode::ClaudeCli
            | PermissionMode::Bypass
            | PermissionMode::PlanFirst => {}
        }
        ask
    }

    /// Notifies all models that a run is over, so that none works for it any more.
    pub(super) fn over(&self, run: &str) {
        for (_, model) in self.asked.iter() {
            model.over(run);
        }
    }

    /// Returns the model of this name, or any `provider:NAME` of an available provider; the default
    /// without a name. The Claude CLI is also known by its bare name, whatever its own model is.
    pub fn choose(&self, name: Option<&str>) -> Option<ChosenModel> {
        let Some(name) = name else {
            let (_, model) = self.asked.first()?;
            return Some(ChosenModel { model: Arc::clone(model), name: String::new() });
        };
        if let Some((_, model)) = self.asked.iter().find(|(known, _)| known == name) {
            return Some(ChosenModel { model: Arc::clone(model), name: String::new() });
        }
        let Some((of, wanted)) = name.split_once(':') else {
            let (_, model) = self.asked.iter().find(|(known, _)| name == CLI && is_cli(known))?;
            return Some(ChosenModel { model: Arc::clone(model), name: String::new() });
        };
        // Providers take any name over the network; a script or the built-in editor has no other
        // models.
        let remote = ["anthropic", "openai", CLI].contains(&of) && !wanted.is_empty();
        let (_, model) = self.asked.iter().find(|(known, _)| remote && provider(known) == of)?;
        Some(ChosenModel { model: Arc::clone(model), name: wanted.to_owned() })
    }
}

impl ChosenModel {
    /// Returns the model as documents know it that may be shown only to some.
    pub fn asked(&self) -> AskedModel {
        AskedModel { name: self.full_name(), is_local: self.model.is_local() }
    }

    /// Returns the name that selects this model again.
    pub fn full_name(&self) -> String {
        let own = self.model.name();
        if self.name.is_empty() {
            own.to_owned()
        } else {
            format!("{}:{}", provider(own), self.name)
        }
    }
}

/// Checks that a model may see the text of a room's document now.
pub(super) async fn check_model(room: &RoomHandle, model: &AskedModel) -> AskResult<()> {
    let access = room.read().await?.settings.models;
    if access.admits(model) { Ok(()) } else { Err(AskError::ModelNotAllowed { access }) }
}

fn provider(name: &str) -> &str {
    name.split(':').next().unwrap_or(name)
}

impl fmt::Debug for ModelCatalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Models").field(&self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use futures_util::future::BoxFuture;
    use tokio_util::sync::CancellationToken;

    use copydesk_llm::{AnswerStream, ModelError, ModelRequest};

    use super::*;

    struct ModelListing(&'static str, Result<Vec<&'static str>, ModelError>);

    impl Model for ModelListing {
        fn name(&self) -> &str {
            self.0
        }

        fn stream(&self, _: ModelRequest, _: CancellationToken) -> AnswerStream {
            panic!("no one asks")
        }

        fn list(&self) -> BoxFuture<'static, Result<Vec<String>, ModelError>> {
            let list = self.1.clone().map(|it| it.into_iter().map(str::to_owned).collect());
            async { list }.boxed()
        }
    }

    #[tokio::test]
    async fn what_providers_list_stands_behind_what_was_configured() {
        let first = Arc::new(ModelListing("openai:b", Ok(vec!["a", "b"])));
        let away = Arc::new(ModelListing("anthropic:c", Err(ModelError::CutOff)));
        let models = ModelCatalog::new(first, [away as Arc<dyn Model>]);
        assert_eq!(models.names(), ["openai:b", "anthropic:c"]);
        models.list_provider_models().await;
        assert_eq!(models.names(), ["openai:b", "openai:a", "anthropic:c"]);
    }

    #[test]
    fn any_model_of_a_provider_can_be_named_and_nothing_else() {
        let (remote, local) =
            (ModelListing("openai:b", Ok(vec![])), ModelListing("harper", Ok(vec![])));
        let models = ModelCatalog::new(Arc::new(remote), [Arc::new(local) as Arc<dyn Model>]);
        let chosen = |name| models.choose(name).map(|it| (it.full_name(), it.name));
        let own = |name: &str| Some((name.to_owned(), String::new()));
        assert_eq!(chosen(None), own("openai:b"));
        assert_eq!(chosen(Some("harper")), own("harper"));
        let other = Some(("openai:qwen3:8b".to_owned(), "qwen3:8b".to_owned()));
        assert_eq!(chosen(Some("openai:qwen3:8b")), other);
        for wrong in ["openai:", "anthropic:x", "harper:x", "", "b", "claude-cli"] {
            assert_eq!(chosen(Some(wrong)), None, "{wrong}");
        }
    }

    #[test]
    fn the_claude_cli_is_known_by_its_bare_name() {
        let own = Arc::new(ModelListing("claude-cli:opus", Ok(vec![])));
        let models = ModelCatalog::new(own, []);
        assert_eq!(models.choose(Some("claude-cli")).unwrap().full_name(), "claude-cli:opus");
    }
}
