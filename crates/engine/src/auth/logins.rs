//! Logins: people who sign in with an identity provider. Each is one person, with every token that
//! signing in gives and with every token that an owner has tied to the login.

use async_recursion::async_recursion as boxed;
use serde_json::json;

use crate::ids::{TokenId, UserId};
use crate::permissions::{Principal, shown_name};
use crate::store::{AuditEntry, LoginRecord, NodeNews, StoreOp, TokenRecord, WriteBatch};

use super::access_guard::ended;
use super::login_roles::LoginRoles;
use super::{AuthError, Authenticator, MOST_TOKENS, NewToken, TokenSecret, audit, record, token};

/// Largest number of tokens that one person has from signing in; the oldest are revoked.
const MOST_SIGN_INS: usize = 20;

/// Person as an identity provider describes them, verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginIdentity {
    /// Address of the provider.
    pub issuer: String,
    /// Name by which the provider knows the person, for ever.
    pub subject: String,
    /// Name to show; `None`: the provider gave none.
    pub name: Option<String>,
    /// Mail address, if the provider has verified it.
    pub email: Option<String>,
    /// Groups that the person is in.
    pub groups: Vec<String>,
}

/// Rules for people who sign in: who may, with which role, and for how long.
#[derive(Clone, Debug)]
pub struct SignInPolicy {
    /// Roles, by what the provider says of a person.
    pub roles: LoginRoles,
    /// Lifetime of the token, in ms.
    pub lifetime_ms: u64,
    /// Address at which a browser signs in.
    pub url: String,
}

impl LoginIdentity {
    /// Returns the name that others see.
    fn shown_name(&self) -> String {
        let named = [self.name.as_deref(), self.email.as_deref(), Some(&self.subject)];
        let mut shown = named.into_iter().flatten().filter_map(shown_name);
        shown.next().unwrap_or_else(|| "Somebody".to_owned())
    }
}

impl Authenticator {
    /// Issues a token to a person who has signed in. Tokens of earlier sign-ins with another role
    /// are revoked.
    ///
    /// # Errors
    /// [`AuthError::NotAdmitted`] if no role is meant for the person, whose earlier sign-ins end;
    /// [`AuthError::TooMany`] at the limit of tokens.
    #[boxed]
    pub async fn sign_in(
        &self,
        identity: &LoginIdentity,
        policy: &SignInPolicy,
        now_ms: u64,
    ) -> Result<NewToken, AuthError> {
        let Some(role) = policy.roles.role_of(identity) else {
            self.end_sign_ins(identity, now_ms).await?;
            return Err(AuthError::NotAdmitted);
        };
        let login = self.put_login(identity, now_ms).await?;
        let earlier = self.sign_ins_in_force(&login.user, now_ms).await?;
        let kept: Vec<_> = earlier.iter().filter(|token| token.role == role).collect();
        let too_many = kept.iter().rev().skip(MOST_SIGN_INS - 1).map(|token| &token.id);
        let others = earlier.iter().filter(|token| token.role != role).map(|token| &token.id);
        for token in others.chain(too_many) {
            self.revoke(token, &login.user, now_ms).await?;
        }
        if self.store.tokens_in_force(now_ms).await?.len() >= MOST_TOKENS {
            return Err(AuthError::TooMany { limit: MOST_TOKENS });
        }
        let former = self.former_of(&login.user).await?;
        let LoginRecord { user, name, .. } = login;
        let principal = Principal { user: user.clone(), name, role, document: None, former };
        let (token, secret) = (TokenId::generate(), TokenSecret::generate()?);
        let hash = token::hash(secret.expose());
        let expires_ms = Some(now_ms.saturating_add(policy.lifetime_ms));
        let record = TokenRecord {
            login: Some(user.clone()),
            ..record(token.clone(), hash, &principal, now_ms, expires_ms)
        };
        let line = audit("login.signed_in", &user, &record, now_ms);
        let batch = WriteBatch::from(StoreOp::RemoveEndedSignIns { user, now_ms });
        self.store.commit(batch.with(StoreOp::PutToken(record)).with(line)).await?;
        Ok(NewToken { token, secret, principal, expires_ms })
    }

    /// Stores what a provider says of a person, and returns their login: the first one until their
    /// data is deleted.
    async fn put_login(
        &self,
        identity: &LoginIdentity,
        now_ms: u64,
    ) -> Result<LoginRecord, AuthError> {
        let LoginIdentity { issuer, subject, email, .. } = identity;
        loop {
            let known = self.store.login_of(issuer, subject).await?;
            let login = LoginRecord {
                user: known.as_ref().map_or_else(UserId::generate, |known| known.user.clone()),
                issuer: issuer.clone(),
                subject: subject.clone(),
                name: identity.shown_name(),
                email: email.clone(),
                created_ms: known.map_or(now_ms, |known| known.created_ms),
                signed_in_ms: now_ms,
            };
            self.store.commit(StoreOp::PutLogin(login)).await?;
            // Another server may have stored the same person meanwhile, and came first. If nobody
            // has a login, the person's data was deleted meanwhile, and they are a new person.
            if let Some(login) = self.store.login_of(issuer, subject).await? {
                return Ok(login);
            }
        }
    }

    /// Revokes what a person who may no longer sign in has from signing in.
    async fn end_sign_ins(&self, identity: &LoginIdentity, now_ms: u64) -> Result<(), AuthError> {
        let LoginIdentity { issuer, subject, .. } = identity;
        let Some(login) = self.store.login_of(issuer, subject).await? else { return Ok(()) };
        for token in self.sign_ins_in_force(&login.user, now_ms).await? {
            self.revoke(&token.id, &login.user, now_ms).await?;
        }
        Ok(())
    }

    /// Returns the valid tokens that a person has from signing in, oldest first.
    async fn sign_ins_in_force(
        &self,
        user: &UserId,
        now_ms: u64,
    ) -> Result<Vec<TokenRecord>, AuthError> {
        let mut tokens = self.store.tokens_of(user).await?;
        tokens.retain(|token| is_sign_in(token) && ended(token, now_ms).is_none());
        tokens.sort_by(|a, b| (a.created_ms, &a.id).cmp(&(b.created_ms, &b.id)));
        Ok(tokens)
    }

    /// Returns the users under whom the person of a login was known before.
    pub(super) async fn former_of(&self, login: &UserId) -> Result<Vec<UserId>, AuthError> {
        let ties = self.store.ties().await?;
        Ok(ties.into_iter().filter(|tie| tie.user == *login).map(|tie| tie.former_user).collect())
    }

    /// Returns all logins, oldest first.
    ///
    /// # Errors
    /// [`AuthError::Store`] if the logins cannot be read.
    #[boxed]
    pub async fn logins(&self) -> Result<Vec<LoginRecord>, AuthError> {
        Ok(self.store.logins().await?)
    }

    /// Ties a token to a login: from now on its holder is the person of the login, and both are
    /// one voice. Connections of that person end and come back as the same person; votes that were
    /// cast with the token before count no more.
    ///
    /// # Errors
    /// [`AuthError::NoToken`] or [`AuthError::NoLogin`] for what does not exist,
    /// [`AuthError::TiedElsewhere`] for a token that belongs to a login already.
    #[boxed]
    pub async fn tie(
        &self,
        token: &TokenId,
        login: &UserId,
        by: &UserId,
        now_ms: u64,
    ) -> Result<(), AuthError> {
        let kept = self.store.tokens_named(std::slice::from_ref(token)).await?.pop();
        let kept = kept.ok_or_else(|| AuthError::NoToken(token.clone()))?;
        if kept.login.as_ref() == Some(login) {
            return Ok(());
        }
        if kept.login.is_some() {
            return Err(AuthError::TiedElsewhere(token.clone()));
        }
        if !self.store.logins().await?.iter().any(|known| known.user == *login) {
            return Err(AuthError::NoLogin(login.clone()));
        }
        let detail = json!({"token": token, "user": kept.user, "login": login});
        let line = StoreOp::Audit(AuditEntry::new("token.tied", by, detail, now_ms));
        let record = TokenRecord {
            user: login.clone(),
            login: Some(login.clone()),
            former_user: Some(kept.user.clone()),
            ..kept
        };
        let batch = WriteBatch::from(StoreOp::PutToken(record));
        // Later than any change before, also if the clock was set back.
        let others = self.store.tokens_of(login).await?;
        let last_ms = others.iter().filter_map(|token| token.changed_ms).max();
        let at_ms = last_ms.map_or(now_ms, |last_ms| now_ms.max(last_ms.saturating_add(1)));
        let changed = StoreOp::ChangeTokensOf { user: login.clone(), at_ms };
        self.store.commit(batch.with(changed).with(line)).await?;
        for token in others.iter().map(|token| &token.id).chain([token]) {
            self.passes.end_before_change(token, at_ms);
        }
        self.changes.send_modify(|count| *count += 1);
        if let Some(node) = self.store.node() {
            node.tell(&NodeNews::Tokens).await;
        }
        Ok(())
    }

    /// Signs the holder of a token out: revokes the token, if it came from signing in.
    ///
    /// # Errors
    /// [`AuthError::NotSignedIn`] for a token that an owner has issued.
    #[boxed]
    pub async fn sign_out(
        &self,
        token: &TokenId,
        by: &UserId,
        now_ms: u64,
    ) -> Result<(), AuthError> {
        let kept = self.store.tokens_named(std::slice::from_ref(token)).await?.pop();
        if !kept.as_ref().is_some_and(is_sign_in) {
            return Err(AuthError::NotSignedIn);
        }
        self.revoke(token, by, now_ms).await
    }
}

/// Returns `true` for a token that came from signing in, and not from an owner.
fn is_sign_in(token: &TokenRecord) -> bool {
    token.login.is_some() && token.former_user.is_none()
}
