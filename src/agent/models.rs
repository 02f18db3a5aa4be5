//! The models a server can ask, by name.

use std::fmt;
use std::sync::Arc;

use crate::llm::Model;

/// The models, the default first.
#[derive(Clone)]
pub struct Models(Arc<[(String, Arc<dyn Model>)]>);

/// A model that was chosen, and what it is to be told to use.
#[derive(Clone)]
pub struct Chosen {
    /// The model.
    pub model: Arc<dyn Model>,
    /// The provider's name of it; empty for the default.
    pub name: String,
}

impl Models {
    /// `first` is the default; each is known by its own name.
    pub fn new(first: Arc<dyn Model>, others: impl IntoIterator<Item = Arc<dyn Model>>) -> Self {
        let all = std::iter::once(first).chain(others);
        Self(all.map(|model| (model.name().to_owned(), model)).collect())
    }

    /// The names, the default first.
    pub fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The model of this name, or any `provider:NAME` of a provider that is here; the default without a name.
    pub(super) fn choose(&self, name: Option<&str>) -> Option<Chosen> {
        let Some(name) = name else {
            let (_, model) = self.0.first()?;
            return Some(Chosen { model: Arc::clone(model), name: String::new() });
        };
        if let Some((_, model)) = self.0.iter().find(|(known, _)| known == name) {
            return Some(Chosen { model: Arc::clone(model), name: String::new() });
        }
        let (provider, wanted) = name.split_once(':')?;
        // Any name is passed on to a provider over the network; a script or the built-in editor is only itself.
        let remote = ["anthropic", "openai"].contains(&provider) && !wanted.is_empty();
        let of_provider = |known: &str| known.split(':').next() == Some(provider);
        let (_, model) = self.0.iter().find(|(known, _)| remote && of_provider(known))?;
        Some(Chosen { model: Arc::clone(model), name: wanted.to_owned() })
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Models").field(&self.names()).finish()
    }
}
