//! Stories about who is let in.

use crate::ids::Version;
use crate::store::DocumentRecord;
use crate::who::Action;

use super::*;

const NOW: u64 = 1_000_000;

async fn auth() -> Auth {
    Auth::new(Store::in_memory().await.unwrap())
}

fn grant(role: Role) -> Grant {
    Grant { role, name: "Anna".to_owned(), document: None, expires_ms: None, user: None }
}

async fn with_document(id: &str) -> Auth {
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
    };
    auth.store.commit(Op::CreateDocument { record, text: String::new() }).await.unwrap();
    auth
}

#[tokio::test]
async fn an_issued_token_lets_its_person_in() {
    let auth = auth().await;
    let issued = auth.issue(grant(Role::Editor), &Auth::owner().user, NOW).await.unwrap();
    let verified = auth.verify(issued.secret.expose(), NOW).await.unwrap();
    assert_eq!(verified.principal, issued.principal);
    assert_eq!(verified.token, issued.token);
    assert!(verified.principal.may(Action::Write, None));
    assert!(!verified.principal.may(Action::Administer, None));
}

#[tokio::test]
async fn a_wrong_token_does_not() {
    let auth = auth().await;
    let issued = auth.issue(grant(Role::Editor), &Auth::owner().user, NOW).await.unwrap();
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
    let grant = Grant { expires_ms: Some(NOW + 10), ..grant(Role::Viewer) };
    let secret = auth.issue(grant, &Auth::owner().user, NOW).await.unwrap().secret;
    let verified = auth.verify(secret.expose(), NOW + 9).await.unwrap();
    assert_eq!(verified.expires_ms, Some(NOW + 10));
    let refused = auth.verify(secret.expose(), NOW + 10).await;
    assert!(matches!(refused, Err(AuthError::Expired { at_ms }) if at_ms == NOW + 10));
}

#[tokio::test]
async fn a_revoked_token_stops_working() {
    let auth = auth().await;
    let owner = Auth::owner().user;
    let issued = auth.issue(grant(Role::Editor), &owner, NOW).await.unwrap();
    auth.revoke(&issued.token, &owner, NOW + 1).await.unwrap();
    auth.revoke(&issued.token, &owner, NOW + 2).await.unwrap();
    let refused = auth.verify(issued.secret.expose(), NOW + 3).await;
    assert!(matches!(refused, Err(AuthError::Revoked { at_ms }) if at_ms == NOW + 1));
    let unknown = auth.revoke(&"tok_none".into(), &owner, NOW).await;
    assert!(matches!(unknown, Err(AuthError::Unknown)), "{unknown:?}");
}

#[tokio::test]
async fn a_token_for_one_document_reaches_nothing_else() {
    let auth = with_document("doc_a").await;
    let bound = Grant { document: Some("doc_a".into()), ..grant(Role::Editor) };
    let secret = auth.issue(bound, &Auth::owner().user, NOW).await.unwrap().secret;
    let person = auth.verify(secret.expose(), NOW).await.unwrap().principal;
    assert!(person.may(Action::Write, Some(&"doc_a".into())));
    assert!(!person.may(Action::Read, Some(&"doc_b".into())));
    assert!(!person.may(Action::Create, None));
}

#[tokio::test]
async fn a_token_for_a_document_needs_the_document_and_no_owner() {
    let auth = with_document("doc_a").await;
    let owner = Auth::owner().user;
    let missing = Grant { document: Some("doc_b".into()), ..grant(Role::Editor) };
    let refused = auth.issue(missing, &owner, NOW).await;
    assert!(matches!(refused, Err(AuthError::NoDocument(_))), "{refused:?}");
    let bound = Grant { document: Some("doc_a".into()), ..grant(Role::Owner) };
    let refused = auth.issue(bound, &owner, NOW).await;
    assert!(matches!(refused, Err(AuthError::BoundOwner)), "{refused:?}");
    assert!(auth.tokens().await.unwrap().is_empty());
}

#[tokio::test]
async fn two_tokens_can_be_the_same_person() {
    let auth = auth().await;
    let owner = Auth::owner().user;
    let first = auth.issue(grant(Role::Editor), &owner, NOW).await.unwrap();
    let stranger = auth.issue(grant(Role::Editor), &owner, NOW).await.unwrap();
    let again = Grant {
        user: Some(first.principal.user.clone()),
        name: "Anna B.".to_owned(),
        ..grant(Role::Viewer)
    };
    let again = auth.issue(again, &owner, NOW + 1).await.unwrap();
    assert_eq!(first.principal.user, again.principal.user);
    assert_ne!(first.principal.user, stranger.principal.user);
    assert_ne!(first.secret, again.secret);
    let names = auth.names().await.unwrap();
    assert_eq!((names.len(), names[&first.principal.user].as_str()), (2, "Anna B."));
}

#[tokio::test]
async fn the_store_never_sees_a_secret() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), crate::store::Access::Serve).await.unwrap();
    let auth = Auth::new(store.clone());
    let issued = auth.issue(grant(Role::Editor), &Auth::owner().user, NOW).await.unwrap();
    let chosen = Secret::chosen("correct-horse").unwrap();
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
    let owner = Auth::owner().user;
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
    let (old, new) = (Secret::generate().unwrap(), Secret::chosen(" mine \n").unwrap());
    auth.set_owner(&old, NOW).await.unwrap();
    auth.set_owner(&old, NOW + 1).await.unwrap();
    assert_eq!(auth.verify(old.expose(), NOW).await.unwrap().principal, Auth::owner());
    auth.set_owner(&new, NOW + 2).await.unwrap();
    assert_eq!(auth.verify("mine", NOW).await.unwrap().principal, Auth::owner());
    assert!(matches!(auth.verify(old.expose(), NOW).await, Err(AuthError::Unknown)));
    let locked_out = auth.revoke(&OWNER_TOKEN.into(), &Auth::owner().user, NOW).await;
    assert!(matches!(locked_out, Err(AuthError::OwnerStays)), "{locked_out:?}");
    let lines = auth.store.audit(None, None, 9).await.unwrap();
    assert_eq!(lines.len(), 2, "a restart with the same secret is no event");
}

#[tokio::test]
async fn nobody_becomes_the_owner_by_accident() {
    let auth = auth().await;
    let issued = auth.issue(grant(Role::Viewer), &Auth::owner().user, NOW).await.unwrap();
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
    let (one, two) = (Secret::generate().unwrap(), Secret::generate().unwrap());
    assert_ne!(one, two);
    assert_eq!(one.expose().len(), "cdk_".len() + 43);
    assert_eq!(Secret::chosen(one.expose()).unwrap(), one);
    let base64 = Secret::chosen("ab+/c==").unwrap();
    assert_eq!((base64.expose(), &*base64.in_link()), ("ab+/c==", "ab%2B%2Fc%3D%3D"));
    assert_eq!(one.in_link(), one.expose());
    for unusable in ["", "  ", "two words", "ä", "a#b", "a\nb"] {
        assert!(matches!(Secret::chosen(unusable), Err(AuthError::Unusable)), "{unusable:?}");
    }
}
