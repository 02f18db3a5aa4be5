//! Models that may see the text of a document.

use serde::{Deserialize, Serialize};

/// Largest number of models that a document can name.
const MOST_NAMES: usize = 64;
/// Length of the longest name of a model, in bytes.
const LONGEST_NAME: usize = 200;

/// Models that may see the text of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelAccess {
    /// Every model of the server.
    #[default]
    Any,
    /// Models on this machine.
    Local,
    /// Models with one of these names, wherever they are.
    Named(Vec<String>),
}

/// Model that is to see the text of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedModel {
    /// Full name, as people choose it.
    pub name: String,
    /// `true` if what it is sent does not leave this machine.
    pub is_local: bool,
}

impl ModelAccess {
    /// Returns `true` if the model may see the text.
    pub fn admits(&self, model: &AskedModel) -> bool {
        match self {
            Self::Any => true,
            Self::Local => model.is_local,
            Self::Named(names) => names.contains(&model.name),
        }
    }

    /// Returns the refusal of a model that may not see the text, for people.
    pub fn refusal(&self) -> String {
        match self {
            // Never said: every model is admitted.
            Self::Any => "This document may be shown to any model.".to_owned(),
            Self::Local => "This document may only be shown to models on this machine.".to_owned(),
            Self::Named(names) => {
                format!("This document may only be shown to these models: {}.", names.join(", "))
            }
        }
    }

    pub(crate) fn fault(&self) -> Option<String> {
        let Self::Named(names) = self else { return None };
        let is_name = |name: &String| (1..=LONGEST_NAME).contains(&name.trim().len());
        let fits = (1..=MOST_NAMES).contains(&names.len()) && names.iter().all(is_name);
        (!fits).then(|| {
            format!(
                "`modelAccess` names 1 to {MOST_NAMES} models, each with 1 to {LONGEST_NAME} bytes"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_admits_its_models_and_no_other() {
        let model = |name: &str, is_local| AskedModel { name: name.to_owned(), is_local };
        let named = ModelAccess::Named(vec!["openai:a".to_owned()]);
        let table = [
            (ModelAccess::Any, [true, true, true]),
            (ModelAccess::Local, [true, false, false]),
            (named, [false, true, false]),
        ];
        let asked =
            [model("harper", true), model("openai:a", false), model("openai:a-large", false)];
        for (access, admitted) in table {
            assert_eq!(asked.each_ref().map(|it| access.admits(it)), admitted, "{access:?}");
        }
    }

    #[test]
    fn a_list_without_a_name_is_no_setting() {
        let named = |names: &[&str]| {
            ModelAccess::Named(names.iter().map(|&name| name.to_owned()).collect()).fault()
        };
        assert_eq!(named(&["harper"]), None);
        let long = "x".repeat(LONGEST_NAME + 1);
        for names in [&[][..], &["harper", " "], &[long.as_str()]] {
            assert!(named(names).is_some(), "{names:?}");
        }
    }
}
