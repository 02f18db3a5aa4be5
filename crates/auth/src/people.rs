//! People who hold tokens: those who can decide, those who may still ask, and those whose access
//! ends with all their data.

use std::collections::{HashMap, HashSet};

use super::access_guard::{self, AccessEnd};
use super::{AuthError, Authenticator, OWNER, OWNER_TOKEN, document_roles};
use copydesk_ids::permissions::{Action, Principal};
use copydesk_ids::{DocumentId, TokenId, UserId};
use copydesk_macros::boxed;
use copydesk_placement::PeerMessage;
use copydesk_store::{DocumentRoleRecord, LoginRecord, Store, StoreResult, TokenRecord, TokenTie};

/// Facts about the people of logins that their tokens do not have.
#[derive(Default)]
struct LoginFacts {
    ties: Vec<TokenTie>,
    given: HashMap<UserId, Vec<DocumentRoleRecord>>,
}

/// Returns the holders of all tokens that are valid at `now_ms`; once for each token.
///
/// # Errors
/// Those of [`Store::tokens_in_force`].
pub async fn holders(store: &Store, now_ms: u64) -> StoreResult<Vec<Principal>> {
    let tokens = store.tokens_in_force(now_ms).await?;
    if tokens.iter().all(|token| token.login.is_none()) {
        return Ok(good(tokens, &LoginFacts::default(), now_ms).collect());
    }
    let mut facts = LoginFacts { ties: store.ties().await?, ..LoginFacts::default() };
    let given = store.document_roles().await?;
    if !given.is_empty() {
        for login in store.logins().await? {
            let own = given.iter().filter(|given| given.grantee.is(&login)).cloned().collect();
            facts.given.insert(login.user, own);
        }
    }
    Ok(good(tokens, &facts, now_ms).collect())
}

/// Returns the holders of those tokens that are valid.
fn good(
    tokens: Vec<TokenRecord>,
    facts: &LoginFacts,
    now_ms: u64,
) -> impl Iterator<Item = Principal> {
    let are_good = tokens.into_iter().filter(move |it| access_guard::ended(it, now_ms).is_none());
    are_good.map(|TokenRecord { user, name, role, document, login, .. }| {
        let own = facts.ties.iter().filter(|tie| tie.user == user);
        let former = own.map(|tie| tie.former_user.clone()).collect();
        let given = login.and_then(|login| facts.given.get(&login));
        let granted = document_roles::collect(given.into_iter().flatten(), document.as_ref());
        Principal { user, name, role, document, former, granted }
    })
}

/// Returns the people who can decide about a change of `document` at `now_ms` and may do `action`
/// there.
///
/// # Errors
/// Those of [`Store::tokens_in_force`].
pub async fn deciders(
    store: &Store,
    document: &DocumentId,
    action: Action,
    now_ms: u64,
) -> StoreResult<HashSet<UserId>> {
    let holders = holders(store, now_ms).await?.into_iter();
    let able = holders.filter(|holder| {
        holder.may(Action::Decide, Some(document)) && holder.may(action, Some(document))
    });
    Ok(able.map(|holder| holder.user).collect())
}

/// Returns a person who was admitted before, with the rights that they still have at `now_ms`, by
/// any of their tokens. They never have more than at that time.
///
/// # Errors
/// Those of [`Store::tokens_of`].
pub async fn with_current_rights(
    store: &Store,
    person: &Principal,
    now_ms: u64,
) -> StoreResult<Principal> {
    let tokens = store.tokens_of(&person.user).await?;
    let mut facts = LoginFacts::default();
    if tokens.iter().any(|token| token.login.is_some())
        && let Some(login) = store.login(&person.user).await?
    {
        let given = store.roles_of(&login).await?;
        facts.given.insert(login.user, given);
    }
    let holders: Vec<_> = good(tokens, &facts, now_ms).collect();
    Ok(person.limited_to(&holders))
}

/// Person with every token and login, under all their users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownPerson {
    /// All users of the person; that of their login, if they have one, first.
    pub users: Vec<UserId>,
    /// Tokens of the person, ended ones too, oldest first.
    pub tokens: Vec<TokenRecord>,
    /// Login of the person.
    pub login: Option<LoginRecord>,
}

impl KnownPerson {
    /// Returns `true` if the person holds the owner's token, which every start of the server makes
    /// valid.
    pub fn is_owner(&self) -> bool {
        let owns = |token: &TokenRecord| token.id.as_str() == OWNER_TOKEN;
        self.tokens.iter().any(owns) || self.users.iter().any(|user| user.as_str() == OWNER)
    }

    /// Returns the name on the newest token, or that of the login.
    pub fn name(&self) -> Option<&str> {
        let newest = self.tokens.last().map(|token| token.name.as_str());
        newest.or(self.login.as_ref().map(|login| login.name.as_str()))
    }
}

impl Authenticator {
    /// Returns the person who is or was `user`, with everything that they can come in with; `None`
    /// if no one of this name has ever had a token or a login.
    ///
    /// # Errors
    /// [`AuthError::Store`] if the tokens or logins cannot be read.
    #[boxed]
    pub async fn known_person(&self, user: &UserId) -> Result<Option<KnownPerson>, AuthError> {
        let ties = self.store.ties().await?;
        let today = ties.iter().find(|tie| tie.former_user == *user).map(|tie| &tie.user);
        let today = today.unwrap_or(user);
        let mut users = vec![today.clone()];
        for tie in ties.iter().filter(|tie| tie.user == *today) {
            if !users.contains(&tie.former_user) {
                users.push(tie.former_user.clone());
            }
        }
        let mut tokens = Vec::new();
        for user in &users {
            tokens.extend(self.store.tokens_of(user).await?);
        }
        tokens.sort_by(|a, b| (a.created_ms, &a.id).cmp(&(b.created_ms, &b.id)));
        let login = self.store.logins().await?.into_iter().find(|login| login.user == *today);
        let is_known = !tokens.is_empty() || login.is_some();
        Ok(is_known.then_some(KnownPerson { users, tokens, login }))
    }

    /// Ends the access of everybody who uses these tokens, which are revoked in the store by now.
    pub async fn end_access(&self, tokens: impl IntoIterator<Item = &TokenId>, at_ms: u64) {
        for token in tokens {
            self.end(token, AccessEnd::Revoked { at_ms });
        }
        self.placement.tell(&PeerMessage::Tokens).await;
    }
}
