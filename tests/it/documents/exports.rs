//! Documents as files: over HTTP, from the command line, and as other programs read them.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::http::{Response, ask};
use crate::support::{OWNER, Person, Role, Script, Server, TestServer, copydesk_command, skip};

const BEFORE: &str = "Teh keeper wrote every night.\n\nHe recieved few visitors there.\n\nThe lamp was allways lit.\n";
const AFTER: &str = "The keeper wrote every night.\n\nHe received few visitors there.\n\nThe lamp was always lit.\n";
const MARKED: &str = "{~~Teh~>The~~}{>>AI for Ana: Rewrote it.<<} keeper wrote every night.\n\n\
    He {~~recieved~>received~~}{>>AI for Ana<<} few visitors there.\n\n\
    The lamp was {~~allways~>always~~}{>>AI for Ana<<} lit.\n";

/// Ana has asked for three corrections of a document.
fn three_changes() -> (TestServer, Person, String) {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let ana = copydesk.editor("Ana");
    let document = ana.creates(BEFORE);
    ana.asks("Fix the spelling");
    ana.sees_request();
    (copydesk, ana, document)
}

fn export(copydesk: &TestServer, token: &str, document: &str, format: &str) -> Response {
    let route = format!("GET /api/v1/documents/{document}/export?format={format}");
    let bearer = format!("Bearer {token}");
    ask(copydesk.address(), &route, &[("Host", copydesk.address()), ("Authorization", &bearer)])
}

fn code(response: &Response) -> String {
    assert!(response.head.contains("content-type: application/problem+json"), "{}", response.head);
    let problem: Value = serde_json::from_str(&response.body).unwrap();
    assert_eq!(problem["status"], response.status);
    problem["code"].as_str().unwrap().to_owned()
}

#[test]
fn every_format_comes_as_a_file_of_its_kind() {
    let (copydesk, ana, document) = three_changes();
    for (format, kind, ending) in [
        ("md", "text/markdown; charset=utf-8", "md"),
        ("html", "text/html; charset=utf-8", "html"),
        ("criticmarkup", "text/markdown; charset=utf-8", "critic.md"),
        ("json", "application/json", "json"),
        ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ] {
        let file = export(&copydesk, &ana.token, &document, format);
        assert_eq!(file.status, 200, "{format}: {}", file.body);
        assert!(file.head.contains(&format!("content-type: {kind}\r\n")), "{}", file.head);
        let name = format!(
            "content-disposition: attachment; filename=\"a story.{ending}\"; filename*=utf-8''a%20story.{ending}\r\n"
        );
        assert!(file.head.contains(&name), "{}", file.head);
        assert!(file.head.contains("x-content-type-options: nosniff"), "{}", file.head);
    }
}

#[test]
fn markdown_is_the_text_and_criticmarkup_says_what_is_pending() {
    let (copydesk, ana, document) = three_changes();
    assert_eq!(export(&copydesk, &ana.token, &document, "md").body, BEFORE);
    assert_eq!(export(&copydesk, &ana.token, &document, "criticmarkup").body, MARKED);
}

#[test]
fn json_has_version_hash_and_open_requests() {
    let (copydesk, ana, document) = three_changes();
    ana.types(0, "So: ");
    let file: Value =
        serde_json::from_str(&export(&copydesk, &ana.token, &document, "json").body).unwrap();
    assert_eq!((&file["version"], &file["text"]), (&json!(1), &json!(format!("So: {BEFORE}"))));
    assert_eq!(file["hash"].as_str().unwrap().len(), 64);
    assert_eq!(
        file["requests"][0]["hunks"][0]["parts"],
        json!([{"from": 4, "to": 7, "base": "Teh", "insert": "The"}])
    );
    assert_eq!(file["requests"][0]["author"], ana.user());
}

#[test]
fn an_export_is_for_those_who_may_read_the_document() {
    let (copydesk, ana, document) = three_changes();
    let ben = copydesk.editor("Ben");
    let other = ben.creates("Something else.");
    let only = |document: &str| copydesk.token("Cas", Role::Viewer, &["--document", document]);
    assert_eq!(
        export(&copydesk, &copydesk.token("Dee", Role::Viewer, &[]), &document, "md").status,
        200
    );
    assert_eq!(export(&copydesk, &only(&document), &document, "md").status, 200);
    let refused = export(&copydesk, &only(&other), &document, "md");
    assert_eq!((refused.status, code(&refused).as_str()), (403, "not_allowed"));
    let gone = export(&copydesk, &ana.token, "doc_nowhere", "md");
    assert_eq!((gone.status, code(&gone).as_str()), (404, "not_found"));
}

#[test]
fn someone_elses_private_document_is_not_there() {
    let copydesk = TestServer::scripted(Script::rewriting("Hers."));
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ana.asks_about("Rewrite it", &json!({"documentContent": "Mine."}));
    let document = ana.sees_request()["document_id"].as_str().unwrap().to_owned();
    assert_eq!(export(&copydesk, &ana.token, &document, "md").body, "Mine.");
    for token in [ben.token.as_str(), OWNER] {
        let refused = export(&copydesk, token, &document, "md");
        assert_eq!((refused.status, code(&refused).as_str()), (404, "not_found"));
    }
}

#[test]
fn without_a_token_in_a_header_there_is_no_file() {
    let (copydesk, ana, document) = three_changes();
    let route = format!("GET /api/v1/documents/{document}/export?format=md");
    let with = |route: &str, header: (&str, &str)| {
        ask(copydesk.address(), route, &[("Host", copydesk.address()), header])
    };
    assert_eq!(with(&route, ("x-api-key", &ana.token)).body, BEFORE);
    let in_address = format!("{route}&token={}", ana.token);
    for (route, header) in [
        (&route, ("Accept", "*/*")),
        (&in_address, ("Accept", "*/*")),
        (&route, ("Authorization", "Bearer wrong")),
        (&route, ("Authorization", ana.token.as_str())),
        (&route, ("Authorization", "Basic YTpi")),
        (&route, ("x-api-key", "")),
    ] {
        let refused = with(route, header);
        assert_eq!((refused.status, code(&refused).as_str()), (401, "unauthorized"), "{header:?}");
        assert!(
            refused.head.contains("www-authenticate: bearer realm=\"copydesk\""),
            "{}",
            refused.head
        );
        assert!(!refused.body.contains(&ana.token));
    }
}

#[test]
fn an_unknown_format_is_refused_with_those_there_are() {
    let (copydesk, ana, document) = three_changes();
    for query in ["?format=pdf", "?format=", "?format=MD", "", "?format=md&format=html"] {
        let route = format!("GET /api/v1/documents/{document}/export{query}");
        let refused = ask(
            copydesk.address(),
            &route,
            &[("Host", copydesk.address()), ("x-api-key", &ana.token)],
        );
        assert_eq!((refused.status, code(&refused).as_str()), (400, "invalid_request"), "{query}");
        assert!(refused.body.contains("md, html, docx, criticmarkup, json"), "{}", refused.body);
    }
}

#[test]
fn without_auth_everyone_here_may_export() {
    let directory = tempfile::tempdir().unwrap();
    let flags = ["--model", "harper", "--no-auth"].map(str::to_owned);
    let server = Server::start(&directory.path().join("data"), &flags, &[]);
    let anybody = Person::arrive(&server.url, "", "Anybody");
    let document = anybody.creates("Hello.");
    let route = format!("GET /api/v1/documents/{document}/export?format=md");
    assert_eq!(ask(server.address(), &route, &[("Host", server.address())]).body, "Hello.");
}

#[test]
fn the_editor_is_told_that_it_can_export() {
    let copydesk = TestServer::quiet();
    let capabilities = copydesk.owner().registered()["capabilities"].clone();
    assert!(capabilities.as_array().unwrap().contains(&json!("export")), "{capabilities}");
}

/// `copydesk export` on a server's data: standard output, or the complaint.
fn from_the_command_line(copydesk: &TestServer, arguments: &[&str]) -> Result<Vec<u8>, String> {
    let output = copydesk_command()
        .args(["export", "--data"])
        .arg(copydesk.data())
        .args(arguments)
        .output()
        .unwrap();
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

#[test]
fn the_command_line_exports_beside_a_running_server_and_without_one() {
    let (mut copydesk, ana, document) = three_changes();
    ana.types(0, "So: ");
    let marked = format!("So: {MARKED}");
    let arguments = ["--document", &document, "--format", "criticmarkup"];
    assert_eq!(from_the_command_line(&copydesk, &arguments), Ok(marked.clone().into_bytes()));
    let file = copydesk.data().join("../story.docx");
    let out = file.to_str().unwrap();
    assert_eq!(
        from_the_command_line(
            &copydesk,
            &["--document", &document, "--format", "docx", "--out", out]
        ),
        Ok(vec![])
    );
    assert_eq!(
        std::fs::read(&file).unwrap(),
        export(&copydesk, &ana.token, &document, "docx").bytes
    );
    copydesk.stops();
    assert_eq!(from_the_command_line(&copydesk, &arguments), Ok(marked.into_bytes()));
}

#[test]
fn the_command_line_says_what_is_wrong() {
    let copydesk = TestServer::quiet();
    let complaint = |arguments: &[&str]| from_the_command_line(&copydesk, arguments).unwrap_err();
    assert!(
        complaint(&["--document", "doc_nowhere", "--format", "md"]).contains("no such document")
    );
    assert!(complaint(&["--document", "doc_nowhere", "--format", "pdf"]).contains("criticmarkup"));
}

/// Returns pandoc's reading of a Word document; `None` where pandoc is not installed, which is a
/// failure with `COPYDESK_REQUIRE_ALL=1`.
fn read_by_pandoc(file: &Path, arguments: &[&str]) -> Option<String> {
    match Command::new("pandoc")
        .args(["--from", "docx", "--wrap=none"])
        .args(arguments)
        .arg(file)
        .output()
    {
        Ok(read) => {
            assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
            assert!(read.stderr.is_empty(), "{}", String::from_utf8_lossy(&read.stderr));
            Some(String::from_utf8(read.stdout).unwrap())
        }
        Err(error) => {
            skip("Word documents in another program", format_args!("no pandoc: {error}"));
            None
        }
    }
}

#[test]
fn another_program_finds_insertions_deletions_and_authors_in_the_word_document() {
    let (copydesk, ana, document) = three_changes();
    let made = export(&copydesk, &ana.token, &document, "docx");
    let file = copydesk.data().join("../story.docx");
    std::fs::write(&file, &made.bytes).unwrap();
    let Some(all) = read_by_pandoc(&file, &["--track-changes=all", "--to", "markdown"]) else {
        return;
    };
    for (word, kind) in [
        ("Teh", "deletion"),
        ("The", "insertion"),
        ("allways", "deletion"),
        ("always", "insertion"),
    ] {
        assert!(
            all.contains(&format!("[{word}]{{.{kind} author=\"AI for Ana\" date=\"20")),
            "{word}: {all}"
        );
    }
    assert_eq!(all.matches(".insertion").count(), 3, "{all}");
    assert_eq!(all.matches(".deletion").count(), 3, "{all}");
    assert!(all.contains("Rewrote it.") && all.contains(".comment-start"), "{all}");
    let accepted = read_by_pandoc(&file, &["--track-changes=accept", "--to", "plain"]);
    assert_eq!(accepted.as_deref(), Some(AFTER));
    let rejected = read_by_pandoc(&file, &["--track-changes=reject", "--to", "plain"]);
    assert_eq!(rejected.as_deref(), Some(BEFORE));
}

#[test]
fn another_program_reads_headings_lists_quotes_and_emphasis_in_the_word_document() {
    let text = "# One\n\n## Two\n\nPlain *slanted* **heavy** `code` [link](https://example.org/).\n\n> Said.\n\n- a\n  - b\n- c\n\n3. three\n4. four\n";
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(text);
    let file = copydesk.data().join("../story.docx");
    std::fs::write(&file, export(&copydesk, &ana.token, &document, "docx").bytes).unwrap();
    let Some(read) = read_by_pandoc(&file, &["--to", "gfm"]) else { return };
    // How much space pandoc puts between the items of a list is its own affair.
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(&read), words(text), "{read}");
    assert!(read.contains("    -   b"), "the list in the list: {read}");
}

#[test]
fn another_program_reads_tables_in_the_word_document() {
    let text = "| Lamp | Hours |\n|------|------:|\n| Fore | **40** |\n| Aft  | 12    |\n";
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(&format!("Before.\n\n{text}\nAfter.\n"));
    let file = copydesk.data().join("../story.docx");
    std::fs::write(&file, export(&copydesk, &ana.token, &document, "docx").bytes).unwrap();
    let Some(read) = read_by_pandoc(&file, &["--to", "html"]) else { return };
    let read = read.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "<p>Before.</p>",
        "<th><strong>Lamp</strong></th>",
        "<td>Fore</td> <td><strong>40</strong></td>",
        "<p>After.</p>",
    ] {
        assert!(read.contains(part), "{part}: {read}");
    }
}

#[test]
fn another_program_reads_footnotes_properties_and_directions_in_the_word_document() {
    let text = "---\ntitle: The Ledger\nauthor: Ana\n---\n\nHe left.[^1] Then[^long] he wrote.\n\n\
        - [x] oil\n- [ ] wicks\n\nשלום עולם.\n\n天地\n玄黄\n\n<!-- private -->\n\n\
        | a | b |\n|:-:|--:|\n| `x \\| y` | one<br>two |\n\n[^1]: Ibid.\n\n[^long]: See *that*.\n\n    More.\n";
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(text);
    let file = copydesk.data().join("../story.docx");
    std::fs::write(&file, export(&copydesk, &ana.token, &document, "docx").bytes).unwrap();
    let Some(read) = read_by_pandoc(&file, &["--to", "markdown"]) else { return };
    for part in [
        "He left.[^1] Then[^2] he wrote.",
        "[^1]: Ibid.",
        "[^2]: See *that*.\n\n    More.",
        "[x] oil",
        "[ ] wicks",
        "[שלום עולם.]{dir=\"rtl\"}",
        "天地玄黄",
        "`x | y`",
        "one\\\n",
    ] {
        assert!(read.contains(part), "{part}: {read}");
    }
    assert!(!read.contains("private") && !read.contains("Ledger"), "{read}");
}
