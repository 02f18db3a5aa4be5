//! Models as the API lists them, and the choice of the model that a client names.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::messages_api::failure::ApiFailure;
use copydesk_agent::{AgentService, ChosenModel};

/// Default number of models on one page.
const PAGE: usize = 20;
/// Maximum number of models on one page.
const LONGEST_PAGE: usize = 1_000;
/// Names that some clients use for a model of another name.
const ALIASES: [(&str, &str); 1] = [("claude-code-opus", "claude-opus-5-5")];

/// Query that selects one page of the list.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ModelPageQuery {
    limit: Option<usize>,
    after_id: Option<String>,
    before_id: Option<String>,
}

impl ModelPageQuery {
    /// Returns the page of a list.
    pub(crate) fn of(&self, names: &[String]) -> Result<Value, ApiFailure> {
        let limit = self.limit.unwrap_or(PAGE);
        if !(1..=LONGEST_PAGE).contains(&limit) {
            return Err(ApiFailure::invalid("limit: is a number from 1 to 1000"));
        }
        let place = |name: &String| names.iter().position(|known| known == name);
        let gone =
            || ApiFailure::invalid("there is no model with the name in after_id or before_id");
        let (shown, more) = match (&self.after_id, &self.before_id) {
            (Some(_), Some(_)) => {
                return Err(ApiFailure::invalid("after_id and before_id cannot be used together"));
            }
            (None, Some(before)) => {
                let end = place(before).ok_or_else(gone)?;
                let start = end.saturating_sub(limit);
                (&names[start..end], start > 0)
            }
            (after, None) => {
                let after =
                    after.as_ref().map(|after| place(after).ok_or_else(gone)).transpose()?;
                let start = after.map_or(0, |at| at + 1);
                let end = names.len().min(start + limit);
                (&names[start..end], end < names.len())
            }
        };
        let data: Vec<_> = shown.iter().map(|name| described(name)).collect();
        let (first, last) = (shown.first(), shown.last());
        Ok(json!({"data": data, "has_more": more, "first_id": first, "last_id": last}))
    }
}

pub(crate) fn described(name: &str) -> Value {
    // The creation time of a model is not known; the API has this date for that case.
    json!({"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"})
}

/// Finds the [`ChosenModel`] that a client names, by its listed name or by the provider's own.
pub(crate) fn choose(agents: &AgentService, name: &str) -> Result<ChosenModel, ApiFailure> {
    let known = agents.models_for_programs();
    let candidates = candidates(name, &known);
    let chosen = candidates.iter().find_map(|name| agents.model_for_programs(name));
    chosen.ok_or_else(|| {
        let short: String = name.chars().take(100).collect();
        ApiFailure::new(404, format!("model: {short}"))
    })
}

fn candidates(name: &str, known: &[String]) -> Vec<String> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, name)| *name);
    let bare = alias.unwrap_or(name);
    let mut all = vec![name.to_owned()];
    for provider in ["anthropic", "openai"] {
        let full = format!("{provider}:{bare}");
        // There are more Claude models than a provider lists, and every client of this API names
        // one.
        if known.contains(&full) || provider == "anthropic" && bare.starts_with("claude-") {
            all.push(full);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["anthropic:claude-sonnet-5-5", "openai:qwen3:8b", "harper"].map(str::to_owned).into()
    }

    fn page(limit: usize, after: Option<&str>, before: Option<&str>) -> (Vec<String>, bool) {
        let text = |id: Option<&str>| id.map(str::to_owned);
        let page =
            ModelPageQuery { limit: Some(limit), after_id: text(after), before_id: text(before) };
        let page = page.of(&names()).expect("a page");
        let ids = page["data"].as_array().expect("models").iter();
        let ids: Vec<_> = ids.map(|it| it["id"].as_str().unwrap_or_default().to_owned()).collect();
        assert_eq!(page["first_id"].as_str(), ids.first().map(String::as_str));
        assert_eq!(page["last_id"].as_str(), ids.last().map(String::as_str));
        (ids, page["has_more"] == true)
    }

    #[test]
    fn the_list_is_told_page_by_page() {
        assert_eq!(page(2, None, None), (names()[..2].to_vec(), true));
        assert_eq!(page(2, Some("openai:qwen3:8b"), None), (names()[2..].to_vec(), false));
        assert_eq!(page(1, None, Some("harper")), (names()[1..2].to_vec(), true));
        assert_eq!(page(1, Some("harper"), None), (vec![], false));
        for wrong in [
            ModelPageQuery { limit: Some(0), ..ModelPageQuery::default() },
            ModelPageQuery { limit: Some(1_001), ..ModelPageQuery::default() },
            ModelPageQuery { after_id: Some("x".into()), ..ModelPageQuery::default() },
            ModelPageQuery {
                after_id: Some("harper".into()),
                before_id: Some("harper".into()),
                limit: None,
            },
        ] {
            assert_eq!(wrong.of(&names()).expect_err("refused").status, 400);
        }
    }

    #[test]
    fn a_client_may_use_the_providers_own_names() {
        let last = |name| candidates(name, &names()).pop().unwrap_or_default();
        assert_eq!(last("claude-opus-5-5"), "anthropic:claude-opus-5-5");
        assert_eq!(last("claude-code-opus"), "anthropic:claude-opus-5-5");
        assert_eq!(last("qwen3:8b"), "openai:qwen3:8b");
        assert_eq!(candidates("gpt", &names()), ["gpt"]);
    }
}
