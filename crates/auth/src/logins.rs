//! Logins: people who sign in with an identity provider. Each is one person, with every token that
//! signing in gives and with every token that an owner has tied to the login.

use serde_json::json;

use copydesk_ids::permissions::{Principal, Role, shown_name};
use copydesk_ids::{TokenId, UserId};
use copydesk_macros::boxed;
use copydesk_store::{AuditEntry, LoginRecord, StoreOp, TokenRecord, WriteBatch};

use super::access_guard::ended;
use super::login_roles::LoginRoles;
use super::{
    AuthError, AuthResult, Authenticator, MOST_TOKENS, NewToken, TokenSecret, audit, record, token,
};

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

#[boxed]
impl Authenticator {
    /// Issues a token to a person who has signed in. Tokens of earlier sign-ins with another role
    /// are revoked. Whom no rule gives a role, but who was given one in a document, is a guest.
    ///
    /// # Errors
    /// [`AuthError::NotAdmitted`] if no role is meant for the person, whose earlier sign-ins end;
    /// [`AuthError::TooMany`] at the limit of tokens.
    pub async fn sign_in(
        &self,
        identity: &LoginIdentity,
        policy: &SignInPolicy,
        now_ms: u64,
    ) -> AuthResult<NewToken> {
        let known = self.store.login_of(&identity.issuer, &identity.subject).await?;
        let today = login_today(identity, known.as_ref(), now_ms);
        let given = self.store.roles_of(&today).await?;
        let guest = (!given.is_empty()).then_some(Role::Guest);
        let Some(role) = policy.roles.role_of(identity).or(guest) else {
            if let Some(known) = known {
                self.end_sign_ins(known, today, now_ms).await?;
            }
            return Err(AuthError::NotAdmitted);
        };
        self.update_login(known.as_ref(), today.clone(), now_ms).await?;
        // Another server may have stored the same person meanwhile, and came first. If no one has a
        // login, the person's data was deleted meanwhile, and they are a new person.
        let Some(login) = self.store.login_of(&today.issuer, &today.subject).await? else {
            return self.sign_in(identity, policy, now_ms).await;
        };
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
        let granted = self.granted(Some(&login.user), None).await?;
        let LoginRecord { user, name, .. } = login;
        let principal = Principal { former, granted, ..Principal::new(user.clone(), name, role) };
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

    /// Revokes what a person who may no longer sign in has from signing in. Their tied tokens stay,
    /// without the roles of groups that they have left.
    async fn end_sign_ins(
        &self,
        known: LoginRecord,
        today: LoginRecord,
        now_ms: u64,
    ) -> AuthResult<()> {
        let today = LoginRecord { signed_in_ms: known.signed_in_ms, ..today };
        self.update_login(Some(&known), today, now_ms).await?;
        for token in self.sign_ins_in_force(&known.user, now_ms).await? {
            self.revoke(&token.id, &known.user, now_ms).await?;
        }
        Ok(())
    }

    /// Returns the valid tokens that a person has from signing in, oldest first.
    async fn sign_ins_in_force(&self, user: &UserId, now_ms: u64) -> AuthResult<Vec<TokenRecord>> {
        let mut tokens = self.store.tokens_of(user).await?;
        tokens.retain(|token| is_sign_in(token) && ended(token, now_ms).is_none());
        tokens.sort_by(|a, b| (a.created_ms, &a.id).cmp(&(b.created_ms, &b.id)));
        Ok(tokens)
    }

    /// Returns the users under whom the person of a login was known before.
    pub(super) async fn former_of(&self, login: &UserId) -> AuthResult<Vec<UserId>> {
        let ties = self.store.ties().await?;
        Ok(ties.into_iter().filter(|tie| tie.user == *login).map(|tie| tie.former_user).collect())
    }

    /// Returns all logins, oldest first.
    ///
    /// # Errors
    /// [`AuthError::Store`] if the logins cannot be read.
    pub async fn logins(&self) -> AuthResult<Vec<LoginRecord>> {
        Ok(self.store.logins().await?)
    }

    /// Ties a token to a login: from now on its holder is the person of the login, and both are
    /// one voice. Connections of that person end and come back as the same person; votes that were
    /// cast with the token before count no more.
    ///
    /// # Errors
    /// [`AuthError::NoToken`] or [`AuthError::NoLogin`] for what does not exist,
    /// [`AuthError::TiedElsewhere`] for a token that belongs to a login already.
    pub async fn tie(
        &self,
        token: &TokenId,
        login: &UserId,
        by: &UserId,
        now_ms: u64,
    ) -> AuthResult<()> {
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
        // Spending and its limit are a person's.
        let spent = StoreOp::MoveSpending { from: kept.user.clone(), to: login.clone() };
        let record = TokenRecord {
            user: login.clone(),
            login: Some(login.clone()),
            former_user: Some(kept.user.clone()),
            ..kept
        };
        let change = self.change_of(std::slice::from_ref(login), now_ms).await?;
        let change = change.with_token(token, login);
        let batch = WriteBatch::from(StoreOp::PutToken(record)).with(spent);
        self.commit_change(batch.with(line), change).await
    }

    /// Signs the holder of a token out: revokes the token, if it came from signing in.
    ///
    /// # Errors
    /// [`AuthError::NotSignedIn`] for a token that an owner has issued.
    pub async fn sign_out(&self, token: &TokenId, by: &UserId, now_ms: u64) -> AuthResult<()> {
        let kept = self.store.tokens_named(std::slice::from_ref(token)).await?.pop();
        if !kept.as_ref().is_some_and(is_sign_in) {
            return Err(AuthError::NotSignedIn);
        }
        self.revoke(token, by, now_ms).await
    }
}

/// Returns the login of a person as the provider describes them now.
fn login_today(identity: &LoginIdentity, known: Option<&LoginRecord>, now_ms: u64) -> LoginRecord {
    LoginRecord {
        user: known.map_or_else(UserId::generate, |known| known.user.clone()),
        issuer: identity.issuer.clone(),
        subject: identity.subject.clone(),
        name: identity.shown_name(),
        email: identity.email.clone(),
        // No role is given to a group of such a name, and not every database can look for it.
        groups: identity
            .groups
            .iter()
            .filter(|it| !it.chars().any(char::is_control))
            .cloned()
            .collect(),
        created_ms: known.map_or(now_ms, |known| known.created_ms),
        signed_in_ms: now_ms,
    }
}

/// Returns `true` for a token that came from signing in, and not from an owner.
fn is_sign_in(token: &TokenRecord) -> bool {
    token.login.is_some() && token.former_user.is_none()
}
