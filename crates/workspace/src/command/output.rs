//! Buffer for a command's output, which keeps the beginning and the end: errors come at the end.

use std::collections::VecDeque;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Largest number of characters in a result, of both streams together.
const OUTPUT_CHARS: usize = 30_000;
/// Number of bytes kept of each end of a stream: no character has more than four.
const END_BYTES: usize = 4 * OUTPUT_CHARS;

/// Beginning and end of a stream, as [`combined`] joins them.
#[derive(Debug, Default)]
pub(super) struct OutputBuffer {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// Number of bytes between the two, which are not kept.
    between: u64,
}

impl OutputBuffer {
    pub(super) async fn read(&mut self, from: Option<impl AsyncRead + Unpin>) {
        let Some(mut from) = from else { return };
        let mut piece = vec![0; 8 * 1024];
        while let Ok(count @ 1..) = from.read(&mut piece).await {
            self.add(&piece[..count]);
        }
    }

    fn add(&mut self, piece: &[u8]) {
        let room = (END_BYTES - self.head.len()).min(piece.len());
        self.head.extend_from_slice(&piece[..room]);
        self.tail.extend(&piece[room..]);
        let excess = self.tail.len().saturating_sub(END_BYTES);
        self.tail.drain(..excess);
        self.between += excess as u64;
    }

    fn chars(&self) -> usize {
        String::from_utf8_lossy(&self.head).chars().count()
            + String::from_utf8_lossy(&self.tail.iter().copied().collect::<Vec<_>>())
                .chars()
                .count()
    }

    /// Returns at most `most` characters, from both ends, and the number of bytes left out between.
    fn cut(&self, most: usize) -> String {
        let mut head = self.head.clone();
        let mut tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.between == 0 {
            head.append(&mut tail);
        }
        let (head, tail) = (String::from_utf8_lossy(&head), String::from_utf8_lossy(&tail));
        if self.between == 0 && head.chars().count() <= most {
            return head.into_owned();
        }
        // If all bytes are kept, the end is cut from the text after the beginning.
        let (head, rest) = head.split_at(place(&head, most / 2));
        let rest = if self.between == 0 { rest } else { &tail };
        let tail = &rest[place(rest, rest.chars().count().saturating_sub(most - most / 2))..];
        let all = self.head.len() as u64 + self.between + self.tail.len() as u64;
        let left = all.saturating_sub((head.len() + tail.len()) as u64);
        let end = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        format!("{head}{end}[{left} bytes of the output were left out here]\n{tail}")
    }
}

/// Returns the byte offset of character `nth`, or the length of the text if there are fewer.
fn place(text: &str, nth: usize) -> usize {
    text.char_indices().nth(nth).map_or(text.len(), |(at, _)| at)
}

/// Joins standard output and standard error. Each gets half of the characters, and also the part of
/// the other half that is not used.
pub(super) fn combined(out: &OutputBuffer, err: &OutputBuffer) -> String {
    let half = OUTPUT_CHARS / 2;
    let spare = |other: &OutputBuffer| half + half.saturating_sub(other.chars());
    let (out, err) = (out.cut(spare(err)), err.cut(spare(out)));
    let between = if out.is_empty() || err.is_empty() || out.ends_with('\n') { "" } else { "\n" };
    format!("{out}{between}{err}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(pieces: &[&[u8]]) -> OutputBuffer {
        let mut kept = OutputBuffer::default();
        for piece in pieces {
            kept.add(piece);
        }
        kept
    }

    #[test]
    fn what_is_short_is_told_as_it_is() {
        let (out, err) = (kept(&[b"one\n", b"two"]), kept(&[b"oh\n"]));
        assert_eq!(combined(&out, &err), "one\ntwo\noh\n");
        assert_eq!(combined(&out, &OutputBuffer::default()), "one\ntwo");
        assert_eq!(combined(&OutputBuffer::default(), &err), "oh\n");
        let full = "é".repeat(OUTPUT_CHARS);
        assert_eq!(combined(&kept(&[full.as_bytes()]), &OutputBuffer::default()), full);
    }

    #[test]
    fn of_what_is_long_both_ends_are_told_and_how_much_is_between() {
        for lines in [20_000_usize, 200_000, 2_000_000] {
            let text = (0..lines).fold(String::new(), |text, line| text + &format!("{line:07}\n"));
            let out = kept(&text.as_bytes().chunks(1_000).collect::<Vec<_>>());
            let combined = combined(&out, &OutputBuffer::default());
            assert!(combined.starts_with("0000000\n0000001\n"), "{}", &combined[..40]);
            assert!(combined.ends_with(&format!("{:07}\n", lines - 1)));
            let left = text.len() - OUTPUT_CHARS;
            assert!(
                combined.contains(&format!("\n[{left} bytes of the output were left out here]\n"))
            );
            assert!(combined.chars().count() < OUTPUT_CHARS + 100);
        }
    }

    #[test]
    fn complaints_are_told_however_much_is_written() {
        let flood = kept(&[&vec![b'x'; 3 * END_BYTES]]);
        let combined_of = combined(&flood, &kept(&[b"error: it failed\n"]));
        assert!(combined_of.ends_with("\nerror: it failed\n"));
        assert!(combined_of.chars().count() > OUTPUT_CHARS - 100, "the rest of the room is used");
        let both = combined(&flood, &kept(&[&vec![b'y'; END_BYTES], b"the last word"]));
        assert!(both.ends_with("the last word") && both.matches("left out here").count() == 2);
        assert!(both.chars().count() < OUTPUT_CHARS + 200);
    }
}
