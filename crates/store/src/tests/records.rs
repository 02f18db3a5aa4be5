//! Written records are read back, and only those.

use super::*;

async fn a_document_is_its_snapshot_and_what_came_after(database: TestDatabase) {
    let store = database.store().await;
    store.commit(WriteBatch::from(create("doc_a")).with(append("doc_a", 0, 3))).await.unwrap();
    store.commit(snapshot("doc_a", 2, "two", 0)).await.unwrap();
    let loaded = store.load(&"doc_a".into()).await.unwrap().unwrap();
    assert_eq!((loaded.snapshot, loaded.text.as_str()), (Version(2), "two"));
    assert_eq!((loaded.record.version, loaded.record.updated_ms), (Version(3), 1_003));
    assert_eq!(loaded.updates.len(), 1);
    assert_eq!(&*loaded.updates[0].changes, "[3,[0,\"é\"]]");
    let earlier = store.load_at(&"doc_a".into(), Version(1)).await.unwrap().unwrap();
    assert_eq!((earlier.snapshot, earlier.text.as_str()), (Version(0), "Dear reader,\n"));
    assert_eq!((earlier.record.version, earlier.updates.len()), (Version(1), 1));
}

async fn a_text_may_have_any_characters(database: TestDatabase) {
    let store = database.store().await;
    let text = "a\0b \u{1F600} \u{FFFF} \u{7f}\n";
    let update = UpdateRecord {
        client: "c_1".into(),
        changes: json!([[0, text]]).to_string().into(),
        author: "usr_anna".into(),
        at_ms: 5,
        origin: None,
    };
    let append = StoreOp::AppendUpdates {
        document: "doc_a".into(),
        from: Version(0),
        updates: vec![update],
    };
    store.commit(WriteBatch::from(create("doc_a")).with(append)).await.unwrap();
    let loaded = store.load(&"doc_a".into()).await.unwrap().unwrap();
    assert_eq!(*loaded.updates[0].changes, *json!([[0, text]]).to_string());
    store.commit(snapshot("doc_a", 1, text, 9)).await.unwrap();
    let loaded = store.load(&"doc_a".into()).await.unwrap().unwrap();
    assert_eq!((loaded.snapshot, loaded.text.as_str()), (Version(1), text));
}

async fn the_first_snapshot_and_the_newest_few_are_kept(database: TestDatabase) {
    let store = database.store().await;
    store.commit(WriteBatch::from(create("doc_a")).with(append("doc_a", 0, 9))).await.unwrap();
    for version in 1..=9 {
        let text = version.to_string();
        store.commit(snapshot("doc_a", version, &text, 0)).await.unwrap();
    }
    let mut kept = Vec::new();
    for version in 0..=9 {
        let loaded = store.load_at(&"doc_a".into(), Version(version)).await.unwrap().unwrap();
        assert_eq!(loaded.updates.len() as u64, version - loaded.snapshot.0);
        kept.push(loaded.snapshot.0);
    }
    assert_eq!(kept, [0, 0, 0, 0, 0, 0, 6, 7, 8, 9]);
}

async fn updates_are_read_between_two_versions(database: TestDatabase) {
    let store = database.store().await;
    store.commit(WriteBatch::from(create("doc_a")).with(append("doc_a", 0, 4))).await.unwrap();
    let id = DocumentId::from("doc_a");
    let updates = store.updates(&id, Version(1), Version(3)).await.unwrap();
    let StoreOp::AppendUpdates { updates: written, .. } = append("doc_a", 1, 2) else {
        unreachable!()
    };
    assert_eq!(updates, written);
    let beyond = store.updates(&id, Version(3), Version(5)).await.unwrap_err();
    assert!(matches!(beyond, StoreError::Corrupt { .. }), "{beyond:?}");
}

async fn history_is_newest_first_and_paged(database: TestDatabase) {
    let store = database.store().await;
    store.commit(WriteBatch::from(create("doc_a")).with(append("doc_a", 0, 5))).await.unwrap();
    let id = DocumentId::from("doc_a");
    let versions = |page: Vec<HistoryRecord>| page.iter().map(|h| h.version.0).collect::<Vec<_>>();
    assert_eq!(versions(store.history(&id, None, 2).await.unwrap()), [5, 4]);
    assert_eq!(versions(store.history(&id, Some(Version(4)), 9).await.unwrap()), [3, 2, 1]);
    let StoreOp::AppendUpdates { updates, .. } = append("doc_a", 0, 1) else { unreachable!() };
    let first = store.history(&id, Some(Version(2)), 1).await.unwrap().remove(0);
    assert_eq!(first.changes, Some(updates[0].changes.clone()));
    let mut long = append("doc_a", 5, 1);
    let StoreOp::AppendUpdates { updates, .. } = &mut long else { unreachable!() };
    updates[0].changes = format!("[[0,\"{}\"]]", "x".repeat(9_000)).into();
    store.commit(WriteBatch::from(long)).await.unwrap();
    assert_eq!(store.history(&id, None, 1).await.unwrap()[0].changes, None);
}

async fn private_and_deleted_documents_are_not_listed(database: TestDatabase) {
    let store = database.store().await;
    let mut private = record("doc_private");
    private.unlisted_owner = Some("ses_1".into());
    let private_op = StoreOp::CreateDocument { record: private.clone(), text: String::new() };
    store
        .commit(WriteBatch::from(create("doc_a")).with(create("doc_b")).with(private_op))
        .await
        .unwrap();
    let gone = DocumentRecord { deleted: true, version: Version(77), ..record("doc_b") };
    store.commit(StoreOp::PutDocument(gone.clone())).await.unwrap();
    assert_eq!(store.documents(None, None, 9).await.unwrap(), [record("doc_a")]);
    assert_eq!(store.load(&"doc_b".into()).await.unwrap(), None);
    let kept = store.document(&"doc_b".into()).await.unwrap().unwrap();
    assert_eq!(kept.version, Version(0), "putting a document never moves its version");
    assert_eq!(store.private_document(&"ses_1".into()).await.unwrap(), Some(private));
    assert_eq!(store.private_document(&"ses_2".into()).await.unwrap(), None);
}

async fn a_document_is_created_once(database: TestDatabase) {
    let store = database.store().await;
    store.commit(create("doc_a")).await.unwrap();
    let again = store.commit(create("doc_a")).await;
    assert!(matches!(again, Err(StoreError::Exists { kind: "document", .. })), "{again:?}");
    let unknown = store.commit(StoreOp::PutDocument(record("doc_b"))).await;
    assert!(matches!(unknown, Err(StoreError::Missing { kind: "document", .. })), "{unknown:?}");
}

async fn an_editor_belongs_to_the_first_person_who_uses_it(database: TestDatabase) {
    let store = database.store().await;
    let claim = |user: &str| StoreOp::ClaimClient {
        document: "doc_a".into(),
        client: "c_1".into(),
        user: user.into(),
    };
    store.commit(WriteBatch::from(create("doc_a")).with(claim("usr_anna"))).await.unwrap();
    store.commit(claim("usr_anna")).await.unwrap();
    let stolen = store.commit(claim("usr_eve")).await;
    assert!(matches!(stolen, Err(StoreError::ClientTaken { .. })), "{stolen:?}");
    let clients: [ClientId; 2] = ["c_1".into(), "c_2".into()];
    let owners = store.client_owners(&"doc_a".into(), &clients).await.unwrap();
    assert_eq!(owners.get(&clients[0]), Some(&"usr_anna".into()));
    assert_eq!(owners.len(), 1, "no one has the other one");
}

fn request(id: &str, document: Option<&str>) -> RequestRecord {
    RequestRecord {
        id: id.into(),
        document: document.map(Into::into),
        session: "ses_1".into(),
        run: "run_1".into(),
        status: "pending".to_owned(),
        open: true,
        created_ms: 7,
        expires_ms: Some(u64::MAX >> 1),
        decided_ms: Some(u64::MAX >> 1),
        body: json!({"hunks": [{"base": "\u{1f600}"}]}).to_string(),
        changed: Vec::new(),
    }
}

async fn requests_are_found_by_document_by_desk_and_by_page(database: TestDatabase) {
    let store = database.store().await;
    let mut decided = request("req_2", Some("doc_a"));
    let batch = WriteBatch::from(StoreOp::PutRequest(request("req_1", Some("doc_a"))))
        .with(StoreOp::PutRequest(decided.clone()))
        .with(StoreOp::PutRequest(request("req_3", None)));
    store.commit(batch).await.unwrap();
    decided.open = false;
    decided.status = "approved".to_owned();
    store.commit(StoreOp::PutRequest(decided.clone())).await.unwrap();
    let a = DocumentId::from("doc_a");
    let one = request("req_1", Some("doc_a"));
    assert_eq!(
        store.open_requests(QueryScope::Document(&a)).await.unwrap(),
        std::slice::from_ref(&one)
    );
    assert_eq!(
        store.open_requests(QueryScope::WorkspaceInbox).await.unwrap(),
        [request("req_3", None)]
    );
    assert_eq!(store.open_requests(QueryScope::Everything).await.unwrap().len(), 2);
    let page = store.requests(QueryScope::Document(&a), None, 1).await.unwrap();
    assert_eq!(page, [decided]);
    let next = store.requests(QueryScope::Document(&a), Some(&page[0].id), 5).await.unwrap();
    assert_eq!(next, [one]);
    assert_eq!(store.requests(QueryScope::WorkspaceInbox, None, 5).await.unwrap().len(), 1);
    assert_eq!(store.requests(QueryScope::Everything, None, 5).await.unwrap().len(), 3);
    assert_eq!(store.request(&"req_9".into()).await.unwrap(), None);
}

fn part(hunk: &str, version: u64, body: &str) -> RequestPartRecord {
    let (hunk, body) = (hunk.to_owned(), body.to_owned());
    RequestPartRecord { request: "req_1".into(), hunk, version: Version(version), body }
}

async fn parts_of_an_open_request_are_read_with_it_until_it_is_stored_as_a_whole(
    database: TestDatabase,
) {
    let store = database.store().await;
    let mut record = request("req_1", Some("doc_a"));
    let other = request("req_2", Some("doc_a"));
    let batch = WriteBatch::from(StoreOp::PutRequest(record.clone()));
    store.commit(batch.with(StoreOp::PutRequest(other.clone()))).await.unwrap();
    let put = |expires_ms, parts: &[RequestPartRecord]| StoreOp::PutRequestParts {
        request: "req_1".into(),
        expires_ms,
        parts: parts.to_vec(),
    };
    let (head, first) = (part("", 2, "{}"), part("req_1.1", 2, "\"\u{1f600}\""));
    store.commit(put(record.expires_ms, &[head.clone(), first])).await.unwrap();
    let (head, first) = (part("", 3, "{\"a\":1}"), part("req_1.1", 3, "2"));
    let second = part("req_1.2", 2, "3");
    let parts = [head, first, second];
    store.commit(put(None, &parts)).await.unwrap();
    (record.expires_ms, record.changed) = (None, parts.to_vec());
    let a = DocumentId::from("doc_a");
    let sorted = |mut records: Vec<RequestRecord>| {
        for record in &mut records {
            record.changed.sort_by(|a, b| a.hunk.cmp(&b.hunk));
        }
        records
    };
    let open = store.open_requests(QueryScope::Document(&a)).await.unwrap();
    assert_eq!(sorted(open), [record.clone(), other.clone()]);
    let one = store.request(&"req_1".into()).await.unwrap();
    assert_eq!(sorted(one.into_iter().collect()), [record.clone()]);
    let places = [("req_1".into(), Some(a.clone())), ("req_2".into(), Some(a.clone()))];
    assert_eq!(store.open_request_places(None, 9).await.unwrap(), places);
    let after = store.open_request_places(Some(&"req_1".into()), 9).await.unwrap();
    assert_eq!(after, places[1..]);
    record.changed.clear();
    store.commit(StoreOp::PutRequest(record.clone())).await.unwrap();
    assert_eq!(store.open_requests(QueryScope::Document(&a)).await.unwrap(), [record, other]);
}

async fn decisions_are_kept_in_order_and_for_good(database: TestDatabase) {
    let store = database.store().await;
    let decision = |hunk: Option<&str>| DecisionRecord {
        request: "req_1".into(),
        hunk: hunk.map(Into::into),
        user: "usr_anna".into(),
        name: "Anna".to_owned(),
        at_ms: 9,
        body: json!({"verdict": "accept"}),
    };
    let early = store.commit(StoreOp::AppendDecision(decision(None))).await;
    assert!(early.is_err(), "a decision without a request");
    let batch = WriteBatch::from(StoreOp::PutRequest(request("req_1", None)))
        .with(StoreOp::AppendDecision(decision(Some("hnk_2"))))
        .with(StoreOp::AppendDecision(decision(None)));
    store.commit(batch).await.unwrap();
    let kept = store.decisions(&"req_1".into()).await.unwrap();
    assert_eq!(kept, [decision(Some("hnk_2")), decision(None)]);
    let refused = database.run(&store, "DELETE FROM decisions").await;
    assert!(refused.unwrap_err().to_string().contains("append-only"));
}

async fn each_document_of_a_session_has_its_own_transcript(database: TestDatabase) {
    let store = database.store().await;
    let said = |text: &str| MessageRecord {
        role: "user".to_owned(),
        body: json!([{"type": "text", "text": text}]),
        at_ms: 3,
    };
    let append = |document: Option<&str>, texts: &[&str]| StoreOp::AppendMessages {
        session: "ses_1".into(),
        document: document.map(Into::into),
        messages: texts.iter().map(|text| said(text)).collect(),
    };
    store.commit(append(Some("doc_a"), &["one", "two"])).await.unwrap();
    store.commit(append(None, &["elsewhere"])).await.unwrap();
    store.commit(append(Some("doc_a"), &["three"])).await.unwrap();
    let (session, document) = (copydesk_ids::SessionId::from("ses_1"), DocumentId::from("doc_a"));
    assert_eq!(
        kept(&store, Some(&document), TranscriptSince::NewBeginning).await,
        [said("one"), said("two"), said("three")]
    );
    let clear = MessageRecord { role: "clear".to_owned(), ..said("anew") };
    let (messages, of) = (vec![clear.clone()], session.clone());
    let clear_op =
        StoreOp::AppendMessages { session: of, document: Some(document.clone()), messages };
    store.commit(WriteBatch::from(clear_op).with(append(Some("doc_a"), &["new"]))).await.unwrap();
    assert_eq!(kept(&store, Some(&document), TranscriptSince::NewBeginning).await, [said("new")]);
    let all = kept(&store, Some(&document), TranscriptSince::Ever).await;
    assert_eq!(all, [said("one"), said("two"), said("three"), clear, said("new")]);
    assert_eq!(kept(&store, None, TranscriptSince::NewBeginning).await, [said("elsewhere")]);
}

/// Returns the words of `ses_1` about a document, or without one.
async fn kept(
    store: &Store,
    document: Option<&DocumentId>,
    since: TranscriptSince,
) -> Vec<MessageRecord> {
    let session = "ses_1".into();
    let sizes = store.sizes(&session, document, since, None, MEASURED).await.unwrap();
    let places: Vec<_> = sizes.iter().map(|size| size.seq).collect();
    let messages = store.messages_at(&session, document, &places).await.unwrap();
    messages.into_iter().map(|(_, message)| message).collect()
}

async fn of_a_long_conversation_the_newest_that_fits_is_read_and_then_what_is_before_that(
    database: TestDatabase,
) {
    let store = database.store().await;
    let document = DocumentId::from("doc_a");
    let said = |session: &str, at_ms: u64, bytes: usize| StoreOp::AppendMessages {
        session: session.into(),
        document: Some(document.clone()),
        messages: vec![MessageRecord {
            role: "user".to_owned(),
            body: json!("x".repeat(bytes - 2)),
            at_ms,
        }],
    };
    for (session, at_ms, bytes) in
        [("ses_1", 1, 100), ("ses_2", 2, 10), ("ses_1", 3, 10), ("ses_2", 4, 900)]
    {
        store.commit(said(session, at_ms, bytes)).await.unwrap();
    }
    let page = async |before: Option<&TranscriptCursor>| {
        let found = store.conversations_before(&document, before, 50).await.unwrap();
        let times: Vec<_> = found.iter().map(|(place, _)| place.at_ms).collect();
        (times, found.into_iter().next().map(|(place, _)| place))
    };
    let (times, first) = page(None).await;
    assert_eq!(times, [4], "at least one");
    let (times, first) = page(first.as_ref()).await;
    assert_eq!(times, [2, 3]);
    let (times, first) = page(first.as_ref()).await;
    assert_eq!(times, [1]);
    assert_eq!(page(first.as_ref()).await, (Vec::new(), None));
    let sizes = store
        .sizes(&"ses_1".into(), Some(&document), TranscriptSince::Ever, None, MEASURED)
        .await
        .unwrap();
    assert_eq!(
        sizes.iter().map(|size| (size.seq, size.bytes)).collect::<Vec<_>>(),
        [(2, 10), (1, 100)]
    );
    let before = store
        .sizes(&"ses_1".into(), Some(&document), TranscriptSince::Ever, Some(2), MEASURED)
        .await
        .unwrap();
    assert_eq!(before, sizes[1..]);
    let newest = store
        .sizes(&"ses_1".into(), Some(&document), TranscriptSince::Ever, None, 1)
        .await
        .unwrap();
    assert_eq!(newest, sizes[..1]);
}

async fn sessions_and_unfinished_runs_survive(database: TestDatabase) {
    let store = database.store().await;
    let mut session = SessionRecord {
        id: "ses_1".into(),
        user: "usr_anna".into(),
        created_ms: 1,
        seen_ms: 1,
        permission_mode: None,
        body: json!({}),
    };
    let mut run = RunRecord {
        id: "run_1".into(),
        session: "ses_1".into(),
        document: Some("doc_a".into()),
        user: "usr_anna".into(),
        state: RunState::Running,
        body: json!({"prompt": "Fix it"}),
        created_ms: 2,
        finished_ms: None,
    };
    let batch =
        WriteBatch::from(StoreOp::PutSession(session.clone())).with(StoreOp::PutRun(run.clone()));
    store.commit(batch).await.unwrap();
    assert_eq!(store.unfinished_runs().await.unwrap(), [run.clone()]);
    session.seen_ms = 8;
    session.permission_mode = Some("toolApproval".to_owned());
    run.state = RunState::Ended(RunEndKind::Success);
    run.finished_ms = Some(9);
    let batch =
        WriteBatch::from(StoreOp::PutSession(session.clone())).with(StoreOp::PutRun(run.clone()));
    store.commit(batch).await.unwrap();
    assert_eq!(store.session(&"ses_1".into()).await.unwrap(), Some(session));
    assert_eq!(store.run(&"run_1".into()).await.unwrap(), Some(run));
    assert!(store.unfinished_runs().await.unwrap().is_empty());
    store.commit(StoreOp::RemoveRun("run_1".into())).await.unwrap();
    assert_eq!(store.run(&"run_1".into()).await.unwrap(), None);
}

async fn a_session_that_two_servers_begin_was_not_seen_before_it_began(database: TestDatabase) {
    let store = database.store().await;
    let first = SessionRecord::begin("usr_anna".into(), 10);
    let second = SessionRecord { created_ms: 7, seen_ms: 7, ..first.clone() };
    for begun in [&first, &second] {
        store.commit(StoreOp::PutSession(begun.clone())).await.unwrap();
    }
    assert_eq!(store.session(&first.id).await.unwrap(), Some(first));
}

async fn damaged_rows_are_reported_not_guessed(database: TestDatabase) {
    let store = database.store().await;
    store.commit(create("doc_a")).await.unwrap();
    database.run(&store, "UPDATE documents SET settings = '{'").await.unwrap();
    let message = store.document(&"doc_a".into()).await.unwrap_err();
    assert!(matches!(message, StoreError::Corrupt { .. }), "{message:?}");
}

on_both_databases! {
    a_text_may_have_any_characters,
    a_document_is_its_snapshot_and_what_came_after,
    the_first_snapshot_and_the_newest_few_are_kept,
    updates_are_read_between_two_versions,
    history_is_newest_first_and_paged,
    private_and_deleted_documents_are_not_listed,
    a_document_is_created_once,
    an_editor_belongs_to_the_first_person_who_uses_it,
    requests_are_found_by_document_by_desk_and_by_page,
    parts_of_an_open_request_are_read_with_it_until_it_is_stored_as_a_whole,
    decisions_are_kept_in_order_and_for_good,
    each_document_of_a_session_has_its_own_transcript,
    of_a_long_conversation_the_newest_that_fits_is_read_and_then_what_is_before_that,
    sessions_and_unfinished_runs_survive,
    a_session_that_two_servers_begin_was_not_seen_before_it_began,
    damaged_rows_are_reported_not_guessed,
}
