//! Roles in single documents, which owners give to people of logins and to groups of the identity
//! provider.

use serde_json::json;

use copydesk_ids::permissions::{DocumentRoles, Role};
use copydesk_ids::{DocumentId, TokenId, UserId};
use copydesk_macros::boxed;
use copydesk_placement::PeerMessage;
use copydesk_store::{AuditEntry, DocumentRoleRecord, Grantee, LoginRecord, StoreOp, WriteBatch};

use super::{AuthError, AuthResult, Authenticator};

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
fn checked(grantee: Grantee) -> AuthResult<Grantee> {
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

#[boxed]
impl Authenticator {
    /// Returns the roles that the person of a login was given, as far as a token for `only`
    /// reaches.
    pub(super) async fn granted(
        &self,
        login: Option<&UserId>,
        only: Option<&DocumentId>,
    ) -> AuthResult<DocumentRoles> {
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
    pub async fn roles_in(&self, document: &DocumentId) -> AuthResult<Vec<DocumentRoleRecord>> {
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
    pub async fn give_role(
        &self,
        document: &DocumentId,
        grantee: Grantee,
        role: Role,
        by: &UserId,
        now_ms: u64,
    ) -> AuthResult<DocumentRoleRecord> {
        if !role.is_for_one_document() {
            return Err(AuthError::NotForOneDocument);
        }
        let grantee = checked(grantee)?;
        if let Grantee::Login(user) = &grantee
            && self.store.login(user).await?.is_none()
        {
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
        let put = StoreOp::PutDocumentRole(record.clone());
        self.commit_role(WriteBatch::from(put).with(line), &record.grantee, now_ms).await?;
        Ok(record)
    }

    /// Takes the role in a document from a person or a group. It takes effect at once, and votes of
    /// people who may no longer decide count no more.
    ///
    /// # Errors
    /// [`AuthError::NoRole`] if they have none there.
    pub async fn take_role(
        &self,
        document: &DocumentId,
        grantee: Grantee,
        by: &UserId,
        now_ms: u64,
    ) -> AuthResult<()> {
        let grantee = checked(grantee)?;
        let known = self.store.roles_in(document).await?;
        let given = known.into_iter().find(|given| given.grantee == grantee);
        let given = given.ok_or(AuthError::NoRole)?;
        let line = audit("role.taken", &given, Some(given.role), by, now_ms);
        let remove =
            StoreOp::RemoveDocumentRole { document: document.clone(), grantee: grantee.clone() };
        let batch = WriteBatch::from(remove);
        self.commit_role(batch.with(line), &grantee, now_ms).await
    }

    /// Stores a change of a role; connections of the people who are meant end.
    async fn commit_role(
        &self,
        cause: WriteBatch,
        grantee: &Grantee,
        now_ms: u64,
    ) -> AuthResult<()> {
        let people = self.people_of(grantee).await?;
        let change = self.change_of(&people, now_ms).await?;
        self.commit_change(cause, change).await?;
        // A person may have come in for the first time meanwhile, with the role as it was.
        let mut late = self.people_of(grantee).await?;
        late.retain(|user| !people.contains(user));
        if late.is_empty() {
            return Ok(());
        }
        let change = self.change_of(&late, now_ms).await?;
        self.commit_change(WriteBatch::new(), change).await
    }

    /// Returns the people who have signed in and are meant.
    async fn people_of(&self, grantee: &Grantee) -> AuthResult<Vec<UserId>> {
        let logins = self.store.logins().await?.into_iter();
        Ok(logins.filter(|login| grantee.is(login)).map(|login| login.user).collect())
    }

    /// Returns the change of what these people may do.
    pub(super) async fn change_of(
        &self,
        people: &[UserId],
        now_ms: u64,
    ) -> AuthResult<RightsChange> {
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
    ) -> AuthResult<()> {
        let RightsChange { ops, ends } = change;
        let mut batch = cause;
        batch.extend(ops);
        self.store.commit(batch).await?;
        for (token, at_ms) in &ends {
            self.guards.end_before_change(token, *at_ms);
        }
        self.changes.send_modify(|count| *count += 1);
        self.placement.tell(&PeerMessage::Tokens).await;
        Ok(())
    }

    /// Stores what a provider says of a person today. If they have other roles in documents than
    /// before, because they changed their groups or their address, their connections end.
    pub(super) async fn update_login(
        &self,
        known: Option<&LoginRecord>,
        today: LoginRecord,
        now_ms: u64,
    ) -> AuthResult<()> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AccessEnd, LoginIdentity, LoginRoles, SignInPolicy, deciders, holders, with_current_rights,
    };
    use copydesk_ids::permissions::Action;
    use copydesk_store::{DocumentRecord, Store};

    const NOW: u64 = 1_000_000;

    /// Rules that are meant for no one here.
    fn policy() -> SignInPolicy {
        let roles = LoginRoles::read(&["editor=group:writers".to_owned()]).unwrap();
        SignInPolicy { roles, lifetime_ms: 1_000, url: String::new() }
    }

    fn gus(groups: &[&str]) -> LoginIdentity {
        LoginIdentity {
            issuer: "https://id.example".into(),
            subject: "gus".into(),
            name: Some("Gus".into()),
            email: Some("Gus@Press.example".into()),
            groups: groups.iter().map(ToString::to_string).collect(),
        }
    }

    async fn auth() -> Authenticator {
        let store = Store::in_memory().await.unwrap();
        for id in ["doc_1", "doc_2"] {
            let record = DocumentRecord::new(id.into(), "Letter".to_owned(), NOW);
            store.commit(StoreOp::CreateDocument { record, text: String::new() }).await.unwrap();
        }
        Authenticator::new(store)
    }

    fn by_email() -> Grantee {
        Grantee::Email(" gus@PRESS.example".into())
    }

    async fn give(auth: &Authenticator, grantee: Grantee, role: Role, now_ms: u64) {
        let owner = Authenticator::owner().user;
        auth.give_role(&"doc_1".into(), grantee, role, &owner, now_ms).await.unwrap();
    }

    #[tokio::test]
    async fn a_given_role_counts_wherever_people_are_asked_for_and_ends_with_it() {
        let (auth, here) = (auth().await, DocumentId::from("doc_1"));
        give(&auth, by_email(), Role::Reviewer, NOW).await;
        let issued = auth.sign_in(&gus(&[]), &policy(), NOW).await.unwrap();
        let user = issued.principal.user.clone();
        assert_eq!(issued.principal.role, Role::Guest);
        let admitted = auth.admit(issued.secret.expose(), NOW).await.unwrap();
        assert_eq!(*admitted.principal(), issued.principal);
        assert!(admitted.principal().may(Action::Decide, Some(&here)));
        let store = &auth.store;
        let can_decide = async |now_ms| {
            let able = deciders(store, &here, Action::Decide, now_ms).await.unwrap();
            let all = holders(store, now_ms).await.unwrap();
            let now = with_current_rights(store, &issued.principal, now_ms).await.unwrap();
            let may = now.may(Action::Decide, Some(&here));
            assert_eq!(able.contains(&user), may);
            assert_eq!(all.iter().any(|it| it.may(Action::Decide, Some(&here))), may);
            assert!(!now.may(Action::Read, None));
            may
        };
        assert!(can_decide(NOW).await);
        give(&auth, by_email(), Role::Viewer, NOW + 1).await;
        assert_eq!(admitted.check(NOW + 1), Err(AccessEnd::Changed { at_ms: NOW + 1 }));
        assert!(!can_decide(NOW + 1).await);
        // The clock stands still, and the change is later all the same.
        let admitted = auth.admit(issued.secret.expose(), NOW + 1).await.unwrap();
        let owner = Authenticator::owner().user;
        auth.take_role(&here, by_email(), &owner, NOW + 1).await.unwrap();
        assert_eq!(admitted.check(NOW + 1), Err(AccessEnd::Changed { at_ms: NOW + 2 }));
        let twice = auth.take_role(&here, by_email(), &owner, NOW + 1).await;
        assert!(matches!(twice, Err(AuthError::NoRole)), "{twice:?}");
        let nothing = auth.verify(issued.secret.expose(), NOW + 1).await.unwrap();
        assert!(nothing.principal.granted.is_empty());
        // A run that was asked for before goes on without them.
        let asked = issued.principal;
        assert!(asked.may(Action::Decide, Some(&here)));
        let now = with_current_rights(store, &asked, NOW + 2).await.unwrap();
        assert!(!now.may(Action::Read, Some(&here)));
    }

    #[tokio::test]
    async fn groups_are_those_of_the_last_sign_in_also_of_one_that_was_refused() {
        let auth = auth().await;
        give(&auth, Grantee::Group("press".into()), Role::Editor, NOW).await;
        let first = auth.sign_in(&gus(&["press"]), &policy(), NOW).await.unwrap();
        let tied = crate::TokenGrant::read(Role::Viewer, "Link", None, None, NOW).unwrap();
        let owner = Authenticator::owner().user;
        let tied = auth.issue(tied, &owner, NOW).await.unwrap();
        auth.tie(&tied.token, &first.principal.user, &owner, NOW).await.unwrap();
        let here = DocumentId::from("doc_1");
        let link = auth.admit(tied.secret.expose(), NOW).await.unwrap();
        assert_eq!(link.principal().role_in(Some(&here)), Role::Editor);
        auth.sign_in(&gus(&["press", "more"]), &policy(), NOW + 5).await.unwrap();
        assert_eq!(link.check(NOW + 5), Ok(()), "nothing has changed in a document");
        let refused = auth.sign_in(&gus(&["more", "a\0b"]), &policy(), NOW + 9).await;
        assert!(matches!(refused, Err(AuthError::NotAdmitted)), "{refused:?}");
        assert_eq!(link.check(NOW + 9), Err(AccessEnd::Changed { at_ms: NOW + 9 }));
        let link = auth.verify(tied.secret.expose(), NOW + 9).await.unwrap();
        assert_eq!(link.principal.role_in(Some(&here)), Role::Viewer);
        let login = auth.logins().await.unwrap().remove(0);
        assert_eq!((login.groups, login.signed_in_ms), (vec!["more".to_owned()], NOW + 5));
    }

    #[tokio::test]
    async fn what_no_owner_can_give_gives_nothing_if_it_is_stored() {
        let auth = auth().await;
        let record = DocumentRoleRecord {
            document: "doc_1".into(),
            grantee: Grantee::Email("gus@press.example".into()),
            role: Role::Owner,
            given_by: Authenticator::owner().user,
            given_ms: NOW,
        };
        auth.store.commit(StoreOp::PutDocumentRole(record)).await.unwrap();
        let issued = auth.sign_in(&gus(&[]), &policy(), NOW).await.unwrap();
        assert!(issued.principal.granted.is_empty());
        assert!(!issued.principal.may(Action::Read, Some(&"doc_1".into())));
    }

    #[tokio::test]
    async fn a_document_is_shared_with_so_many_people_that_a_list_can_be_read() {
        let auth = auth().await;
        for number in 0..MOST_GRANTEES {
            give(&auth, Grantee::Group(format!("group {number}")), Role::Viewer, NOW).await;
        }
        let owner = Authenticator::owner().user;
        let more = Grantee::Group("one more".into());
        let refused = auth.give_role(&"doc_1".into(), more, Role::Viewer, &owner, NOW).await;
        assert!(matches!(refused, Err(AuthError::TooManyGrantees { .. })), "{refused:?}");
        // Those who are listed can have another role.
        give(&auth, Grantee::Group("group 7".into()), Role::Editor, NOW).await;
        assert_eq!(auth.roles_in(&"doc_1".into()).await.unwrap().len(), MOST_GRANTEES);
    }

    #[test]
    fn an_address_or_a_group_that_cannot_be_is_refused() {
        let long = format!("{}@press.example", "g".repeat(LONGEST_ADDRESS));
        for wrong in ["", "gus", "@press.example", "gus@", "g us@press.example", "g\n@p", &long] {
            assert!(checked(Grantee::Email(wrong.to_owned())).is_err(), "{wrong:?}");
        }
        for wrong in ["", " ", "a\tb", &"g".repeat(LONGEST_GROUP + 1)] {
            assert!(checked(Grantee::Group(wrong.to_owned())).is_err(), "{wrong:?}");
        }
        let kept = checked(Grantee::Group(" /staff/Press ".into())).unwrap();
        assert_eq!(kept, Grantee::Group("/staff/Press".into()));
    }
}
