//! Tests of cleared and continued conversations, and of run ends that a session missed.

use crate::conversation::transcript::EntryKind;
use crate::tests::fixture::{ScriptedReply, TestAgent, owner, rewrites, says};
use crate::{AgentQuestion, AskError, AskKind, ConversationFork, ConversationMode};
use copydesk_ids::permissions::{Principal, Role};
use copydesk_ids::{DocumentId, RunId, SessionId};
use copydesk_llm::messages_api::ContentBlock;
use copydesk_rooms::event::RunEventKind;
use copydesk_store::{RunRecord, StoreOp};

/// Creates a document about which these questions were asked, each answered with its index.
async fn asked(prompts: &[&str]) -> TestAgent {
    let mut stage = TestAgent::with("Old.").await;
    for (number, prompt) in prompts.iter().enumerate() {
        stage.model.plays([says(&number.to_string())]);
        stage.ask(prompt).await;
        stage.response().await;
    }
    stage
}

fn document(stage: &TestAgent) -> DocumentId {
    stage.room.document().clone()
}

/// Returns the prompts of earlier runs in the latest request to the model.
fn remembered(stage: &TestAgent) -> Vec<String> {
    let asked = stage.model.asked();
    let messages = &asked.last().unwrap().messages;
    let earlier = messages[..messages.len() - 1].iter();
    let texts =
        earlier.flat_map(|message| message.content.iter().filter_map(ContentBlock::as_text));
    texts.filter(|text| !text.starts_with("Current Document")).map(str::to_owned).collect()
}

fn fork(stage: &TestAgent, run: &str) -> ConversationFork {
    ConversationFork {
        session: stage.session.clone(),
        document: Some(document(stage)),
        from: stage.session.clone(),
        run: run.into(),
    }
}

#[tokio::test]
async fn a_conversation_that_is_begun_anew_forgets_and_the_record_stays() {
    let mut stage = asked(&["One", "Two"]).await;
    let of = document(&stage);
    stage.agents.clear(&stage.session, Some(&of), &owner()).await.unwrap();
    stage.model.plays([says("2")]);
    stage.ask("Three").await;
    stage.response().await;
    assert_eq!(remembered(&stage), [""; 0]);
    let record = stage.record().await;
    let prompts = record.iter().filter(|it| matches!(it.kind, EntryKind::Prompt { .. })).count();
    let cleared = record.iter().filter(|it| matches!(it.kind, EntryKind::Cleared { .. })).count();
    assert_eq!((prompts, cleared), (3, 1));
    let audit = stage.store.audit(Some(&of), None, 100).await.unwrap();
    assert!(audit.iter().any(|line| line.entry.action == "transcript.clear"), "{audit:?}");
}

#[tokio::test]
async fn a_question_that_begins_anew_keeps_the_record_too() {
    let mut stage = asked(&["One"]).await;
    stage.model.plays([says("1")]);
    let ask = AgentQuestion { conversation: ConversationMode::Fresh, ..stage.question("Two") };
    stage.agents.ask(ask).await.unwrap();
    stage.response().await;
    assert_eq!(remembered(&stage), [""; 0]);
    let record = stage.record().await;
    assert_eq!(record.iter().filter(|it| matches!(it.kind, EntryKind::Prompt { .. })).count(), 2);
}

#[tokio::test]
async fn a_conversation_goes_on_from_an_earlier_run_also_after_a_restart() {
    let mut stage = asked(&["One", "Two", "Three"]).await;
    stage.agents.fork(fork(&stage, "run_2"), &owner()).await.unwrap();
    stage.restart().await;
    stage.model.plays([says("3")]);
    stage.ask("Four").await;
    stage.response().await;
    assert_eq!(remembered(&stage), ["One", "0", "Two", "1"]);
    let record = stage.record().await;
    let prompts = record.iter().filter(|it| matches!(it.kind, EntryKind::Prompt { .. })).count();
    assert_eq!(prompts, 4, "nothing is in the record twice");
}

#[tokio::test]
async fn a_fork_of_a_fork_has_what_that_one_had() {
    let mut stage = asked(&["One", "Two"]).await;
    stage.agents.fork(fork(&stage, "run_1"), &owner()).await.unwrap();
    stage.model.plays([says("2")]);
    stage.ask("Three").await;
    stage.response().await;
    let of = document(&stage);
    stage.agents.clear(&stage.session, Some(&of), &owner()).await.unwrap();
    stage.agents.fork(fork(&stage, "run_3"), &owner()).await.unwrap();
    stage.model.plays([says("3")]);
    stage.ask("Four").await;
    stage.response().await;
    assert_eq!(remembered(&stage), ["One", "0", "Three", "2"]);
}

#[tokio::test]
async fn someone_elses_run_can_be_gone_on_from_even_if_ours_has_its_name() {
    let mut stage = asked(&["One"]).await;
    let bo = SessionId::generate();
    let fork = ConversationFork { session: bo.clone(), ..fork(&stage, "run_1") };
    stage.agents.fork(fork, &owner()).await.unwrap();
    stage.model.plays([says("1")]);
    let ask = AgentQuestion { session: bo, run: "run_1".into(), ..stage.question("Two") };
    stage.agents.ask(ask).await.unwrap();
    assert_eq!(stage.response().await.message, "1");
    assert_eq!(remembered(&stage), ["One", "0"]);
}

#[tokio::test]
async fn what_cannot_be_begun_anew_says_why() {
    let mut stage = asked(&["One"]).await;
    let of = document(&stage);
    let unknown = stage.agents.fork(fork(&stage, "run_9"), &owner()).await;
    assert!(matches!(unknown, Err(AskError::NoRun)), "{unknown:?}");
    let elsewhere = ConversationFork { document: None, ..fork(&stage, "run_1") };
    let elsewhere = stage.agents.fork(elsewhere, &owner()).await;
    assert!(matches!(elsewhere, Err(AskError::NoRun)), "{elsewhere:?}");
    let rex = Principal { user: "usr_r".into(), role: Role::Reviewer, ..owner() };
    let refused = stage.agents.clear(&stage.session, Some(&of), &rex).await;
    assert!(matches!(refused, Err(AskError::NotAllowed)), "{refused:?}");
    stage.model.plays([rewrites("New."), says("Done.")]);
    let run = stage.ask("Two").await;
    stage.request().await;
    let busy = stage.agents.clear(&stage.session, Some(&of), &owner()).await;
    assert!(matches!(busy, Err(AskError::Busy)), "{busy:?}");
    for run in [RunId::from("run_1"), run] {
        let busy = stage.agents.fork(fork(&stage, run.as_str()), &owner()).await;
        assert!(matches!(busy, Err(AskError::Busy)), "{busy:?}");
    }
}

#[tokio::test]
async fn a_person_who_asks_while_a_conversation_is_begun_anew_has_their_turn() {
    let mut stage = asked(&["One"]).await;
    let of = document(&stage);
    for number in 2..20 {
        stage.model.plays([says("Yes.")]);
        let ask = stage.question("Again");
        let (agents, session) = (stage.agents.clone(), stage.session.clone());
        let (cleared, asked) = tokio::join!(
            agents.clear(&session, Some(&of), &ask.principal),
            agents.ask(ask.clone())
        );
        asked.unwrap();
        assert!(matches!(cleared, Ok(()) | Err(AskError::Busy)), "{cleared:?}");
        stage.response().await;
        assert_eq!(stage.model.asked().len(), number);
    }
}

/// Returns the events that the session missed, one word for each.
async fn unheard(stage: &TestAgent) -> Vec<(String, &'static str)> {
    let said = stage.agents.unheard(&stage.session).await.unwrap();
    let word = |saying: &RunEventKind| match saying {
        RunEventKind::Agent(object) => object.subtype.as_str(),
        RunEventKind::Response(_) => "response",
        RunEventKind::Over => "over",
        other => panic!("{other:?}"),
    };
    said.iter().map(|said| (said.run.to_string(), word(&said.saying))).collect()
}

#[tokio::test]
async fn ends_that_no_one_heard_are_told_with_the_same_names_and_once() {
    let mut stage = asked(&["One"]).await;
    stage.model.plays([says("Hello.")]);
    let ask = AgentQuestion { kind: AskKind::Run, ..stage.question("Two") };
    stage.agents.ask(ask).await.unwrap();
    stage.result().await;
    stage.restart().await;
    let of = |run: &str, words: [&'static str; 3]| words.map(|word| (run.to_owned(), word));
    let mut expected = of("run_1", ["success", "response", "over"]).to_vec();
    expected.extend([("run_2".to_owned(), "success"), ("run_2".to_owned(), "over")]);
    assert_eq!(unheard(&stage).await, expected);
    let heard = |run: &str| StoreOp::RunHeard {
        session: stage.session.clone(),
        run: run.into(),
        at_ms: stage.clock.now_ms(),
    };
    stage.store.commit(heard("run_1")).await.unwrap();
    assert_eq!(unheard(&stage).await, expected[3..]);
    stage.store.commit(heard("run_2")).await.unwrap();
    assert_eq!(unheard(&stage).await, []);
    let key = RunRecord::key(&stage.session, &"run_1".into());
    assert!(stage.store.run(&key).await.unwrap().is_some());
}

#[tokio::test]
async fn a_run_that_never_began_has_its_end_too() {
    let mut stage = TestAgent::with("Old.").await;
    stage.model.plays([ScriptedReply::Hang("Hm")]);
    stage.ask("One").await;
    stage.model.called(1).await;
    let run = stage.ask("Two").await;
    let stop = crate::StopFilter { session: Some(stage.session.clone()), run: Some(run) };
    stage.agents.cancel(stop).await.unwrap();
    stage.response().await;
    let words = unheard(&stage).await;
    assert_eq!(words[0], ("run_2".to_owned(), "cancelled"));
}
