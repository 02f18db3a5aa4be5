//! Lists as programs write them.

use super::{check, markdown};

#[test]
fn inner_lists_beside_an_entry_are_in_it() {
    check(&[
        ("<ul><li>a</li><ul><li>b</li></ul><li>c</li></ul>", "- a\n  - b\n- c"),
        ("<ol><li>a<ol><li>b</li></ol></li><li>c</li></ol>", "1. a\n   1. b\n2. c"),
        (
            "<ol><li>a</li><ul><li>b</li><ul><li>d</li></ul></ul><li>c</li></ol>",
            "1. a\n   - b\n     - d\n2. c",
        ),
        ("<ul><ul><li>a</li></ul><li>b</li></ul>", "- a\n- b"),
        ("<ul><div><li>a</li><li>b</li></div></ul>", "- a\n- b"),
        ("<li>a</li><li>b</li>", "- a\n- b"),
    ]);
}

#[test]
fn levels_can_be_attributes() {
    let online = |level: u8, words: &str| {
        format!(
            "<div class=\"ListContainerWrapper\"><ul><li data-aria-level=\"{level}\"><p>{words}</p></li></ul></div>"
        )
    };
    let page = [online(1, "a"), online(2, "b"), online(3, "c"), online(1, "d")].concat();
    assert_eq!(markdown(&page), "- a\n  - b\n    - c\n- d");
    check(&[
        (
            "<ul><li aria-level=1>a</li><li aria-level=2>b</li><li aria-level=1>c</li></ul>",
            "- a\n  - b\n- c",
        ),
        (
            "<ol><li data-list=ordered>a</li><li data-list=bullet class=ql-indent-1>b</li><li data-list=ordered>c</li></ol>",
            "1. a\n   - b\n2. c",
        ),
        ("<ul><li aria-level=1>a</li><ul><li aria-level=2>b</li></ul></ul>", "- a\n  - b"),
    ]);
}

#[test]
fn numbers_stay() {
    check(&[
        ("<ol start=7><li>a</li><li>b</li></ol>", "7. a\n8. b"),
        ("<ol><li>a</li><li value=5>b</li><li>c</li></ol>", "1. a\n\n5) b\n6) c"),
        ("<ol reversed><li>a</li><li>b</li></ol>", "- 2\\. a\n- 1\\. b"),
        ("<ol><li>a</li></ol><p>x</p><ol start=2><li>b</li></ol>", "1. a\n\nx\n\n2. b"),
    ]);
    assert_eq!(super::from_html("<ol type=a><li>x</ol>").report.decided.len(), 1);
}

#[test]
fn entries_hold_blocks() {
    check(&[
        ("<ul><li><p>a</p><p>b</p></li><li>c</li></ul>", "- a\n\n  b\n\n- c"),
        ("<ul><li>a<blockquote>q</blockquote></li></ul>", "- a\n  > q"),
        ("<ul><li>a<br><br>b</li></ul>", "- a\n\n  b"),
        ("<ul><li><div>a</div><ol><li>b</li></ol></li></ul>", "- a\n  1. b"),
    ]);
}

#[test]
fn boxes_to_tick_are_tasks() {
    check(&[
        (
            "<ul><li class=task-list-item><input type=checkbox checked> a</li><li><input type=checkbox> b</li></ul>",
            "- [x] a\n- [ ] b",
        ),
        (
            "<ul><li role=checkbox aria-checked=true><img src=\"data:x\" alt=checked aria-roledescription=checkbox><p>a</p></li></ul>",
            "- [x] a",
        ),
        (
            "<ul class=to-do-list><li><div class=\"checkbox checkbox-off\"></div> <span>a</span></li></ul>",
            "- [ ] a",
        ),
        (
            "<ul data-type=taskList><li data-checked=false><label><input type=checkbox><span></span></label><div><p>a</p></div></li></ul>",
            "- [ ] a",
        ),
        ("<!-- notionvc: 1 --><ul><li>[x] a</li></ul>", "- [x] a"),
        ("<ul><li><p><input type=checkbox> a</p></li><li>b</li></ul>", "- [ ] a\n- b"),
    ]);
}

#[test]
fn word_paragraphs_with_levels_are_lists() {
    let entry = |level: u8, marker: &str, words: &str| {
        format!(
            "<p class=MsoListParagraph style='mso-list:l0 level{level} lfo1'><!--[if !supportLists]--><span>{marker}&nbsp;&nbsp; </span><!--[endif]-->{words}</p>"
        )
    };
    let page = [entry(1, "1.", "a"), entry(2, "a)", "b"), entry(2, "b)", "c"), entry(1, "2.", "d")];
    assert_eq!(markdown(&page.concat()), "1. a\n   1. b\n   2. c\n2. d");
    let page = [entry(2, "§", "a"), entry(1, "·", "b"), entry(1, "1.1", "c")];
    assert_eq!(markdown(&page.concat()), "- a\n- b\n- 1.1 c");
}
