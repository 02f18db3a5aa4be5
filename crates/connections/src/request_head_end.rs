//! Search for the end of the head of an HTTP request or answer.

/// Search for the empty line at the end of a head. A line may end with a line feed alone; empty
/// lines before a head do not end it.
#[derive(Debug, Default)]
pub(super) struct HeadEnd {
    has_begun: bool,
    /// `true` if nothing but a carriage return has come since the last line feed.
    at_line_start: bool,
}

impl HeadEnd {
    pub(super) fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'\n' if self.has_begun && self.at_line_start => {
                    *self = Self::default();
                    return Some(at + 1);
                }
                b'\n' => self.at_line_start = true,
                b'\r' => {}
                _ => *self = Self { has_begun: true, at_line_start: false },
            }
        }
        None
    }
}
