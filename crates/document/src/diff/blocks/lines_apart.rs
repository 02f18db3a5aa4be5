//! Text that becomes code, or the reverse: its lines stay where they are.

use std::collections::HashSet;

use super::{BlockKind, TextBlock};

/// Cuts the paragraphs of each text that are lines of code in the other one into their lines, so
/// that only the marks around them count as added or removed.
pub(in crate::diff) fn lines_apart(
    (old, old_blocks): (&str, &mut Vec<TextBlock>),
    (new, new_blocks): (&str, &mut Vec<TextBlock>),
) {
    let (old_code, new_code) = (code_lines(old, old_blocks), code_lines(new, new_blocks));
    let becomes = |text: &str, block: &TextBlock, code: &HashSet<&str>, own: &HashSet<&str>| {
        block.kind != BlockKind::Code
            && text[block.range.clone()]
                .lines()
                .map(str::trim_end)
                .any(|line| code.contains(line) && !own.contains(line))
    };
    let finds = |text: &str, blocks: &[TextBlock], code: &HashSet<&str>, own: &HashSet<&str>| {
        !code.is_subset(own) && blocks.iter().any(|it| becomes(text, it, code, own))
    };
    if !finds(old, old_blocks, &new_code, &old_code)
        && !finds(new, new_blocks, &old_code, &new_code)
    {
        return;
    }
    let cut = |text, blocks: &mut Vec<TextBlock>, code: &HashSet<&str>, own: &HashSet<&str>| {
        let apart = std::mem::take(blocks).into_iter().flat_map(|block| {
            if block.kind == BlockKind::Code || becomes(text, &block, code, own) {
                lines(text, &block)
            } else {
                vec![block]
            }
        });
        *blocks = apart.collect();
    };
    cut(old, old_blocks, &new_code, &old_code);
    cut(new, new_blocks, &old_code, &new_code);
}

fn code_lines<'a>(text: &'a str, blocks: &[TextBlock]) -> HashSet<&'a str> {
    let code = blocks.iter().filter(|it| it.kind == BlockKind::Code);
    let lines = code.map(|it| text[it.range.clone()].trim_end());
    lines.filter(|line| !line.is_empty()).collect()
}

/// Returns the lines of a block, with the blank ones behind it as one.
fn lines(text: &str, block: &TextBlock) -> Vec<TextBlock> {
    let body = text[block.range.clone()].trim_end().len();
    let mut at = block.range.start;
    let mut lines: Vec<TextBlock> = Vec::new();
    for line in text[block.range.clone()].split_inclusive('\n') {
        let range = at..at + line.len();
        match lines.last_mut().filter(|last| last.range.start >= block.range.start + body) {
            Some(blank) => blank.range.end = range.end,
            None => lines.push(TextBlock { range, kind: BlockKind::Code }),
        }
        at += line.len();
    }
    lines
}
