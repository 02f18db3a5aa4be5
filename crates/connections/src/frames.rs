//! Lengths of WebSocket frames (RFC 6455, section 5.2), read from the passing bytes.

/// Longest header of a frame, in bytes: two, eight of the length, four of the mask.
const LONGEST_HEADER: usize = 14;
/// Bytes of a payload's beginning that are kept: the types of an engine.io and a socket.io packet.
pub(super) const BEGINNING: usize = 2;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// Further part of the message before.
    Continuation,
    /// The beginning of a text message.
    #[default]
    Text,
    /// The beginning of a binary message.
    Binary,
    /// The peer closes the connection.
    Close,
    Heartbeat,
    Undefined,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHeader {
    pub(super) kind: FrameKind,
    /// `true` if it is the last of its message.
    pub(super) is_final: bool,
    /// Bytes of the payload, as the header declares them.
    pub(super) length: u64,
    /// First bytes of the payload, unmasked; zero where the payload is shorter or has not come yet.
    pub(super) beginning: [u8; BEGINNING],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameEvent {
    /// A header is complete; nothing is known of the payload yet.
    Begun(FrameHeader),
    /// The first [`BEGINNING`] bytes of a payload have passed, or all of a shorter one.
    Recognised(FrameHeader),
    /// The last byte of the payload has passed.
    Ended(FrameHeader),
}

/// Observer of the frames of one direction. Bytes may come in pieces of any size.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameObserver {
    header: [u8; LONGEST_HEADER],
    /// Bytes of the header that have come.
    known: usize,
    current: Option<CurrentFrame>,
}

/// A frame whose payload is passing.
#[derive(Clone, Copy, Debug)]
struct CurrentFrame {
    frame: FrameHeader,
    mask: [u8; 4],
    /// Bytes of the payload that have passed.
    passed: u64,
}

impl FrameObserver {
    pub(super) fn is_between_frames(&self) -> bool {
        self.known == 0 && self.current.is_none()
    }

    /// Follows `bytes`, and calls `tell` for each event, until so many frames have ended; returns
    /// the number of bytes up to there.
    pub(super) fn observe(
        &mut self,
        all: &[u8],
        most_frames: u32,
        mut tell: impl FnMut(FrameEvent),
    ) -> usize {
        let (mut bytes, mut frames) = (all, 0);
        loop {
            if let Some(current) = &mut self.current {
                bytes = current.pass(bytes, &mut tell);
                if current.passed < current.frame.length {
                    return all.len();
                }
                tell(FrameEvent::Ended(current.frame));
                self.current = None;
                frames += 1;
                if frames == most_frames {
                    return all.len() - bytes.len();
                }
            }
            let [first, rest @ ..] = bytes else { return all.len() };
            bytes = rest;
            self.header[self.known] = *first;
            self.known += 1;
            if self.known == header_length(&self.header[..self.known]) {
                let current = CurrentFrame::read(&self.header[..self.known]);
                self.known = 0;
                tell(FrameEvent::Begun(current.frame));
                self.current = Some(current);
            }
        }
    }
}

impl CurrentFrame {
    fn read(header: &[u8]) -> Self {
        let (first, second) = (header[0], header[1]);
        let masked = second & 0x80 != 0;
        let of_length = &header[2..header.len() - if masked { 4 } else { 0 }];
        let length = match of_length.len() {
            0 => u64::from(second & 0x7f),
            _ => of_length.iter().fold(0, |length, byte| length << 8 | u64::from(*byte)),
        };
        let mut mask = [0; 4];
        if masked {
            mask.copy_from_slice(&header[header.len() - 4..]);
        }
        let kind = match first & 0x0f {
            0 => FrameKind::Continuation,
            1 => FrameKind::Text,
            2 => FrameKind::Binary,
            8 => FrameKind::Close,
            9 | 10 => FrameKind::Heartbeat,
            _ => FrameKind::Undefined,
        };
        let is_final = first & 0x80 != 0;
        Self {
            frame: FrameHeader { kind, is_final, length, beginning: [0; BEGINNING] },
            mask,
            passed: 0,
        }
    }

    fn pass<'a>(&mut self, bytes: &'a [u8], tell: &mut impl FnMut(FrameEvent)) -> &'a [u8] {
        let left = self.frame.length - self.passed;
        let now = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let recognised_at = self.frame.length.min(BEGINNING as u64);
        let was_recognised = self.passed >= recognised_at;
        if !was_recognised {
            let from = self.passed as usize;
            for (at, byte) in (from..BEGINNING).zip(&bytes[..now]) {
                self.frame.beginning[at] = byte ^ self.mask[at];
            }
        }
        self.passed += now as u64;
        if !was_recognised && self.passed >= recognised_at {
            tell(FrameEvent::Recognised(self.frame));
        }
        &bytes[now..]
    }
}

/// Returns the length of a header in bytes, as known; never less than have come.
fn header_length(begun: &[u8]) -> usize {
    let [_, second, ..] = begun else { return 2 };
    let of_length = match second & 0x7f {
        127 => 8,
        126 => 2,
        _ => 0,
    };
    2 + of_length + if second & 0x80 == 0 { 0 } else { 4 }
}

#[cfg(test)]
mod tests {
    use super::FrameKind::{Close, Continuation, Heartbeat, Text};
    use super::*;

    /// A frame as it stands on the wire.
    fn frame(first: u8, mask: Option<[u8; 4]>, payload: &[u8]) -> Vec<u8> {
        let masked = if mask.is_some() { 0x80 } else { 0 };
        let mut bytes = vec![first];
        match payload.len() {
            length @ 0..126 => bytes.push(masked + length as u8),
            length @ 126..65_536 => {
                bytes.push(masked + 126);
                bytes.extend((length as u16).to_be_bytes());
            }
            length => {
                bytes.push(masked + 127);
                bytes.extend((length as u64).to_be_bytes());
            }
        }
        bytes.extend(mask.into_iter().flatten());
        let mask = mask.unwrap_or_default();
        bytes.extend(payload.iter().enumerate().map(|(at, byte)| byte ^ mask[at % 4]));
        bytes
    }

    fn observed(pieces: &[&[u8]]) -> Vec<FrameEvent> {
        let (mut observer, mut told) = (FrameObserver::default(), Vec::new());
        for piece in pieces {
            observer.observe(piece, u32::MAX, |it| told.push(it));
        }
        told
    }

    fn ended(told: &[FrameEvent]) -> Vec<(FrameKind, bool, u64, [u8; 2])> {
        let ended = told.iter().filter_map(|it| match it {
            FrameEvent::Ended(it) => Some((it.kind, it.is_final, it.length, it.beginning)),
            FrameEvent::Begun(_) | FrameEvent::Recognised(_) => None,
        });
        ended.collect()
    }

    const MASK: [u8; 4] = [0xa1, 0x02, 0xff, 0x34];

    #[test]
    fn every_form_of_length_is_read_masked_or_not() {
        for mask in [None, Some(MASK)] {
            for length in [0, 1, 2, 3, 125, 126, 127, 65_535, 65_536, 100_000] {
                let payload: Vec<u8> = b"42".iter().copied().cycle().take(length).collect();
                let mut beginning = [0; 2];
                beginning[..length.min(2)].copy_from_slice(&payload[..length.min(2)]);
                let told = observed(&[&frame(0x81, mask, &payload)]);
                let expected = (FrameKind::Text, true, length as u64, beginning);
                assert_eq!(ended(&told), [expected], "{length} {mask:?}");
                assert_eq!(told.len(), 2 + usize::from(length > 0), "{length}");
            }
        }
    }

    #[test]
    fn a_header_is_told_before_its_payload_comes() {
        let bytes = frame(0x82, Some(MASK), &vec![7; 70_000]);
        let told = observed(&[&bytes[..14]]);
        let [FrameEvent::Begun(begun)] = told.as_slice() else { panic!("{told:?}") };
        assert_eq!((begun.kind, begun.length), (FrameKind::Binary, 70_000));
        assert!(observed(&[&bytes[..13]]).is_empty());
    }

    #[test]
    fn frames_read_the_same_wherever_they_are_split() {
        // A message of three frames with a ping between them, then a close.
        let bytes: Vec<u8> = [
            frame(0x01, Some(MASK), b"4"),
            frame(0x00, Some(MASK), &[b'2'; 300]),
            frame(0x89, Some(MASK), b"ping"),
            frame(0x80, Some(MASK), b""),
            frame(0x81, None, b"43"),
            frame(0x88, Some(MASK), &[3, 232]),
        ]
        .concat();
        let whole = observed(&[&bytes]);
        let kinds: Vec<_> = ended(&whole).iter().map(|it| (it.0, it.1, it.2)).collect();
        let expected = [
            (Text, false, 1),
            (Continuation, false, 300),
            (Heartbeat, true, 4),
            (Continuation, true, 0),
            (Text, true, 2),
            (Close, true, 2),
        ];
        assert_eq!(kinds, expected);
        for at in 0..=bytes.len() {
            assert_eq!(observed(&[&bytes[..at], &bytes[at..]]), whole, "split at {at}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(observed(&single), whole);
    }

    #[test]
    fn so_many_frames_are_followed_at_once_and_no_more() {
        let bytes = frame(0x81, Some(MASK), b"42").repeat(5);
        let (mut observer, mut told) = (FrameObserver::default(), Vec::new());
        let passed = observer.observe(&bytes, 3, |it| told.push(it));
        assert_eq!((passed, ended(&told).len()), (bytes.len() / 5 * 3, 3));
        assert_eq!(observer.observe(&bytes[passed..], 3, |it| told.push(it)), bytes.len() / 5 * 2);
        assert_eq!(told, observed(&[&bytes]));
    }

    #[test]
    fn a_length_beyond_all_memory_is_only_a_number() {
        let mut bytes = vec![0x81, 0xff];
        bytes.extend([0xff; 8]);
        bytes.extend(MASK);
        bytes.extend([1; 100]);
        let told = observed(&[&bytes]);
        assert!(
            matches!(told[0], FrameEvent::Begun(FrameHeader { length: u64::MAX, .. })),
            "{told:?}"
        );
        assert!(ended(&told).is_empty());
    }
}
