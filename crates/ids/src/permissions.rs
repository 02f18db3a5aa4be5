//! Permissions as one match: principals, roles, actions.

mod document_roles;

use serde::{Deserialize, Serialize};

use copydesk_macros::names;

use crate::{DocumentId, UserId};

pub use document_roles::DocumentRoles;

/// Role of a token, from most to least permissions.
#[names(Hash, Deserialize, Serialize, wire, lowercase)]
pub enum Role {
    /// Permission for everything, tokens and server settings included.
    Owner,
    /// Permission to write, to ask the agent, and to decide.
    Editor,
    /// Permission to read and to decide, but not to write.
    Reviewer,
    /// Permission to read, to comment and to suggest changes, but not to decide.
    Suggester,
    /// Permission to read.
    Viewer,
    /// Addition: no permission but in documents in which the person, or a group that they are in,
    /// was given a role. No one is issued such a token; people have it who sign in.
    Guest,
}

impl Role {
    /// Roles with permissions, from most to least.
    pub const ALL: [Self; 5] =
        [Self::Owner, Self::Editor, Self::Reviewer, Self::Suggester, Self::Viewer];

    /// Returns `true` if people of this role may do `action` where their token reaches.
    pub fn may(self, action: Action) -> bool {
        match action {
            Action::Read => self != Self::Guest,
            Action::Comment | Action::Suggest => !matches!(self, Self::Viewer | Self::Guest),
            Action::Decide => matches!(self, Self::Owner | Self::Editor | Self::Reviewer),
            Action::Write | Action::Ask | Action::Create | Action::Audit => {
                matches!(self, Self::Owner | Self::Editor)
            }
            // Only owners issue tokens, and an owner may do everything, so no one grants more than
            // they have.
            Action::Manage
            | Action::Command
            | Action::Overrule
            | Action::Bypass
            | Action::Administer => self == Self::Owner,
        }
    }

    /// Returns the one of two roles that has more permissions.
    #[must_use]
    pub fn stronger(self, other: Self) -> Self {
        let all = Self::ALL.into_iter();
        all.rev().fold(
            Self::Guest,
            |found, role| {
                if role == self || role == other { role } else { found }
            },
        )
    }

    fn weaker(self, other: Self) -> Self {
        if self.stronger(other) == self { other } else { self }
    }

    /// Returns `true` for roles that a person or a group can be given in one document.
    pub fn is_for_one_document(self) -> bool {
        !matches!(self, Self::Owner | Self::Guest)
    }

    /// Returns the role with permissions that has this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }
}

/// Name in place of a deleted person's; the migrations allow a stored decision this change only.
pub const DELETED_PERSON: &str = "Deleted person";

const LONGEST_NAME: usize = 80;

/// Returns a name as others may see it, trimmed and cut to 80 characters; `None` if nothing is
/// left. Control characters are removed, because they could fake a caret's label or a line of the
/// log; invisible ones, because they could reverse the text beside them.
pub fn shown_name(text: &str) -> Option<String> {
    let is_shown = |c: &char| !c.is_control() && !is_invisible(*c);
    let name: String = text.chars().filter(is_shown).collect::<String>().trim().to_owned();
    let name: String = name.chars().take(LONGEST_NAME).collect();
    // Joiners alone show nothing.
    name.chars().any(|c| !is_joiner(c) && !c.is_whitespace()).then_some(name)
}

/// Returns `true` for characters that show nothing or move what is beside them, except joiners.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns `true` for what joins letters of words and parts of emoji.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

/// Person as the server knows them: the holder of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    /// User whose token it is; two connections with the same token are the same person.
    pub user: UserId,
    /// Name that others see; never used to decide anything.
    pub name: String,
    /// Role that the token gives.
    pub role: Role,
    /// Only document that the token reaches, if it was issued for one.
    pub document: Option<DocumentId>,
    /// Users under whom the person was known before their tokens were tied to a login.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<UserId>,
    /// Roles that owners have given in single documents; they count where the token reaches.
    #[serde(default, skip_serializing_if = "DocumentRoles::is_empty")]
    pub granted: DocumentRoles,
}

/// Action that a person may be permitted to do; see [`Principal::may`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Opening a document, its history and its requests.
    Read,
    /// Beginning a thread of comments, answering, and resolving one.
    Comment,
    /// Proposing a change of one's own for others to decide.
    Suggest,
    /// Typing into a document or renaming it; putting one's own words in place of proposed ones.
    Write,
    /// Asking the agent for something.
    Ask,
    /// Accepting, rejecting or undoing a proposed change, or answering it.
    Decide,
    /// Reading the audit log of a document.
    Audit,
    /// Creating a document.
    Create,
    /// Deleting a document or changing its review settings.
    Manage,
    /// Running a shell command proposed by the agent.
    Command,
    /// Deciding where the policy leaves it to an owner; taking back what others asked for.
    Overrule,
    /// Starting a run whose changes are applied without asking, where the server allows that.
    Bypass,
    /// Changing server settings and issuing or revoking tokens.
    Administer,
}

impl Principal {
    /// Returns a person with a role everywhere, who is known by no other name.
    pub fn new(user: impl Into<UserId>, name: impl Into<String>, role: Role) -> Self {
        let (user, name) = (user.into(), name.into());
        let granted = DocumentRoles::default();
        Self { user, name, role, document: None, former: Vec::new(), granted }
    }

    /// Adds the name that a person gives themselves: `Mallory (as Ana)`; see [`shown_name`].
    #[must_use]
    pub fn calling_themselves(mut self, name: &str) -> Self {
        if let Some(name) = shown_name(name).filter(|name| *name != self.name) {
            self.name = format!("{} (as {name})", self.name);
        }
        self
    }

    /// Returns this person with those of their rights that they still have by any of `tokens`.
    #[must_use]
    pub fn limited_to(&self, tokens: &[Self]) -> Self {
        let role_in = |document: Option<&DocumentId>| {
            let now = tokens.iter().map(|token| token.role_in(document));
            now.fold(Role::Guest, Role::stronger).weaker(self.role_in(document))
        };
        // Roles in single documents say what a token for one of them gives beside other tokens.
        let single = self.granted.documents().chain(
            tokens.iter().flat_map(|token| token.granted.documents().chain(&token.document)),
        );
        let granted = single.map(|document| (document.clone(), role_in(Some(document)))).collect();
        Self { role: role_in(self.document.as_ref()), granted, ..self.clone() }
    }

    /// Returns `true` if `user` is this person, now or before their tokens were tied to a login.
    pub fn is(&self, user: &UserId) -> bool {
        self.user == *user || self.former.contains(user)
    }

    /// Returns the role of this person in `document` (`None`: the whole server): the token's or a
    /// given one, whichever has more permissions. A token issued for one document reaches nothing
    /// else.
    pub fn role_in(&self, document: Option<&DocumentId>) -> Role {
        let reaches = self.document.as_ref().is_none_or(|only| document == Some(only));
        match document {
            _ if !reaches => Role::Guest,
            Some(document) => self.role.stronger(self.granted.role_in(document)),
            None => self.role,
        }
    }

    /// Returns `true` if this person may do `action` to `document` (`None`: the whole server).
    pub fn may(&self, action: Action, document: Option<&DocumentId>) -> bool {
        self.role_in(document).may(action)
    }

    /// Returns `true` if this person may do `action` to any document at all.
    pub fn may_somewhere(&self, action: Action) -> bool {
        match &self.document {
            Some(only) => self.may(action, Some(only)),
            None => self.role.may(action) || self.granted.may_somewhere(action),
        }
    }

    /// Returns the only documents that this person may read; `None`: all that are in lists.
    pub fn readable_documents(&self) -> Option<Vec<DocumentId>> {
        let reached: Vec<_> = match &self.document {
            Some(only) => vec![only.clone()],
            None if self.role.may(Action::Read) => return None,
            None => self.granted.documents().cloned().collect(),
        };
        Some(reached.into_iter().filter(|id| self.may(Action::Read, Some(id))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Permissions by role, written out: `o`wner, `e`ditor, `r`eviewer, `s`uggester, `v`iewer.
    const MATRIX: [(Action, &str); 13] = [
        (Action::Read, "oersv"),
        (Action::Write, "oe"),
        (Action::Ask, "oe"),
        (Action::Decide, "oer"),
        (Action::Audit, "oe"),
        (Action::Create, "oe"),
        (Action::Manage, "o"),
        (Action::Command, "o"),
        (Action::Overrule, "o"),
        (Action::Bypass, "o"),
        (Action::Administer, "o"),
        (Action::Comment, "oers"),
        (Action::Suggest, "oers"),
    ];

    fn holder(role: Role, document: Option<&str>) -> Principal {
        let document = document.map(DocumentId::from);
        Principal { document, ..Principal::new("usr_ana", "Ana", role) }
    }

    /// Returns the index of an action in [`MATRIX`]. A new action does not compile before it has
    /// one.
    fn place(action: Action) -> usize {
        match action {
            Action::Read => 0,
            Action::Write => 1,
            Action::Ask => 2,
            Action::Decide => 3,
            Action::Audit => 4,
            Action::Create => 5,
            Action::Manage => 6,
            Action::Command => 7,
            Action::Overrule => 8,
            Action::Bypass => 9,
            Action::Administer => 10,
            Action::Comment => 11,
            Action::Suggest => 12,
        }
    }

    #[test]
    fn every_action_is_in_the_table() {
        let places: Vec<_> = MATRIX.iter().map(|(action, _)| place(*action)).collect();
        assert_eq!(places, (0..MATRIX.len()).collect::<Vec<_>>());
    }

    #[test]
    fn every_role_may_do_what_the_table_says() {
        for (action, roles) in MATRIX {
            for role in Role::ALL {
                let expected = roles.contains(&role.as_str()[..1]);
                for document in [None, Some(DocumentId::from("doc_1"))] {
                    let may = holder(role, None).may(action, document.as_ref());
                    assert_eq!(may, expected, "{role:?} {action:?} {document:?}");
                }
            }
        }
    }

    #[test]
    fn a_guest_may_do_nothing() {
        for (action, _) in MATRIX {
            assert!(!Role::Guest.may(action), "{action:?}");
        }
        assert_eq!(Role::parse("guest"), None, "no one is given it by name");
    }

    #[test]
    fn of_two_roles_the_one_with_more_permissions_is_stronger() {
        let [owner, editor, reviewer, suggester, viewer] = Role::ALL;
        assert_eq!(viewer.stronger(owner), owner);
        assert_eq!(suggester.stronger(viewer), suggester);
        assert_eq!(suggester.stronger(reviewer), reviewer);
        assert_eq!(editor.stronger(reviewer), editor);
        assert_eq!(Role::Guest.stronger(viewer), viewer);
        assert_eq!(Role::Guest.stronger(Role::Guest), Role::Guest);
    }

    #[test]
    fn a_token_for_one_document_reaches_nothing_else() {
        for (action, _) in MATRIX {
            for role in Role::ALL {
                let (bound, free) = (holder(role, Some("doc_1")), holder(role, None));
                let (here, there) = (DocumentId::from("doc_1"), DocumentId::from("doc_2"));
                assert_eq!(bound.may(action, Some(&here)), free.may(action, Some(&here)));
                assert!(!bound.may(action, Some(&there)), "{role:?} {action:?}");
                assert!(!bound.may(action, None), "{role:?} {action:?} to the server");
            }
        }
    }

    /// Every kind of token for at most one of two documents, with and without a role that was given
    /// in one of them.
    fn tokens() -> Vec<Principal> {
        let (documents, given) =
            ([None, Some("doc_1"), Some("doc_2")], [None, Some(Role::Viewer), Some(Role::Editor)]);
        let roles = Role::ALL.into_iter().chain([Role::Guest]);
        let bound = roles.flat_map(|role| documents.map(|document| holder(role, document)));
        // No token that is issued makes its holder the owner of one document.
        let issued = bound.filter(|it| it.role != Role::Owner || it.document.is_none());
        let with = |token: Principal| {
            given.map(|role| Principal {
                granted: role.map(|role| (DocumentId::from("doc_1"), role)).into_iter().collect(),
                ..token.clone()
            })
        };
        issued.flat_map(with).collect()
    }

    #[test]
    fn of_the_rights_a_person_had_those_remain_that_another_token_gives() {
        let places = [None, Some("doc_1".into()), Some("doc_2".into()), Some("doc_3".into())];
        let all = tokens();
        for had in &all {
            assert!(
                places.iter().all(|it| had.limited_to(&[]).role_in(it.as_ref()) == Role::Guest)
            );
            for (one, other) in all.iter().flat_map(|one| all.iter().map(move |other| (one, other)))
            {
                let has = had.limited_to(&[one.clone(), other.clone()]);
                for (action, _) in MATRIX {
                    for place in &places {
                        let may = |it: &Principal| it.may(action, place.as_ref());
                        let expected = may(had) && (may(one) || may(other));
                        assert_eq!(
                            may(&has),
                            expected,
                            "{action:?} {place:?} {had:?} {one:?} {other:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_person_who_may_issue_tokens_may_do_everything_a_token_can_allow() {
        for role in
            Role::ALL.into_iter().filter(|&role| holder(role, None).may(Action::Administer, None))
        {
            assert!(MATRIX.iter().all(|(action, _)| holder(role, None).may(*action, None)));
        }
    }

    #[test]
    fn a_name_is_cleaned_and_shortened() {
        assert_eq!(shown_name(" Ana\u{7}\n "), Some("Ana".to_owned()));
        assert_eq!(shown_name(&"é".repeat(200)), Some("é".repeat(80)));
        assert_eq!([shown_name(""), shown_name(" \u{7} ")], [None, None]);
        assert_eq!(shown_name("\u{202e}anA\u{200b}"), Some("anA".to_owned()));
        assert_eq!(shown_name("👩\u{200d}🚀"), Some("👩\u{200d}🚀".to_owned()));
        assert_eq!(shown_name("❤\u{fe0f}"), Some("❤\u{fe0f}".to_owned()));
        for hidden in
            "\u{61c}\u{ad}\u{2028}\u{2029}\u{2066}\u{2069}\u{34f}\u{3164}\u{e0041}".chars()
        {
            assert_eq!(shown_name(&format!("An{hidden}a")).as_deref(), Some("Ana"), "{hidden:?}");
            assert_eq!(shown_name(&hidden.to_string()), None, "{hidden:?}");
        }
        assert_eq!(shown_name("\u{200d}\u{fe0f} \u{200c}"), None);
    }

    #[test]
    fn what_someone_calls_themselves_stands_beside_the_name_of_their_token() {
        let called = |name: &str| holder(Role::Editor, None).calling_themselves(name).name;
        assert_eq!(called("Mallory"), "Ana (as Mallory)");
        assert_eq!([called("Ana"), called(" Ana "), called("")], ["Ana", "Ana", "Ana"]);
    }
}
