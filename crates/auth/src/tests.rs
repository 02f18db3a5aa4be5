//! Stories about who is let in.

use copydesk_ids::Version;
use copydesk_ids::permissions::Action;
use copydesk_store::{DocumentRecord, PersonDeletion};

use super::*;

const NOW: u64 = 1_000_000;

async fn auth() -> Authenticator {
    Authenticator::new(Store::in_memory().await.unwrap())
}

fn grant(role: Role) -> TokenGrant {
    TokenGrant { role, name: "Anna".to_owned(), document: None, expires_ms: None, user: None }
}

async fn with_document(id: &str) -> Authenticator {
    let auth = auth().await;
    let record = DocumentRecord {
        id: id.into(),
        title: "Letter".to_owned(),
        created_ms: NOW,
        updated_ms: NOW,
        version: Version(0),
        settings: json!({}),
        unlisted_owner: None,
        deleted: false,
        purged: false,
    };
    auth.store.commit(StoreOp::CreateDocument { record, text: String::new() }).await.unwrap();
    auth
}

#[tokio::test]
async fn an_issued_token_lets_its_person_in() {
    let auth = auth().await;
    let issued = auth.issue(grant(Role::Editor), &Authenticator::owner().user, NOW).await.unwrap();
    let verified = auth.verify(issued.secret.expose(), NOW).await.unwrap();
    assert_eq!(verified.principal, issued.principal);
    assert_eq!(verified.token, issued.token);
    assert!(verified.principal.may(Action::Write, None));
    assert!(!verified.principal.may(Action::Administer, None));
}

#[tokio::test]
async fn a_wrong_token_does_not() {
    let auth = auth().await;
    let issued = auth.issue(grant(Role::Editor), &Authenticator::owner().user, NOW).await.unwrap();
    let mut shorter = issued.secret.expose().to_owned();
    shorter.pop();
    let hash = token::hash(issued.secret.expose());
    for wrong in ["", "cdk_", "guess", &shorter, &hash, issued.token.as_str()] {
        let refused = auth.verify(wrong, NOW).await;
        assert!(matches!(refused, Err(AuthError::Unknown)), "{wrong}: {refused:?}");
    }
}

#[tokio::test]
async fn a_token_works_until_it_expires() {
    let auth = auth().await;
    let grant = TokenGrant { expires_ms: Some(NOW + 10), ..grant(Role::Viewer) };
    let secret = auth.issue(grant, &Authenticator::owner().user, NOW).await.unwrap().secret;
    let verified = auth.verify(secret.expose(), NOW + 9).await.unwrap();
    assert_eq!(verified.expires_ms, Some(NOW + 10));
    let refused = auth.verify(secret.expose(), NOW + 10).await;
    assert!(matches!(refused, Err(AuthError::Expired { at_ms }) if at_ms == NOW + 10));
}

#[tokio::test]
async fn a_revoked_token_stops_working() {
    let auth = auth().await;
    let owner = Authenticator::owner().user;
    let issued = auth.issue(grant(Role::Editor), &owner, NOW).await.unwrap();
    auth.revoke(&issued.token, &owner, NOW + 1).await.unwrap();
    auth.revoke(&issued.token, &owner, NOW + 2).await.unwrap();
    let refused = auth.verify(issued.secret.expose(), NOW + 3).await;
    assert!(matches!(refused, Err(AuthError::Revoked { at_ms }) if at_ms == NOW + 1));
    let unknown = auth.revoke(&"tok_none".into(), &owner, NOW).await;
    assert!(matches!(unknown, Err(AuthError::NoToken(_))), "{unknown:?}");
}

#[tokio::test]
async fn a_token_for_one_document_reaches_nothing_else() {
    let auth = with_document("doc_a").await;
    let bound = TokenGrant { document: Some("doc_a".into()), ..grant(Role::Editor) };
    let secret = auth.issue(bound, &Authenticator::owner().user, NOW).await.unwrap().secret;
    let person = auth.verify(secret.expose(), NOW).await.unwrap().principal;
    assert!(person.may(Action::Write, Some(&"doc_a".into())));
    assert!(!person.may(Action::Read, Some(&"doc_b".into())));
    assert!(!person.may(Action::Create, None));
}

#[tokio::test]
async fn a_token_for_a_document_needs_the_document_and_no_owner() {
    let auth = with_document("doc_a").await;
    let owner = Authenticator::owner().user;
    let missing = TokenGrant { document: Some("doc_b".into()), ..grant(Role::Editor) };
    let refused = auth.issue(missing, &owner, NOW).await;
    assert!(matches!(refused, Err(AuthError::NoDocument(_))), "{refused:?}");
    let bound = TokenGrant { document: Some("doc_a".into()), ..grant(Role::Owner) };
    let refused = auth.issue(bound, &owner, NOW).await;
    assert!(matches!(refused, Err(AuthError::BoundOwner)), "{refused:?}");
    assert!(auth.tokens().await.unwrap().is_empty());
}

#[tokio::test]
async fn two_tokens_can_be_the_same_person() {
    let auth = auth().await;
    let owner = Authenticator::owner().user;
    let first = auth.issue(grant(Role::Editor), &owner, NOW).await.unwrap();
    let stranger = auth.issue(grant(Role::Editor), &owner, NOW).await.unwrap();
    let again = TokenGrant {
        user: Some(first.principal.user.clone()),
        name: "Anna B.".to_owned(),
        ..grant(Role::Viewer)
    };
    let again = auth.issue(again, &owner, NOW + 1).await.unwrap();
    assert_eq!(first.principal.user, again.principal.user);
    assert_ne!(first.principal.user, stranger.principal.user);
    assert_ne!(first.secret, again.secret);
    let people = [first.principal.user.clone(), stranger.principal.user.clone()];
    let names = auth.names(&people).await.unwrap();
    assert_eq!((names.len(), names[&first.principal.user].as_str()), (2, "Anna B."));
}

#[tokio::test]
async fn the_store_never_sees_a_secret() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), copydesk_store::StoreAccess::Serve).await.unwrap();
    let auth = Authenticator::new(store.clone());
    let issued = auth.issue(grant(Role::Editor), &Authenticator::owner().user, NOW).await.unwrap();
    let chosen = TokenSecret::chosen("correct-horse").unwrap();
    auth.set_owner(&chosen, NOW).await.unwrap();
    store.close().await;
    for file in directory.path().read_dir().unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        for secret in [&issued.secret, &chosen] {
            let secret = secret.expose().as_bytes();
            assert!(!bytes.windows(secret.len()).any(|window| window == secret));
        }
    }
    assert!(!format!("{issued:?}").contains(issued.secret.expose()));
}

#[tokio::test]
async fn issuing_and_revoking_are_in_the_audit_log() {
    let auth = auth().await;
    let owner = Authenticator::owner().user;
    let issued = auth.issue(grant(Role::Reviewer), &owner, NOW).await.unwrap();
    auth.revoke(&issued.token, &owner, NOW + 1).await.unwrap();
    let lines = auth.store.audit(None, None, 9).await.unwrap();
    let actions: Vec<_> = lines.iter().map(|line| line.entry.action.as_str()).collect();
    assert_eq!(actions, ["token.revoked", "token.issued"]);
    assert_eq!(lines[1].entry.detail["role"], "reviewer");
    assert_eq!(lines[1].entry.actor, owner.as_str());
}

#[tokio::test]
async fn the_owner_is_one_person_with_one_secret() {
    let auth = auth().await;
    let (old, new) = (TokenSecret::generate().unwrap(), TokenSecret::chosen(" mine \n").unwrap());
    auth.set_owner(&old, NOW).await.unwrap();
    auth.set_owner(&old, NOW + 1).await.unwrap();
    assert_eq!(auth.verify(old.expose(), NOW).await.unwrap().principal, Authenticator::owner());
    auth.set_owner(&new, NOW + 2).await.unwrap();
    assert_eq!(auth.verify("mine", NOW).await.unwrap().principal, Authenticator::owner());
    assert!(matches!(auth.verify(old.expose(), NOW).await, Err(AuthError::Unknown)));
    let locked_out = auth.revoke(&OWNER_TOKEN.into(), &Authenticator::owner().user, NOW).await;
    assert!(matches!(locked_out, Err(AuthError::OwnerStays)), "{locked_out:?}");
    let lines = auth.store.audit(None, None, 9).await.unwrap();
    assert_eq!(lines.len(), 2, "a restart with the same secret is no event");
}

#[tokio::test]
async fn the_owner_keeps_the_name_with_a_new_secret() {
    let auth = auth().await;
    let (old, new) = (TokenSecret::chosen("old").unwrap(), TokenSecret::chosen("new").unwrap());
    auth.set_owner(&old, NOW).await.unwrap();
    let by = Authenticator::owner().user;
    assert_eq!(auth.name(&OWNER_TOKEN.into(), " Olga ", &by, NOW).await.unwrap(), "Olga");
    auth.set_owner(&new, NOW + 1).await.unwrap();
    assert_eq!(auth.verify("new", NOW + 1).await.unwrap().principal.name, "Olga");
    let nameless = auth.name(&OWNER_TOKEN.into(), " ", &by, NOW).await;
    assert!(matches!(nameless, Err(AuthError::Nameless)), "{nameless:?}");
    let unknown = auth.name(&"tok_none".into(), "Bo", &by, NOW).await;
    assert!(matches!(unknown, Err(AuthError::NoToken(_))), "{unknown:?}");
}

#[tokio::test]
async fn no_one_becomes_the_owner_by_accident() {
    let auth = auth().await;
    let issued = auth.issue(grant(Role::Viewer), &Authenticator::owner().user, NOW).await.unwrap();
    let refused = auth.set_owner(&issued.secret, NOW).await;
    assert!(matches!(refused, Err(AuthError::Taken(token)) if token == issued.token));
}

#[test]
fn a_restart_prints_the_same_link() {
    let data = tempfile::tempdir().unwrap();
    let first = owner_secret(data.path()).unwrap();
    assert_eq!(owner_secret(data.path()).unwrap(), first);
    let elsewhere = tempfile::tempdir().unwrap();
    assert_ne!(owner_secret(elsewhere.path()).unwrap(), first);
}

#[cfg(unix)]
#[test]
fn the_owners_file_is_private_even_when_it_was_not() {
    use std::os::unix::fs::PermissionsExt as _;
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("owner.token");
    let mode = || file.metadata().unwrap().permissions().mode() & 0o777;
    owner_secret(data.path()).unwrap();
    assert_eq!(mode(), 0o600);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    owner_secret(data.path()).unwrap();
    assert_eq!(mode(), 0o600);
}

#[test]
fn a_damaged_owners_file_is_refused_not_replaced() {
    let data = tempfile::tempdir().unwrap();
    std::fs::write(data.path().join("owner.token"), "\n").unwrap();
    assert!(matches!(owner_secret(data.path()), Err(AuthError::Unusable)));
}

#[test]
fn secrets_are_long_random_and_fit_into_a_link() {
    let (one, two) = (TokenSecret::generate().unwrap(), TokenSecret::generate().unwrap());
    assert_ne!(one, two);
    assert_eq!(one.expose().len(), "cdk_".len() + 43);
    assert_eq!(TokenSecret::chosen(one.expose()).unwrap(), one);
    let base64 = TokenSecret::chosen("ab+/c==").unwrap();
    assert_eq!((base64.expose(), &*base64.in_link()), ("ab+/c==", "ab%2B%2Fc%3D%3D"));
    assert_eq!(one.in_link(), one.expose());
    for unusable in ["", "  ", "two words", "ä", "a#b", "a\nb"] {
        assert!(matches!(TokenSecret::chosen(unusable), Err(AuthError::Unusable)), "{unusable:?}");
    }
}

async fn admitted(auth: &Authenticator, expires_ms: Option<u64>) -> (NewToken, AccessGuard) {
    let grant = TokenGrant { expires_ms, ..grant(Role::Editor) };
    let issued = auth.issue(grant, &Authenticator::owner().user, NOW).await.unwrap();
    let pass = auth.admit(issued.secret.expose(), NOW).await.unwrap();
    (issued, pass)
}

#[tokio::test]
async fn a_revoked_token_ends_every_pass_at_once() {
    let auth = auth().await;
    let (issued, first) = admitted(&auth, None).await;
    let second = auth.clone().admit(issued.secret.expose(), NOW).await.unwrap();
    let (_, stranger) = admitted(&auth, None).await;
    assert_eq!(first.check(NOW), Ok(()));
    let mut changes = auth.changes();
    auth.revoke(&issued.token, &Authenticator::owner().user, NOW + 1).await.unwrap();
    let revoked = AccessEnd::Revoked { at_ms: NOW + 1 };
    assert_eq!((first.check(NOW + 1), second.ended().await), (Err(revoked), revoked));
    assert_eq!(stranger.check(NOW + 1), Ok(()));
    assert!(changes.has_changed().unwrap() && changes.changed().await.is_ok());
    let refused = auth.admit(issued.secret.expose(), NOW + 2).await;
    assert!(matches!(refused, Err(AuthError::Revoked { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_pass_ends_with_its_time_also_before_anybody_sweeps() {
    let auth = auth().await;
    let (_, pass) = admitted(&auth, Some(NOW + 10)).await;
    assert_eq!(pass.check(NOW + 9), Ok(()));
    assert_eq!(pass.check(NOW + 10), Err(AccessEnd::Expired { at_ms: NOW + 10 }));
    assert_eq!(pass.ended().await, AccessEnd::Expired { at_ms: NOW + 10 });
}

#[tokio::test]
async fn a_sweep_ends_what_ran_out_and_what_another_process_revoked() {
    let auth = auth().await;
    let (_, short) = admitted(&auth, Some(NOW + 10)).await;
    let (issued, long) = admitted(&auth, None).await;
    let (_, other) = admitted(&auth, None).await;
    let elsewhere = Authenticator::new(auth.store.clone());
    elsewhere.revoke(&issued.token, &Authenticator::owner().user, NOW + 5).await.unwrap();
    assert_eq!(long.check(NOW + 5), Ok(()), "no one has looked yet");
    auth.sweep(NOW + 10).await.unwrap();
    assert_eq!(short.ended().await, AccessEnd::Expired { at_ms: NOW + 10 });
    assert_eq!(long.ended().await, AccessEnd::Revoked { at_ms: NOW + 5 });
    assert_eq!(other.check(NOW + 10), Ok(()));
}

fn policy(rules: &[&str]) -> SignInPolicy {
    let texts: Vec<_> = rules.iter().map(ToString::to_string).collect();
    SignInPolicy {
        roles: LoginRoles::read(&texts).unwrap(),
        lifetime_ms: 1_000,
        url: String::new(),
    }
}

fn identity(subject: &str) -> LoginIdentity {
    LoginIdentity {
        issuer: "https://id.example".into(),
        subject: subject.into(),
        name: Some("Ana".into()),
        email: None,
        groups: Vec::new(),
    }
}

#[tokio::test]
async fn a_tied_token_is_the_person_of_the_login_and_who_came_in_before_comes_in_again() {
    let auth = auth().await;
    let owner = Authenticator::owner().user;
    let (link, before) = admitted(&auth, None).await;
    let signed_in = auth.sign_in(&identity("ana"), &policy(&["editor=anyone"]), NOW).await.unwrap();
    let login = signed_in.principal.user.clone();
    let elsewhere = Authenticator::new(auth.store.clone());
    let far = elsewhere.admit(signed_in.secret.expose(), NOW).await.unwrap();
    let stale = auth.verify(link.secret.expose(), NOW).await.unwrap();
    auth.tie(&link.token, &login, &owner, NOW + 1).await.unwrap();
    let changed = AccessEnd::Changed { at_ms: NOW + 1 };
    assert_eq!(before.check(NOW + 1), Err(changed));
    assert_eq!(far.check(NOW + 1), Ok(()), "no one has looked yet");
    elsewhere.sweep(NOW + 1).await.unwrap();
    assert_eq!(far.check(NOW + 1), Err(changed));
    let after = auth.admit(link.secret.expose(), NOW + 1).await.unwrap();
    assert_eq!((after.check(NOW + 1), &after.principal().user), (Ok(()), &login));
    assert!(after.principal().is(&link.principal.user), "she is still who she was");
    // A connection that was verified before the change and comes late is none, and harms no one.
    assert_eq!(auth.guards.guard_of(stale).check(NOW + 1), Err(changed));
    assert_eq!(after.check(NOW + 1), Ok(()));
    auth.revoke(&link.token, &owner, NOW + 2).await.unwrap();
    assert!(after.check(NOW + 2).is_err());
    let holders = holders(&auth.store, NOW + 2).await.unwrap();
    assert_eq!(holders.len(), 1);
    assert!(holders[0].is(&link.principal.user), "also once the tied token has ended");
}

#[tokio::test]
async fn a_person_has_few_sign_ins_and_ended_ones_are_not_kept() {
    let auth = auth().await;
    let sign_in = async |at_ms| {
        auth.sign_in(&identity("ana"), &policy(&["viewer=anyone"]), at_ms).await.unwrap()
    };
    let first = sign_in(NOW).await;
    for at_ms in 1..25 {
        sign_in(NOW + at_ms).await;
    }
    let refused = auth.verify(first.secret.expose(), NOW + 25).await;
    assert!(refused.is_err(), "the oldest has ended");
    assert_eq!(auth.store.tokens_in_force(NOW + 25).await.unwrap().len(), 20);
    sign_in(NOW + 2_000).await;
    assert_eq!(auth.tokens().await.unwrap().len(), 1);
    let refused = auth.sign_in(&identity("bo"), &policy(&["owner=subject:ana"]), NOW).await;
    assert!(matches!(refused, Err(AuthError::NotAdmitted)));
}

#[tokio::test]
async fn a_new_secret_of_the_owner_stays_with_the_login_it_was_tied_to() {
    let auth = auth().await;
    let owner = Authenticator::owner().user;
    auth.set_owner(&TokenSecret::chosen("one").unwrap(), NOW).await.unwrap();
    let login = auth.sign_in(&identity("ana"), &policy(&["editor=anyone"]), NOW).await.unwrap();
    let login = login.principal.user;
    auth.tie(&OWNER_TOKEN.into(), &login, &owner, NOW).await.unwrap();
    auth.set_owner(&TokenSecret::chosen("two").unwrap(), NOW + 1).await.unwrap();
    let verified = auth.verify("two", NOW + 1).await.unwrap();
    assert_eq!((verified.principal.user, verified.principal.role), (login, Role::Owner));
}

#[tokio::test]
async fn a_token_remembers_to_the_minute_when_it_was_used() {
    let auth = auth().await;
    let (issued, _) = admitted(&auth, None).await;
    let used = async || {
        let tokens = auth.tokens().await.unwrap();
        tokens.iter().find(|token| token.id == issued.token).and_then(|token| token.used_ms)
    };
    assert_eq!(used().await, Some(NOW));
    for (at_ms, remembered) in [(NOW + 59_999, NOW), (NOW + 60_000, NOW + 60_000)] {
        auth.verify(issued.secret.expose(), at_ms).await.unwrap();
        assert_eq!(used().await, Some(remembered));
    }
}

#[tokio::test]
async fn only_people_with_a_good_token_could_decide_and_may_go_on() {
    let auth = with_document("doc_a").await;
    let (store, owner) = (auth.store.clone(), Authenticator::owner().user);
    auth.set_owner(&TokenSecret::chosen("owner").unwrap(), NOW).await.unwrap();
    let (ana, _) = admitted(&auth, Some(NOW + 10)).await;
    let ana = ana.principal.user;
    auth.issue(grant(Role::Viewer), &owner, NOW).await.unwrap();
    let here = DocumentId::from("doc_a");
    let able = deciders(&store, &here, Action::Decide, NOW).await.unwrap();
    assert_eq!(able, [owner.clone(), ana.clone()].into());
    assert_eq!(
        deciders(&store, &here, Action::Decide, NOW + 10).await.unwrap(),
        [owner.clone()].into()
    );
    let may = async |user: &UserId, action, now_ms| {
        let admitted = Principal::new(user.clone(), "Anna", Role::Owner);
        let now = with_current_rights(&store, &admitted, now_ms).await.unwrap();
        now.may(action, Some(&here))
    };
    assert!(may(&ana, Action::Ask, NOW).await && !may(&ana, Action::Ask, NOW + 10).await);
    assert!(may(&owner, Action::Bypass, NOW).await && !may(&ana, Action::Bypass, NOW).await);
    assert!(!may(&"usr_nobody".into(), Action::Read, NOW).await);
}

#[tokio::test]
async fn there_are_never_more_tokens_than_people_can_look_through() {
    let auth = auth().await;
    let (issued, _) = admitted(&auth, None).await;
    let one = auth.tokens().await.unwrap().remove(0);
    let more = (1..MOST_TOKENS).map(|number| {
        let (id, hash) = (format!("tok_{number}").into(), format!("hash {number}"));
        StoreOp::PutToken(TokenRecord { id, hash, ..one.clone() })
    });
    auth.store.commit(more.collect::<WriteBatch>()).await.unwrap();
    let refused = auth.issue(grant(Role::Viewer), &Authenticator::owner().user, NOW).await;
    assert!(matches!(refused, Err(AuthError::TooMany { limit: MOST_TOKENS })), "{refused:?}");
    auth.revoke(&issued.token, &Authenticator::owner().user, NOW).await.unwrap();
    auth.issue(grant(Role::Viewer), &Authenticator::owner().user, NOW).await.unwrap();
}

#[tokio::test]
async fn a_deleted_person_is_not_let_in_and_gets_no_token() {
    let auth = auth().await;
    let owner = Authenticator::owner().user;
    let issued = auth.issue(grant(Role::Editor), &owner, NOW).await.unwrap();
    let person = issued.principal.user.clone();
    let users = vec![person.clone()];
    let deletion = PersonDeletion { person, users, begun_ms: NOW, ended_ms: None, body: json!({}) };
    auth.store.commit(StoreOp::BeginPersonDeletion(deletion)).await.unwrap();
    assert!(auth.verify(issued.secret.expose(), NOW + 1).await.is_err());
    let again = TokenGrant { user: Some(issued.principal.user), ..grant(Role::Editor) };
    assert!(auth.issue(again, &owner, NOW + 1).await.is_err());
}

#[test]
fn a_wish_for_a_token_is_read_strictly() {
    let read = |role: Role, name: &str, expires: Option<&str>| {
        TokenGrant::read(role, name, None, expires, NOW).map_err(|error| error.to_string())
    };
    let good = read(Role::Reviewer, " Bo\n", Some("1s")).unwrap();
    assert_eq!((good.role, good.name.as_str()), (Role::Reviewer, "Bo"));
    assert_eq!(good.expires_ms, Some(NOW + 1_000));
    assert_eq!(read(Role::Owner, "Bo", Some("never")).unwrap().expires_ms, None);
    for (name, expires) in [(" ", None), ("Bo", Some("x"))] {
        assert!(read(Role::Editor, name, expires).is_err(), "{name} {expires:?}");
    }
}

#[tokio::test]
async fn a_token_that_has_run_out_stays_so_when_the_clock_is_set_back() {
    let auth = auth().await;
    let ends = |at_ms| TokenGrant { expires_ms: Some(at_ms), ..grant(Role::Editor) };
    let by = Authenticator::owner().user;
    let (refused, swept, later) = (
        auth.issue(ends(NOW + 10), &by, NOW).await.unwrap(),
        auth.issue(ends(NOW + 10), &by, NOW).await.unwrap(),
        auth.issue(ends(NOW + 1_000), &by, NOW).await.unwrap(),
    );
    auth.verify(refused.secret.expose(), NOW + 10).await.unwrap_err();
    auth.sweep(NOW + 10).await.unwrap();
    for issued in [refused, swept] {
        let again = auth.verify(issued.secret.expose(), NOW).await;
        let ended_ms = NOW + 10;
        assert!(
            matches!(again, Err(AuthError::Expired { at_ms }) if at_ms == ended_ms),
            "{again:?}"
        );
    }
    auth.verify(later.secret.expose(), NOW).await.unwrap();
    let revoked = auth.revoke(&later.token, &by, NOW + 5).await;
    revoked.unwrap();
    let verified = auth.verify(later.secret.expose(), NOW).await;
    assert!(matches!(verified, Err(AuthError::Revoked { .. })), "{verified:?}");
}
