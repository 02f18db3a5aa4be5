//! People who hold tokens: those who can decide, and those who may still ask.

use std::collections::{HashMap, HashSet};

use super::{access_guard, document_roles};
use crate::ids::{DocumentId, UserId};
use crate::permissions::{Action, Principal};
use crate::store::{DocumentRoleRecord, Store, StoreError, TokenRecord, TokenTie};

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
pub async fn holders(store: &Store, now_ms: u64) -> Result<Vec<Principal>, StoreError> {
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
) -> Result<HashSet<UserId>, StoreError> {
    let holders = holders(store, now_ms).await?.into_iter();
    let able = holders.filter(|holder| {
        holder.may(Action::Decide, Some(document)) && holder.may(action, Some(document))
    });
    Ok(able.map(|holder| holder.user).collect())
}

/// Returns `true` if a person who was admitted before may do `action` at `now_ms`, by any of their
/// tokens.
///
/// # Errors
/// Those of [`Store::tokens_of`].
pub async fn may_still(
    store: &Store,
    user: &UserId,
    action: Action,
    document: Option<&DocumentId>,
    now_ms: u64,
) -> Result<bool, StoreError> {
    let tokens = store.tokens_of(user).await?;
    let mut facts = LoginFacts::default();
    if tokens.iter().any(|token| token.login.is_some())
        && let Some(login) = store.login(user).await?
    {
        let given = store.roles_of(&login).await?;
        facts.given.insert(login.user, given);
    }
    Ok(good(tokens, &facts, now_ms).any(|holder| holder.may(action, document)))
}

/// Returns a person who was admitted before, with the roles in documents that they have now.
///
/// # Errors
/// Those of [`Store::login`].
pub async fn with_current_roles(store: &Store, person: Principal) -> Result<Principal, StoreError> {
    // Who was given none since has come in again before they use one.
    if person.granted.is_empty() {
        return Ok(person);
    }
    let given = match store.login(&person.user).await? {
        Some(login) => store.roles_of(&login).await?,
        None => Vec::new(),
    };
    let granted = document_roles::collect(&given, person.document.as_ref());
    Ok(Principal { granted, ..person })
}
