//! Files that other programs wrote, in `fixtures/word`.

use super::{decided, from_word, left_out};

#[test]
fn a_file_of_libreoffice_is_read() {
    let read = from_word(include_bytes!("../../../../../fixtures/word/libreoffice.docx")).unwrap();
    assert_eq!(
        read.markdown,
        "# The Pier\n\nSome **bold**, *italic* and [linked](https://a.example/) words.\n\n\
         1. one\n   1. inner\n2. two\n\nbetween\n\n3. three\n\n- dot\n\n> Quoted.\n\n\
         ```\nif x:\n    y()\n```\n\n\
         | A | B |\n| :-- | :-- |\n| wide |  |\n| a | b |\n\n---\n\nEnd."
    );
    assert_eq!(read.title.as_deref(), Some("The Pier"));
    assert_eq!((left_out(&read), decided(&read)), (vec![], vec![("merged cell", 1)]));
}

#[test]
fn a_file_of_python_docx_is_read_with_its_changes() {
    let read = from_word(include_bytes!("../../../../../fixtures/word/python-docx.docx")).unwrap();
    assert_eq!(
        read.markdown,
        "# The Lighthouse\n\nA **bold** and *italic* lamp.\n\n\
         - oil\n  - whale oil\n    - rare\n- wicks\n\n1. first\n   1. inner\n2. second\n\n\
         > Light is patient.\n\n\
         | Year | Oil | Keeper |\n| --- | --- | --- |\n| 1790 | whale |  |\n| 1791 | seal | Bo |\n\n\
         The keeper climbs the stairs."
    );
    let authors: Vec<_> = read.suggestions.iter().map(|it| it.author.as_str()).collect();
    assert_eq!(authors, ["Bo", "Ana"]);
    let part = &read.suggestions[0].changes[0].parts[0];
    let replaced: String =
        read.markdown.chars().skip(part.from).take(part.to - part.from).collect();
    assert_eq!((replaced.as_str(), part.insert.as_str()), ("climbs", "climbed"));
    assert_eq!(read.suggestions[1].changes[0].parts[0].insert, " every night");
    assert_eq!(left_out(&read), [("picture", 1), ("header", 1)]);
    assert_eq!(read.threads.len(), 1);
    assert_eq!(read.threads[0].comments[0].text, "Which keeper?");
}

#[test]
fn a_file_of_pandoc_is_read() {
    let read = from_word(include_bytes!("../../../../../fixtures/word/pandoc.docx")).unwrap();
    for words in [
        "note[^1].",
        "> Quote one.\n>\n> Quote two.",
        "    1. c\n    2. d",
        "- e\n\n  more e\n\n3. three\n4. four",
        "- [ ] open\n- [x] done",
        "| :-- | :-: | --: |",
        "Inline $E=mc^2$ and",
        "\\sum_{i=1}^n",
        "[^1]: The note **bold**.",
    ] {
        assert!(read.markdown.contains(words), "{words:?} is not in {}", read.markdown);
    }
    assert!(left_out(&read).is_empty());
}
