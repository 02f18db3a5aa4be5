//! WebSocket frames that a client sends: followed, counted and bounded while they arrive.

use super::EndReason;
use super::frames::{FrameEvent, FrameHeader, FrameKind, FrameObserver};
use super::memory_accounts::{HeldBytes, HeldPurpose};
use super::registry::ConnectionRegistry;
use super::retained_buffers::RetainedBuffer;
use super::tcp_connection::TcpConnection;

/// Largest message, in bytes, that is not counted on arrival: the connection's buffers hold it.
const SMALL_MESSAGE_BYTES: u64 = 4 * 1024;
/// Longest payload of a frame that is no part of a message (RFC 6455, section 5.5).
const CONTROL_BYTES: u64 = 125;
/// Frames that are handed over before other tasks have a turn.
pub(super) const FRAMES_AT_ONCE: u32 = 64;

#[derive(Debug, Default)]
pub(super) struct IncomingFrames {
    observer: FrameObserver,
    message: IncomingMessage,
    buffer: RetainedBuffer,
}

#[derive(Debug, Default)]
struct IncomingMessage {
    /// Bytes of the message that were declared so far.
    length: u64,
    kind: FrameKind,
    /// `true` if its first bytes were checked.
    is_recognised: bool,
    /// `true` if it has a frame with the packet alone by which a client gives up long polling.
    has_upgrade: bool,
    held: Option<HeldBytes>,
}

impl IncomingFrames {
    /// Follows bytes up to the last frame to be handed over at once; returns bytes and frames.
    pub(super) fn pass(
        &mut self,
        transport: &TcpConnection,
        connections: &ConnectionRegistry,
        bytes: &[u8],
    ) -> Result<(usize, u32), EndReason> {
        let (message, buffer) = (&mut self.message, &mut self.buffer);
        let (mut frames, mut result) = (0, Ok(()));
        let passed = self.observer.observe(bytes, FRAMES_AT_ONCE, |it| {
            frames += u32::from(matches!(it, FrameEvent::Ended(_)));
            if result.is_ok() {
                result = message.follow(transport, it);
            }
            if let (FrameEvent::Begun(frame), Ok(()), Some(session)) =
                (it, result, transport.session())
            {
                buffer.grow(session, frame.length);
            }
        });
        result?;
        if let Some(session) = transport.session().filter(|it| it.person().is_none()) {
            let hold = |bytes| connections.hold_unauthenticated(bytes);
            session.hold_early(passed, hold).map_err(|_| EndReason::ArrivingTooMuch)?;
        }
        Ok((passed, frames))
    }
}

impl IncomingMessage {
    fn follow(&mut self, transport: &TcpConnection, observed: FrameEvent) -> Result<(), EndReason> {
        match observed {
            FrameEvent::Begun(frame) => self.grow(transport, frame),
            FrameEvent::Recognised(frame) => self.recognise(transport, frame),
            FrameEvent::Ended(frame) if is_data(frame.kind) => {
                self.has_upgrade |= is_upgrade(frame);
                if frame.is_final {
                    if self.kind == FrameKind::Text && self.length == 1 && self.has_upgrade {
                        transport.complete_probe();
                    }
                    *self = Self::default();
                }
                Ok(())
            }
            FrameEvent::Ended(_) => Ok(()),
        }
    }

    fn grow(&mut self, transport: &TcpConnection, frame: FrameHeader) -> Result<(), EndReason> {
        match frame.kind {
            FrameKind::Text | FrameKind::Binary => self.kind = frame.kind,
            FrameKind::Continuation => {}
            FrameKind::Close | FrameKind::Heartbeat => return control(transport, frame),
            FrameKind::Undefined => return Err(EndReason::Protocol),
        }
        self.length = self.length.saturating_add(frame.length);
        // Until the switch is agreed to, the message has no client.
        let session = transport.session().ok_or(EndReason::Protocol)?;
        if self.length > session.message_limit() as u64 {
            return Err(EndReason::MessageTooLarge);
        }
        let held = match (&mut self.held, session.person()) {
            (_, None) => Ok(()),
            (_, Some(_)) if self.length <= SMALL_MESSAGE_BYTES => Ok(()),
            (Some(held), Some(_)) => held.grow(self.length as usize - held.bytes()),
            (None, Some(person)) => person
                .hold(HeldPurpose::Arriving, self.length as usize)
                .map(|held| self.held = Some(held)),
        };
        held.map_err(|_| EndReason::ArrivingTooMuch)
    }

    /// Checks the first bytes of a message, which tell its kind.
    fn recognise(
        &mut self,
        transport: &TcpConnection,
        frame: FrameHeader,
    ) -> Result<(), EndReason> {
        if !is_data(frame.kind) || self.is_recognised {
            return Ok(());
        }
        self.is_recognised = true;
        let Some(session) = transport.session() else { return Ok(()) };
        if session.person().is_none() {
            return if session.may_send_early() { Ok(()) } else { Err(EndReason::Protocol) };
        }
        // A second CONNECT is answered by an uncounted packet; one byte could begin one.
        let connects = &frame.beginning == b"40" || (frame.length == 1 && !frame.is_final);
        if self.kind == FrameKind::Text && connects { Err(EndReason::Protocol) } else { Ok(()) }
    }
}

/// Checks a frame that is no part of a message. It is buffered whole, and so is never long.
fn control(transport: &TcpConnection, frame: FrameHeader) -> Result<(), EndReason> {
    if frame.length > CONTROL_BYTES || !frame.is_final {
        return Err(EndReason::Protocol);
    }
    match transport.session() {
        Some(session) if session.person().is_none() && !session.may_send_early() => {
            Err(EndReason::Protocol)
        }
        _ => Ok(()),
    }
}

/// Returns `true` if a frame of one byte is the packet by which a client gives up long polling.
fn is_upgrade(frame: FrameHeader) -> bool {
    frame.length == 1 && frame.beginning[0] == b'5'
}

fn is_data(kind: FrameKind) -> bool {
    matches!(kind, FrameKind::Text | FrameKind::Binary | FrameKind::Continuation)
}
