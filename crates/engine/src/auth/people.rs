//! People who hold tokens: those who can decide, and those who may still ask.

use std::collections::HashSet;

use super::access_guard;
use crate::ids::{DocumentId, UserId};
use crate::permissions::{Action, Principal};
use crate::store::{Store, StoreError, TokenRecord, TokenTie};

/// Returns the holders of all tokens that are valid at `now_ms`; once for each token.
///
/// # Errors
/// Those of [`Store::tokens_in_force`].
pub async fn holders(store: &Store, now_ms: u64) -> Result<Vec<Principal>, StoreError> {
    let tokens = store.tokens_in_force(now_ms).await?;
    let ties = ties_of(store, &tokens).await?;
    Ok(good(tokens, &ties, now_ms).collect())
}

/// Returns who was known under other names before, if any of these tokens belongs to a login.
async fn ties_of(store: &Store, tokens: &[TokenRecord]) -> Result<Vec<TokenTie>, StoreError> {
    if tokens.iter().any(|token| token.login.is_some()) { store.ties().await } else { Ok(vec![]) }
}

/// Returns the holders of those tokens that are valid.
fn good(
    tokens: Vec<TokenRecord>,
    ties: &[TokenTie],
    now_ms: u64,
) -> impl Iterator<Item = Principal> {
    let are_good = tokens.into_iter().filter(move |it| access_guard::ended(it, now_ms).is_none());
    are_good.map(|TokenRecord { user, name, role, document, .. }| {
        let own = ties.iter().filter(|tie| tie.user == user);
        let former = own.map(|tie| tie.former_user.clone()).collect();
        Principal { user, name, role, document, former }
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
    let ties = ties_of(store, &tokens).await?;
    Ok(good(tokens, &ties, now_ms).any(|holder| holder.may(action, document)))
}
