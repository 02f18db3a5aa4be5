use std::path::Path;

use super::*;
use crate::AnswerDelta;
use crate::messages_api::ToolDefinition;
use crate::testing::{RecordedAnswer, asks, collect_answer, in_document, with_results};

/// Asks `prompt` in a document whose selection is marked by `⟦` and `⟧`.
async fn asked(prompt: &str, document: &str) -> RecordedAnswer {
    collect_answer(&HarperModel::default(), in_document(asks(prompt), document)).await
}

/// The document that `prompt` would make of `document`.
async fn edited(prompt: &str, document: &str) -> String {
    let recorded = asked(prompt, document).await;
    let (name, input) = recorded.call();
    assert_eq!(name, "update_full_document");
    input["new_content"].as_str().expect("text").to_owned()
}

/// What `prompt` would put in the place of the selection.
async fn selection_edited(prompt: &str, document: &str) -> String {
    let recorded = asked(prompt, document).await;
    let (name, input) = recorded.call();
    assert_eq!(name, "update_selection");
    input["new_text"].as_str().expect("text").to_owned()
}

/// What is answered in words.
async fn answered(prompt: &str, document: &str) -> String {
    let recorded = asked(prompt, document).await;
    let (name, input) = recorded.call();
    assert_eq!(name, "respond_conversation_only", "{input}");
    input["response"].as_str().expect("text").to_owned()
}

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/documents").join(name);
    std::fs::read_to_string(path).expect("a fixture")
}

#[tokio::test]
async fn the_sample_document_gets_all_its_corrections_and_no_others() {
    let ledger = fixture("the-keepers-ledger.md");
    let corrections = proofread(&ledger);
    assert_eq!(corrections.len(), 16, "{corrections:#?}");
    let apart = corrections.windows(2).all(|pair| pair[1].from - pair[0].to > 40);
    assert!(apart, "far enough apart to be changes of their own");

    let recorded = asked("Fix the grammar", &ledger).await;
    assert_eq!(recorded.text(), "16 corrections: 6 spelling, 7 grammar, 3 other.");
    assert_eq!(recorded.streamed_text(), recorded.text());
    let (name, input) = recorded.call();
    assert_eq!(name, "update_full_document");
    assert_eq!(input["new_content"], fixture("the-keepers-ledger.corrected.md"));
    let explanation = "Corrections such as “beleived” → “believed” (spelling), “went” → “gone” (grammar), \
        “could of” → “could have” (word choice), “the the” → “the” (repeated word).";
    assert_eq!(input["explanation"], explanation);
}

#[tokio::test]
async fn the_corrected_sample_has_nothing_left_to_correct() {
    let response = answered("Fix the grammar", &fixture("the-keepers-ledger.corrected.md")).await;
    assert!(response.starts_with("I read the document and found no mistakes"), "{response}");
}

#[tokio::test]
async fn only_the_selection_is_corrected_when_there_is_one() {
    let recorded = asked("check this", "🦀 Teh boat. ⟦Teh fog beleived it.⟧ Teh end.").await;
    let (name, input) = recorded.call();
    assert_eq!(name, "update_selection");
    assert_eq!(input["selection_range"], json!({"start": 13, "end": 33}));
    assert_eq!(input["new_text"], "The fog believed it.");
    assert_eq!(recorded.text(), "2 corrections in the selection: 2 spelling.");
}

#[tokio::test]
async fn a_caret_is_no_selection() {
    assert_eq!(edited("fix the spelling", "Teh fog.⟦⟧ Teh end.").await, "The fog. The end.");
}

#[tokio::test]
async fn markup_code_addresses_and_front_matter_are_left_alone() {
    let text = "---\ntitle: teh ledger\n---\n# Teh `teh` **lamp**\n\n```\nteh code\n```\n\n\
        See [the recieve page](https://teh.example/recieve) or https://teh.example.\n\n    teh indented\n";
    let corrected = text.replace("# Teh", "# The").replace("the recieve page", "the receive page");
    assert_eq!(edited("proofread", text).await, corrected);
}

#[tokio::test]
async fn names_rare_words_and_other_spellings_are_left_alone() {
    let text = "Ines Marrow and Bo rowed the wherry past Skerrow. The bleared postern, unpunctual and \
        clamorously shorn, kept its honour. She marvelled at the colour of the harbour.\n";
    assert!(answered("fix the spelling", text).await.contains("found no mistakes"));
}

#[tokio::test]
async fn what_people_say_keeps_its_grammar_but_not_its_typos() {
    let text = "“He don't know, we was cold,” said Bo. He don't know. “Teh fog,\nit don't lift.”\n\n> She don't know.\n";
    let corrected = text.replacen("Bo. He don't", "Bo. He doesn't", 1).replace("Teh", "The");
    assert_eq!(edited("fix grammar", text).await, corrected);
}

#[tokio::test]
async fn published_sentences_are_not_improved() {
    let text = "If I were you, I would go. She wished he were home. They insisted that he go. What had had \
        to be done was done. He gave her her hat. It was a—an odd night. Perhaps, oh! she knows. An hour, \
        a unit, an heir. He and she were late; neither they nor he were early. Come what may. It was \
        to be done to late arrivals. She used to climb, and was used to it. Wait . . . no. The oldest of \
        them all was there, more or less; since then, more than once, she led the way.\n";
    let response = answered("check this", text).await;
    assert!(response.contains("found no mistakes"), "{response}");
}

#[tokio::test]
async fn the_text_says_which_english_it_is() {
    let british = "The colour of the harbour was grey. The coluor of the centre, too.";
    assert_eq!(edited("check this", british).await, british.replace("coluor", "colour"));
}

#[tokio::test]
async fn of_two_rules_for_one_place_the_surer_one_wins() {
    assert_eq!(edited("check this", "He saw a a ship.").await, "He saw a ship.");
}

#[tokio::test]
async fn only_spelling_means_only_spelling() {
    let text = "Teh boats. They was late.";
    assert_eq!(edited("only fix the spelling", text).await, "The boats. They was late.");
}

#[tokio::test]
async fn a_wish_beyond_correcting_is_said_to_be_beyond() {
    let recorded = asked("Fix the grammar and shorten it", "They was late.").await;
    assert_eq!(recorded.call().1["new_content"], "They were late.");
    assert!(
        recorded.text().ends_with("(“shorten”) takes a language model."),
        "{}",
        recorded.text()
    );
}

#[tokio::test]
async fn words_are_replaced_where_they_stand_alone() {
    let text = "Ines saw Inesita. Ines!";
    assert_eq!(edited("replace Ines with Agnes", text).await, "Agnes saw Inesita. Agnes!");
    let selected = selection_edited("replace \"fog\" by \"mist\"", "fog ⟦fog fog⟧ fog").await;
    assert_eq!(selected, "mist mist");
    let none = answered("replace \"ines\" with \"Agnes\"", text).await;
    assert!(none.ends_with("Letter case counts."), "{none}");
    assert_eq!(
        answered("replace \"sun\" with \"fog\"", text).await,
        "“sun” is not in the document."
    );
}

#[tokio::test]
async fn commands_that_could_wreck_a_document_want_a_selection() {
    let text = "wick\nhorn";
    for prompt in ["UPPERCASE this", "make this a list", "sort lines"] {
        let response = answered(prompt, text).await;
        assert_eq!(response, "Please select the text you mean, then ask again.", "{prompt}");
    }
    assert_eq!(selection_edited("UPPERCASE this", "a ⟦straße⟧ b").await, "STRASSE");
    assert_eq!(selection_edited("title case this", "⟦the long horn⟧").await, "The Long Horn");
    assert_eq!(selection_edited("make this a list", "⟦wick\nhorn\n⟧").await, "- wick\n- horn\n");
    assert_eq!(selection_edited("number these", "⟦wick\nhorn⟧").await, "1. wick\n2. horn");
    assert_eq!(selection_edited("sort lines", "⟦wick\nhorn⟧").await, "horn\nwick");
}

#[tokio::test]
async fn commands_for_whole_documents_need_no_selection() {
    assert_eq!(edited("remove double spaces", "a  b").await, "a b");
    assert_eq!(edited("use curly quotes", "\"a\"").await, "“a”");
    let nothing = answered("remove double spaces", "a b").await;
    assert_eq!(nothing, "There are no double spaces in the document.");
}

#[tokio::test]
async fn anything_else_is_answered_with_what_can_be_done() {
    let response = answered("Write a sonnet about fog", "Fog.").await;
    for hint in ["Fix the grammar", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "--model"] {
        assert!(response.contains(hint), "{hint} in {response}");
    }
    assert_eq!(
        collect_answer(&HarperModel::default(), asks("hello")).await.call().1["response"],
        response.as_str()
    );
}

#[tokio::test]
async fn without_text_or_with_a_stale_selection_nothing_is_changed() {
    let no_document = collect_answer(&HarperModel::default(), asks("fix the grammar")).await;
    assert!(
        no_document.call().1["response"].as_str().is_some_and(|r| r.starts_with("Open a document"))
    );
    assert_eq!(answered("fix the grammar", " \n").await, "There is nothing in the document yet.");
    for (from, to) in [(0, 9), (1, 2), (2, 1)] {
        let mut request = in_document(asks("fix the grammar"), "🦀 teh");
        request.document.as_mut().expect("a document").selection =
            Some(crate::ModelSelection { from, to });
        let recorded = collect_answer(&HarperModel::default(), request).await;
        let response = recorded.call().1["response"].as_str().expect("words");
        assert!(response.starts_with("The selection no longer fits"), "{from}..{to}: {response}");
    }
}

#[tokio::test]
async fn a_document_that_is_too_long_is_corrected_by_selection() {
    let long = "The fog rose. ".repeat(7_200);
    let response = answered("fix the grammar", &long).await;
    assert!(response.starts_with("More than 100,000 characters"), "{response}");
    let selected = selection_edited("fix the grammar", &format!("{long}⟦Teh end.⟧")).await;
    assert_eq!(selected, "The end.");
}

#[tokio::test]
async fn after_the_decision_one_sentence_says_how_it_ended() {
    let request = in_document(asks("fix the grammar"), "They was late.");
    let first = collect_answer(&HarperModel::default(), request.clone()).await;
    let closing = |result: &str| with_results(request.clone(), first.message(), result);
    let accepted = collect_answer(&HarperModel::default(), closing("Applied: 1 accepted.")).await;
    assert_eq!(accepted.text(), "Done: the change is in the text.");
    assert_eq!(accepted.message().stop_reason, StopReason::EndTurn);
    let rejected =
        collect_answer(&HarperModel::default(), closing("!User rejected: dialect")).await.text();
    assert!(rejected.contains("“dialect”"), "{rejected}");
}

#[tokio::test]
async fn after_an_answer_in_words_nothing_is_added() {
    let request = in_document(asks("hello"), "Fog.");
    let first = collect_answer(&HarperModel::default(), request.clone()).await;
    let end = collect_answer(
        &HarperModel::default(),
        with_results(request, first.message(), "Shown to the user."),
    )
    .await;
    assert_eq!((end.deltas, end.end.map(|message| message.content)), (vec![], Ok(vec![])));
}

/// The next request of the same conversation: the answer to `request` was shown, to which the model
/// added nothing, and a person asks `prompt`.
async fn asked_next(request: ModelRequest, prompt: &str) -> ModelRequest {
    let first = collect_answer(&HarperModel::default(), request.clone()).await;
    let mut next = with_results(request, first.message(), "Shown to the user.");
    // Speakers alternate: the prompt is in one message with the results before it.
    let last = next.messages.last_mut().expect("results");
    last.content.push(ContentBlock::text(prompt));
    next.prompt = Some(prompt.into());
    next
}

#[tokio::test]
async fn after_a_wish_it_cannot_serve_it_works_on() {
    let beyond = in_document(asks("Make it warmer"), "They was late.");
    let next = asked_next(beyond, "Fix the grammar").await;
    let recorded = collect_answer(&HarperModel::default(), next).await;
    assert_eq!(recorded.call().1["new_content"], "They were late.");
}

#[tokio::test]
async fn what_it_can_do_is_said_once_in_a_conversation() {
    let first = in_document(asks("Make it warmer"), "Fog.");
    let second = asked_next(first, "Then make it longer").await;
    let answer = collect_answer(&HarperModel::default(), second.clone()).await;
    assert_eq!(answer.call().1["response"], wording::BEYOND_ME);
    let third = asked_next(second, "And sadder").await;
    let answer = collect_answer(&HarperModel::default(), third).await;
    assert_eq!(answer.call().1["response"], wording::BEYOND_ME);
}

#[tokio::test]
async fn in_plan_mode_a_plan_is_proposed_and_carried_out_once_it_is_approved() {
    let mut request = in_document(asks("fix the grammar"), "They was late.");
    let tool = ToolDefinition { name: PLAN_TOOL.into(), ..request.tools[0].clone() };
    request.tools.push(tool);
    request.question.clone_from(&request.prompt);
    let first = collect_answer(&HarperModel::default(), request.clone()).await;
    let call = |answer: &RecordedAnswer| {
        let mut blocks = answer.message().content.iter();
        blocks.find_map(|block| match block {
            ContentBlock::ToolUse { name, input, .. } => Some((name.clone(), input.clone())),
            _ => None,
        })
    };
    let (name, input) = call(&first).unwrap();
    let plan = input["plan"].as_str().unwrap();
    assert!(name == PLAN_TOOL && plan.starts_with("1. Change the document. Corr"), "{plan}");
    let after = |result: &str| with_results(request.clone(), first.message(), result);
    let approved = format!("The plan is approved. Carry it out now.\n\n{plan}");
    let second = collect_answer(&HarperModel::default(), after(&approved)).await;
    let (name, input) = call(&second).unwrap();
    assert_eq!(
        (name.as_str(), &input["new_content"]),
        ("update_full_document", &json!("They were late."))
    );
    let rejected = collect_answer(&HarperModel::default(), after("!User rejected: not now")).await;
    assert!(call(&rejected).is_none() && rejected.text().contains("“not now”"), "{rejected:?}");
    let hello = in_document(asks("hello"), "Fog.");
    let hello = ModelRequest { tools: request.tools.clone(), ..hello };
    let answer = collect_answer(&HarperModel::default(), hello).await;
    assert!(call(&answer).is_none_or(|(name, _)| name != PLAN_TOOL), "there is nothing to plan");
}

#[tokio::test]
async fn without_the_tools_it_only_talks() {
    let mut request = in_document(asks("fix the grammar"), "They was late.");
    request.tools.clear();
    let text = collect_answer(&HarperModel::default(), request).await.text();
    assert!(text.starts_with("I may not change the text here. Correction: “"), "{text}");
}

#[tokio::test]
async fn text_and_input_arrive_in_small_pieces() {
    let recorded = asked("fix the grammar", "They was late. Teh fog had come before them.").await;
    let small = recorded.deltas.iter().all(|delta| match delta {
        AnswerDelta::Text(piece) => piece.chars().count() <= 24,
        AnswerDelta::ToolInput { partial_json, .. } => partial_json.chars().count() <= 24,
        _ => true,
    });
    assert!(small && recorded.deltas.len() > 6, "{:?}", recorded.deltas);
}

#[test]
fn strange_texts_do_not_upset_the_checker() {
    let seed = 20_261_120;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let pieces = [
        "teh ",
        "They was ",
        "“",
        "”",
        "\"",
        "’",
        "`",
        "```\n",
        "\n",
        "\n\n",
        "> ",
        "- ",
        "# ",
        "[",
        "](",
        ")",
        "|",
        "*",
        "**",
        "_",
        "🦀",
        "e\u{301}",
        "\u{feff}",
        "\u{2028}",
        "\t",
        "<b>",
        "&amp;",
        "a an ",
        "the the ",
        "---\n",
        "\\",
        "http://",
        "1st ",
        "$",
        ". ",
        "…",
        "ÅÄÖ ",
        "\u{200d}",
        "م ",
    ];
    for _ in 0..25 {
        let text: String =
            (0..random.usize(1..40)).map(|_| pieces[random.usize(..pieces.len())]).collect();
        let letters: Vec<char> = text.chars().collect();
        let mut end = 0;
        for one in proofread(&text) {
            assert!(end <= one.from && one.from < one.to, "{one:?} in {text:?}");
            assert_eq!(letters[one.from..one.to].iter().collect::<String>(), one.wrong, "{text:?}");
            end = one.to;
        }
    }
}
