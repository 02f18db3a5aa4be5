//! Standard input and output, line by line.

use std::io::{BufRead, Read as _, Write as _};

use tokio::sync::mpsc;

/// Maximum number of lines that wait to be carried.
const WAITING: usize = 64;
/// Maximum bytes of a line that is carried: the server's limit, and some more.
const LONGEST_LINE: u64 = 64 * 1024 * 1024;

/// Line of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputLine {
    /// Text, which may or may not be JSON.
    Text(String),
    /// Line that cannot hold a message, with the reason.
    Unreadable(&'static str),
}

/// Begins to read standard input, and returns its [`InputLine`]s, until the client is done.
///
/// Read by a separate thread: waiting for input must not keep the process from ending.
pub fn input_lines() -> mpsc::Receiver<InputLine> {
    let (sender, lines) = mpsc::channel(WAITING);
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        while let Some(line) = read_line(&mut input, LONGEST_LINE) {
            let is_blank = matches!(&line, InputLine::Text(text) if text.trim().is_empty());
            if !is_blank && sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// Reads the next line, of at most `longest` bytes; `None` at the end of the input. Whatever a line
/// holds, the next one is read as usual.
fn read_line(input: &mut impl BufRead, longest: u64) -> Option<InputLine> {
    let mut line = Vec::new();
    match input.by_ref().take(longest).read_until(b'\n', &mut line) {
        Ok(0) | Err(_) => return None,
        Ok(_) => {}
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() as u64 == longest && !skip_line(input)? {
        return Some(InputLine::Unreadable("the line is too long"));
    }
    let text = String::from_utf8(line);
    Some(text.map_or(InputLine::Unreadable("the line is not UTF-8"), InputLine::Text))
}

/// Skips the rest of a line, and returns `true` if there was none. `None` if nothing can be read
/// any more.
fn skip_line(input: &mut impl BufRead) -> Option<bool> {
    let mut is_first = true;
    loop {
        let piece = input.fill_buf().ok()?;
        if piece.is_empty() {
            return Some(is_first);
        }
        if let Some(end) = piece.iter().position(|byte| *byte == b'\n') {
            input.consume(end + 1);
            return Some(is_first && end == 0);
        }
        let bytes = piece.len();
        input.consume(bytes);
        is_first = false;
    }
}

/// Writes one message to standard output.
pub fn write_line(message: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(message.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(input: &[u8]) -> Vec<InputLine> {
        // A small buffer, so that long lines come in pieces.
        let mut input = std::io::BufReader::with_capacity(3, input);
        std::iter::from_fn(|| read_line(&mut input, 8)).collect()
    }

    #[test]
    fn a_line_that_cannot_be_read_does_not_stop_the_next_ones() {
        let text = |text: &str| InputLine::Text(text.to_owned());
        let long = InputLine::Unreadable("the line is too long");
        let latin = InputLine::Unreadable("the line is not UTF-8");
        assert_eq!(read(b"one\ntwo"), [text("one"), text("two")]);
        assert_eq!(read(b"caf\xe9\n{}\n"), [latin, text("{}")]);
        assert_eq!(read(b"123456789\n{}\n"), [long.clone(), text("{}")]);
        assert_eq!(read(b"12345678\n{}\n"), [text("12345678"), text("{}")]);
        assert_eq!(read(b"12345678901234567890"), [long]);
        assert_eq!(read(b"\n\n"), [text(""), text("")]);
        assert!(read(b"").is_empty());
    }
}
