//! Roles in single documents, which owners give to people of logins and to groups of the identity
//! provider.

use async_recursion::async_recursion as boxed;
use serde_json::json;

use crate::ids::{DocumentId, TokenId, UserId};
use crate::permissions::{DocumentRoles, Role};
use crate::store::{
    AdministrationOp, AuditEntry, DocumentRoleRecord, Grantee, LoginRecord, NodeNews, StoreOp,
    WriteBatch,
};

use super::{AuthError, Authenticator};

/// Largest number of people and groups with a role in one document: a list that people can look
/// through.
const MOST_GRANTEES: usize = 200;

/// Length of the longest mail address, in bytes (RFC 5321).
const LONGEST_ADDRESS: usize = 254;

/// Length of the longest name of a group, in bytes.
const LONGEST_GROUP: usize = 200;

/// Change of what people may do: their tokens are marked in the store together with the cause, and
/// their connections end after that.
#[derive(Debug, Default)]
pub(super) struct RightsChange {
    ops: Vec<StoreOp>,
    ends: Vec<(TokenId, u64)>,
}

impl RightsChange {
    /// Adds a token that becomes one of a person's with the change, at the time of their others.
    pub(super) fn with_token(mut self, token: &TokenId, user: &UserId) -> Self {
        let of_user = self.ops.iter().find_map(|op| match op {
            StoreOp::ChangeTokensOf { user: changed, at_ms } if changed == user => Some(*at_ms),
            _ => None,
        });
        self.ends.extend(of_user.map(|at_ms| (token.clone(), at_ms)));
        self
    }
}

/// Collects the roles that a person was given; `only` is the one document that their token is for.
pub(super) fn collect<'a>(
    given: impl IntoIterator<Item = &'a DocumentRoleRecord>,
    only: Option<&DocumentId>,
) -> DocumentRoles {
    let reached = given.into_iter().filter(|given| only.is_none_or(|only| given.document == *only));
    reached.map(|given| (given.document.clone(), given.role)).collect()
}

/// Returns the grantee as it is stored: trimmed, addresses in lower case.
///
/// # Errors
/// [`AuthError::NoGrantee`] for what can be no address or no name of a group.
fn checked(grantee: Grantee) -> Result<Grantee, AuthError> {
    let is_text = |text: &str| !text.is_empty() && !text.chars().any(char::is_control);
    match grantee {
        Grantee::Login(user) => Ok(Grantee::Login(user)),
        Grantee::Email(address) => {
            let address = address.trim().to_ascii_lowercase();
            let parts = address.rsplit_once('@').filter(|(name, domain)| {
                is_text(name) && is_text(domain) && !address.contains(char::is_whitespace)
            });
            if parts.is_none() || address.len() > LONGEST_ADDRESS {
                return Err(AuthError::NoGrantee("a mail address is NAME@DOMAIN"));
            }
            Ok(Grantee::Email(address))
        }
        Grantee::Group(name) => {
            let name = name.trim();
            if !is_text(name) || name.len() > LONGEST_GROUP {
                return Err(AuthError::NoGrantee("the name of a group has 1 to 200 bytes"));
            }
            Ok(Grantee::Group(name.to_owned()))
        }
    }
}

impl Authenticator {
    /// Returns the roles that the person of a login was given, as far as a token for `only` reaches.
    pub(super) async fn granted(
        &self,
        login: Option<&UserId>,
        only: Option<&DocumentId>,
    ) -> Result<DocumentRoles, AuthError> {
        let Some(login) = login else { return Ok(DocumentRoles::default()) };
        let Some(login) = self.store.login(login).await? else {
            return Ok(DocumentRoles::default());
        };
        Ok(collect(&self.store.roles_of(&login).await?, only))
    }

    /// Returns the roles that were given in a document, oldest first.
    ///
    /// # Errors
    /// [`AuthError::Store`] if the roles cannot be read.
    #[boxed]
    pub async fn roles_in(
        &self,
        document: &DocumentId,
    ) -> Result<Vec<DocumentRoleRecord>, AuthError> {
        Ok(self.store.roles_in(document).await?)
    }

    /// Gives a role in a document to a person or a group, in the place of the one they had there.
    /// Connections of these people end and come back with their new rights. Giving the same role
    /// once more changes nothing.
    ///
    /// # Errors
    /// [`AuthError::NotForOneDocument`] for a role that cannot be given, [`AuthError::NoGrantee`]
    /// for an impossible address or group, [`AuthError::NoLogin`] or [`AuthError::NoDocument`] for
    /// what does not exist, [`AuthError::TooManyGrantees`] at the limit.
    #[boxed]
    pub async fn give_role(
        &self,
        document: &DocumentId,
        grantee: Grantee,
        role: Role,
        by: &UserId,
        now_ms: u64,
    ) -> Result<DocumentRoleRecord, AuthError> {
        if !role.is_for_one_document() {
            return Err(AuthError::NotForOneDocument);
        }
        let grantee = checked(grantee)?;
        let people = self.people_of(&grantee).await?;
        if let (Grantee::Login(user), true) = (&grantee, people.is_empty()) {
            return Err(AuthError::NoLogin(user.clone()));
        }
        let there = self.store.document(document).await?;
        if there.is_none_or(|there| there.deleted || there.unlisted_owner.is_some()) {
            return Err(AuthError::NoDocument(document.clone()));
        }
        let known = self.store.roles_in(document).await?;
        let before = known.iter().find(|given| given.grantee == grantee);
        match before {
            Some(before) if before.role == role => return Ok(before.clone()),
            None if known.len() >= MOST_GRANTEES => {
                return Err(AuthError::TooManyGrantees { limit: MOST_GRANTEES });
            }
            _ => {}
        }
        let before = before.map(|before| before.role);
        let (document, given_by) = (document.clone(), by.clone());
        let record = DocumentRoleRecord { document, grantee, role, given_by, given_ms: now_ms };
        let line = audit("role.given", &record, before, by, now_ms);
        let put = StoreOp::Administer(AdministrationOp::PutDocumentRole(record.clone()));
        let change = self.change_of(&people, now_ms).await?;
        self.commit_change(WriteBatch::from(put).with(line), change).await?;
        Ok(record)
    }

    /// Takes the role in a document from a person or a group. It takes effect at once, and votes of
    /// people who may no longer decide count no more.
    ///
    /// # Errors
    /// [`AuthError::NoRole`] if they have none there.
    #[boxed]
    pub async fn take_role(
        &self,
        document: &DocumentId,
        grantee: Grantee,
        by: &UserId,
        now_ms: u64,
    ) -> Result<(), AuthError> {
        let grantee = checked(grantee)?;
        let known = self.store.roles_in(document).await?;
        let given = known.into_iter().find(|given| given.grantee == grantee);
        let given = given.ok_or(AuthError::NoRole)?;
        let people = self.people_of(&grantee).await?;
        let line = audit("role.taken", &given, Some(given.role), by, now_ms);
        let remove = AdministrationOp::RemoveDocumentRole { document: document.clone(), grantee };
        let change = self.change_of(&people, now_ms).await?;
        let batch = WriteBatch::from(StoreOp::Administer(remove));
        self.commit_change(batch.with(line), change).await
    }

    /// Returns the people who have signed in and are meant.
    async fn people_of(&self, grantee: &Grantee) -> Result<Vec<UserId>, AuthError> {
        let logins = self.store.logins().await?.into_iter();
        Ok(logins.filter(|login| grantee.is(login)).map(|login| login.user).collect())
    }

    /// Returns the change of what these people may do.
    pub(super) async fn change_of(
        &self,
        people: &[UserId],
        now_ms: u64,
    ) -> Result<RightsChange, AuthError> {
        let mut change = RightsChange::default();
        for user in people {
            let tokens = self.store.tokens_of(user).await?;
            // Later than any change before, also if the clock was set back.
            let last_ms = tokens.iter().filter_map(|token| token.changed_ms).max();
            let at_ms = last_ms.map_or(now_ms, |last_ms| now_ms.max(last_ms.saturating_add(1)));
            change.ops.push(StoreOp::ChangeTokensOf { user: user.clone(), at_ms });
            change.ends.extend(tokens.into_iter().map(|token| (token.id, at_ms)));
        }
        Ok(change)
    }

    /// Stores a change with its cause. Connections from before it end, the rooms count votes again,
    /// and other nodes look.
    pub(super) async fn commit_change(
        &self,
        cause: WriteBatch,
        change: RightsChange,
    ) -> Result<(), AuthError> {
        let RightsChange { ops, ends } = change;
        let mut batch = cause;
        batch.extend(ops);
        self.store.commit(batch).await?;
        for (token, at_ms) in &ends {
            self.passes.end_before_change(token, *at_ms);
        }
        self.changes.send_modify(|count| *count += 1);
        if let Some(node) = self.store.node() {
            node.tell(&NodeNews::Tokens).await;
        }
        Ok(())
    }

    /// Stores what a provider says of a person today. If they have other roles in documents than
    /// before, because they changed their groups or their address, their connections end.
    pub(super) async fn update_login(
        &self,
        known: Option<&LoginRecord>,
        today: LoginRecord,
        now_ms: u64,
    ) -> Result<(), AuthError> {
        let mut change = RightsChange::default();
        if let Some(known) = known {
            let before = collect(&self.store.roles_of(known).await?, None);
            if before != collect(&self.store.roles_of(&today).await?, None) {
                change = self.change_of(std::slice::from_ref(&known.user), now_ms).await?;
            }
        }
        let put = WriteBatch::from(StoreOp::PutLogin(today));
        if change.ops.is_empty() {
            return Ok(self.store.commit(put).await?);
        }
        self.commit_change(put, change).await
    }
}

/// Returns the line of the audit log about a role.
fn audit(
    action: &str,
    record: &DocumentRoleRecord,
    before: Option<Role>,
    by: &UserId,
    at_ms: u64,
) -> StoreOp {
    let DocumentRoleRecord { document, grantee, role, .. } = record;
    let detail = json!({
        "kind": grantee.kind(),
        "grantee": grantee.name(),
        "role": role,
        "before": before,
    });
    let document = Some(document.clone());
    StoreOp::Audit(AuditEntry { document, ..AuditEntry::new(action, by, detail, at_ms) })
}
