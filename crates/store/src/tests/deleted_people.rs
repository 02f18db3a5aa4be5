//! Deletion of people: who is deleted has no way back in, and the log of decisions lets one change
//! pass.

use serde_json::{Value, json};

use copydesk_ids::permissions::{DELETED_PERSON, Role};
use copydesk_ids::{SessionId, UserId};

use super::*;

on_both_databases!(
    rows_are_found_wherever_they_are_in_a_long_table,
    a_decision_is_given_the_neutral_name_of_a_deleted_person_and_no_other,
    nothing_new_is_stored_of_someone_who_is_deleted,
);

fn deletion(user: &UserId) -> PersonDeletion {
    let (person, users) = (user.clone(), vec![user.clone()]);
    PersonDeletion { person, users, begun_ms: 5, ended_ms: None, body: json!({"names": ["Ana"]}) }
}

fn begins(user: &UserId) -> StoreOp {
    StoreOp::BeginPersonDeletion(deletion(user))
}

async fn a_decision_is_given_the_neutral_name_of_a_deleted_person_and_no_other(
    database: TestDatabase,
) {
    let store = database.store().await;
    let ana = UserId::from("usr_ana");
    let decision = DecisionRecord {
        request: "req_1".into(),
        hunk: None,
        user: ana.clone(),
        name: "Ana".to_owned(),
        at_ms: 1,
        body: json!({}),
    };
    let request = RequestRecord {
        id: "req_1".into(),
        document: None,
        session: "ses_1".into(),
        run: "run_1".into(),
        status: "approved".to_owned(),
        open: false,
        created_ms: 1,
        expires_ms: None,
        decided_ms: None,
        body: "{}".to_owned(),
        changed: Vec::new(),
    };
    let batch = WriteBatch::from(StoreOp::PutRequest(request));
    store.commit(batch.with(StoreOp::AppendDecision(decision))).await.unwrap();
    let renames = format!("UPDATE decisions SET name = '{DELETED_PERSON}'");
    assert!(database.run(&store, &renames).await.is_err(), "no one is deleted");
    store.commit(begins(&ana)).await.unwrap();
    for other in [
        "UPDATE decisions SET name = 'Ben'",
        "UPDATE decisions SET name = 'Deleted person', at_ms = 2",
        "UPDATE decisions SET name = 'Deleted person', user_id = 'usr_ben'",
        "UPDATE decisions SET name = 'Deleted person', body = '[]'",
        "DELETE FROM decisions",
    ] {
        assert!(database.run(&store, other).await.is_err(), "{other}");
    }
    assert_eq!(store.names_of_decider(&ana).await.unwrap(), ["Ana"]);
    let search = PersonSearch::OwnedBy(&ana);
    let rows = store.person_rows(PersonTable::Decisions, search, None, 10).await.unwrap();
    let rename = |row: PersonRow| {
        let op = PersonRowOp::RenameDecision(row.key);
        StoreOp::ChangePersonRow(op)
    };
    store.commit(rows.into_iter().map(rename).collect::<WriteBatch>()).await.unwrap();
    let stored = store.decisions(&"req_1".into()).await.unwrap();
    assert_eq!(stored[0].name, DELETED_PERSON);
    assert!(store.person_rows(PersonTable::Decisions, search, None, 10).await.unwrap().is_empty());
    store.close().await;
}

async fn nothing_new_is_stored_of_someone_who_is_deleted(database: TestDatabase) {
    let store = database.store().await;
    let ana = UserId::from("usr_ana");
    let token = |id: &str| TokenRecord {
        id: id.into(),
        hash: format!("hash of {id}"),
        user: ana.clone(),
        name: "Ana".to_owned(),
        role: Role::Editor,
        document: None,
        created_ms: 1,
        expires_ms: None,
        revoked_ms: None,
        used_ms: None,
        login: None,
        former_user: None,
        changed_ms: None,
    };
    store.commit(StoreOp::PutToken(token("tok_first"))).await.unwrap();
    let session = SessionRecord::begin(ana.clone(), 1);
    store.commit(StoreOp::PutSession(session.clone())).await.unwrap();
    store.commit(begins(&ana)).await.unwrap();
    let again = store.commit(begins(&ana)).await;
    assert!(matches!(again, Err(StoreError::Exists { .. })), "{again:?}");
    assert!(store.commit(StoreOp::PutToken(token("tok_again"))).await.is_err());
    store.commit(StoreOp::PutSession(SessionRecord::begin(ana.clone(), 6))).await.unwrap();
    let run = RunRecord {
        id: RunRecord::key(&session.id, &"run_1".into()),
        session: session.id.clone(),
        document: None,
        user: ana.clone(),
        state: RunState::Queued,
        body: json!({"name": "Ana"}),
        created_ms: 6,
        finished_ms: None,
    };
    assert!(store.commit(StoreOp::PutRun(run)).await.is_err());
    let counts = store.person_counts(std::slice::from_ref(&ana)).await.unwrap();
    assert_eq!((counts.tokens, counts.sessions, counts.runs), (1, 1, 0));
    let names = store.names_of(std::slice::from_ref(&ana)).await.unwrap();
    assert_eq!(names[&ana], DELETED_PERSON);
    assert_eq!(store.person_deletions_under_way().await.unwrap(), [deletion(&ana)]);
    let ended = PersonDeletion { ended_ms: Some(9), body: json!({}), ..deletion(&ana) };
    store.commit(StoreOp::PutPersonDeletion(ended.clone())).await.unwrap();
    assert!(store.person_deletions_under_way().await.unwrap().is_empty());
    assert_eq!(store.person_deletion(&ana).await.unwrap(), Some(ended));
    store.close().await;
}

async fn rows_are_found_wherever_they_are_in_a_long_table(database: TestDatabase) {
    let store = database.store().await;
    let (session, document) = (SessionId::from("ses_long"), Some(DocumentId::from("doc_long")));
    for from in [0_u64, 600] {
        let message = |number: u64| {
            let names_her = [3, 499, 500, 777, 1_199].contains(&number);
            let name = if names_her { "50% of_Ana" } else { "500 of Ana" };
            let (role, body) = ("user".to_owned(), json!({"name": name, "number": number}));
            MessageRecord { role, body, at_ms: number }
        };
        let messages = (from..from + 600).map(message).collect();
        let (session, document) = (session.clone(), document.clone());
        store.commit(StoreOp::AppendMessages { session, document, messages }).await.unwrap();
    }
    let search = PersonSearch::Naming("50% of_Ana");
    let (mut after, mut found): (Option<RowKey>, Vec<String>) = (None, Vec::new());
    loop {
        let rows = store.person_rows(PersonTable::Messages, search, after.as_ref(), 2).await;
        let rows = rows.unwrap();
        assert!(rows.len() <= 2 && rows.iter().all(|row| row.role == "user"));
        let Some(last) = rows.last() else { break };
        after = Some(last.key.clone());
        found.extend(rows.into_iter().map(|row| row.body));
    }
    let numbers: Vec<_> = found
        .iter()
        .map(|body| serde_json::from_str::<Value>(body).unwrap()["number"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [3, 499, 500, 777, 1_199]);
    store.close().await;
}
