//! Signs at the beginning of a line, which would make it a heading, a list, a quotation, a line, a
//! fence, or the end of a heading or of a table's head.

use super::escapes::Escapes;

/// Escapes the signs at the beginning of each line.
pub fn escape(escapes: &mut Escapes<'_>) {
    let mut start = 0;
    for line in escapes.text().split('\n') {
        if let Some(at) = sign_of(line, start == 0) {
            let signs =
                line.as_bytes()[at..].iter().take_while(|sign| **sign == line.as_bytes()[at]);
            // What is left of signs of marks could still be a mark.
            let count =
                if line[at..].starts_with(['*', '_', '~', '`']) { signs.count() } else { 1 };
            (at..at + count).for_each(|at| escapes.escape(start + at));
        }
        start += line.len() + 1;
    }
}

/// Returns the byte of the sign that would make the line something else than words.
fn sign_of(line: &str, is_first: bool) -> Option<usize> {
    // A backslash at the end is a line break.
    let line = line.strip_suffix('\\').unwrap_or(line);
    let first = line.bytes().next()?;
    let behind = |count: usize| line.as_bytes().get(count).is_none_or(|sign| *sign == b' ');
    let is_block = match first {
        b'>' => true,
        b'#' => {
            let count = line.len() - line.trim_start_matches('#').len();
            count <= 6 && behind(count)
        }
        b'-' | b'+' | b'*' | b'_' | b'=' => {
            let is_list = matches!(first, b'-' | b'+' | b'*') && behind(1);
            let rest = line.trim_start_matches(char::from(first)).trim_end();
            let is_underline = !is_first && matches!(first, b'-' | b'=') && rest.is_empty();
            is_list || is_underline || is_rule(line, first) || is_table_head_end(line, is_first)
        }
        b'`' => line.starts_with("```") && !line.trim_start_matches('`').contains('`'),
        b'~' => line.starts_with("~~~"),
        b'|' | b':' => is_table_head_end(line, is_first),
        b'0'..=b'9' => {
            let digits = line.bytes().take_while(u8::is_ascii_digit).count();
            let is_sign = matches!(line.as_bytes().get(digits), Some(b'.' | b')'));
            return (digits <= 9 && is_sign && behind(digits + 1)).then_some(digits);
        }
        _ => false,
    };
    is_block.then_some(0)
}

fn is_rule(line: &str, sign: u8) -> bool {
    let signs = line.bytes().filter(|it| *it == sign).count();
    matches!(sign, b'-' | b'*' | b'_')
        && signs >= 3
        && line.bytes().all(|it| it == sign || it == b' ')
}

fn is_table_head_end(line: &str, is_first: bool) -> bool {
    !is_first
        && line.contains('-')
        && line.bytes().all(|it| matches!(it, b'|' | b':' | b'-' | b' '))
}
