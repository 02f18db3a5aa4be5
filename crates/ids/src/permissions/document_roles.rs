//! Roles that a person has in single documents, beside the role of their token.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Action, Role};
use crate::DocumentId;

/// Roles that a person was given in single documents; they only add to what a token allows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DocumentRoles(Arc<BTreeMap<DocumentId, Role>>);

impl DocumentRoles {
    /// Returns `true` if no role was given anywhere.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the role in `document`; [`Role::Guest`] where none was given.
    pub fn role_in(&self, document: &DocumentId) -> Role {
        // What is read from a database gives no more than what owners can give.
        let given = self.0.get(document).copied();
        given.filter(|role| role.is_for_one_document()).unwrap_or(Role::Guest)
    }

    /// Returns `true` if `action` is permitted in any document.
    pub fn may_somewhere(&self, action: Action) -> bool {
        self.0.keys().any(|document| self.role_in(document).may(action))
    }

    /// Returns the documents in which a role was given, in order of their identifiers.
    pub fn documents(&self) -> impl Iterator<Item = &DocumentId> {
        self.0.keys()
    }
}

impl FromIterator<(DocumentId, Role)> for DocumentRoles {
    /// Collects roles, the strongest of each document; those that cannot be given are left out.
    fn from_iter<I: IntoIterator<Item = (DocumentId, Role)>>(roles: I) -> Self {
        let mut strongest: BTreeMap<DocumentId, Role> = BTreeMap::new();
        for (document, role) in roles {
            if role.is_for_one_document() {
                let known = strongest.entry(document).or_insert(role);
                *known = known.stronger(role);
            }
        }
        Self(Arc::new(strongest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permissions::Principal;

    const ALL: [Action; 5] =
        [Action::Read, Action::Write, Action::Decide, Action::Create, Action::Administer];

    fn roles(given: &[(&str, Role)]) -> DocumentRoles {
        given.iter().map(|(document, role)| (DocumentId::from(*document), *role)).collect()
    }

    fn ana(role: Role, given: &[(&str, Role)]) -> Principal {
        Principal { granted: roles(given), ..Principal::new("usr_ana", "Ana", role) }
    }

    #[test]
    fn the_strongest_role_counts_in_whatever_order_they_come() {
        let both = [("doc_1", Role::Viewer), ("doc_1", Role::Editor)];
        let turned = [("doc_1", Role::Editor), ("doc_1", Role::Viewer)];
        for given in [both, turned] {
            assert_eq!(roles(&given).role_in(&"doc_1".into()), Role::Editor);
        }
        assert_eq!(roles(&both).role_in(&"doc_2".into()), Role::Guest);
    }

    #[test]
    fn no_one_becomes_owner_of_one_document() {
        let given = roles(&[("doc_1", Role::Owner), ("doc_2", Role::Guest)]);
        assert!(given.is_empty());
        let stored: DocumentRoles = serde_json::from_str(r#"{"doc_1": "owner"}"#).unwrap();
        assert_eq!(stored.role_in(&"doc_1".into()), Role::Guest);
        assert!(!stored.may_somewhere(Action::Read));
    }

    #[test]
    fn a_given_role_only_adds_to_that_of_the_token_and_only_in_its_document() {
        let (here, there) = (DocumentId::from("doc_1"), DocumentId::from("doc_2"));
        let reviewer = ana(Role::Reviewer, &[("doc_1", Role::Editor), ("doc_2", Role::Viewer)]);
        assert_eq!(reviewer.role_in(Some(&here)), Role::Editor);
        assert_eq!(reviewer.role_in(Some(&there)), Role::Reviewer);
        assert_eq!(reviewer.role_in(None), Role::Reviewer);
        assert!(!reviewer.may(Action::Create, None));
        assert_eq!(reviewer.readable_documents(), None);
    }

    #[test]
    fn a_guest_reaches_the_documents_that_were_given_and_nothing_else() {
        let (here, there) = (DocumentId::from("doc_1"), DocumentId::from("doc_2"));
        let guest = ana(Role::Guest, &[("doc_1", Role::Editor)]);
        assert!(guest.may(Action::Write, Some(&here)));
        assert!(guest.may_somewhere(Action::Ask));
        assert!(!guest.may_somewhere(Action::Administer));
        for action in ALL {
            assert!(!guest.may(action, Some(&there)), "{action:?}");
            assert!(!guest.may(action, None), "{action:?} to the server");
        }
        assert_eq!(guest.readable_documents(), Some(vec![here]));
        let nothing = ana(Role::Guest, &[]);
        assert!(ALL.iter().all(|action| !nothing.may_somewhere(*action)));
        assert_eq!(nothing.readable_documents(), Some(Vec::new()));
    }

    #[test]
    fn a_token_for_one_document_stays_limited_to_it() {
        let (here, there) = (DocumentId::from("doc_1"), DocumentId::from("doc_2"));
        let given = [("doc_1", Role::Reviewer), ("doc_2", Role::Editor)];
        let bound = Principal { document: Some(here.clone()), ..ana(Role::Viewer, &given) };
        assert_eq!(bound.role_in(Some(&here)), Role::Reviewer);
        assert!(!bound.may_somewhere(Action::Write));
        for action in ALL {
            assert!(!bound.may(action, Some(&there)), "{action:?}");
            assert!(!bound.may(action, None), "{action:?} to the server");
        }
        assert_eq!(bound.readable_documents(), Some(vec![here]));
    }
}
