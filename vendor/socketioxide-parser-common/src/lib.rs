#![warn(missing_docs)]
//! The common parser sub-crate for the socketioxide crate.
//!
//! This is the default parser implementation.
//!
//! It is used to parse and serialize the common packet format of the socket.io protocol:
//! ```text
//! <packet type>[<# of binary attachments>-][<namespace>,][<acknowledgment id>][JSON-stringified payload without binary]
//! + binary attachments extracted
//! ```
use std::{collections::VecDeque, sync::atomic::Ordering, time::Instant};

use bytes::Bytes;

use serde::{Deserialize, Serialize};
use socketioxide_core::{
    Str, Value,
    packet::{Packet, PacketData},
    parser::{Parse, ParseConfig, ParseError, ParserError, ParserState, PartialBinPacket},
};

mod de;
mod ser;
mod value;

/// Parse and serialize from and into the socket.io common packet format.
/// See details in the [socket.io protocol doc](https://socket.io/fr/docs/v4/socket-io-protocol/#packet-encoding).
#[derive(Debug, Default, Clone, Copy)]
pub struct CommonParser;

impl Parse for CommonParser {
    fn encode(self, packet: Packet) -> Value {
        ser::serialize_packet(packet)
    }

    fn decode_str(
        self,
        config: &ParseConfig,
        state: &ParserState,
        value: Str,
    ) -> Result<Packet, ParseError> {
        // The attachments of a binary packet must directly follow it. Otherwise, the
        // next binary frames would complete a stale packet.
        if state.partial_bin_packet.lock().unwrap().is_some() {
            return Err(ParseError::UnexpectedStringPacket);
        }

        let (packet, incoming_binary_cnt) = de::deserialize_packet(value)?;
        if packet.inner.is_binary() {
            let incoming_binary_cnt = incoming_binary_cnt.ok_or(ParseError::InvalidAttachments)?;
            if incoming_binary_cnt > config.max_incoming_binaries {
                return Err(ParseError::TooManyAttachments {
                    got: incoming_binary_cnt,
                    max: config.max_incoming_binaries,
                });
            }

            if !is_bin_packet_complete(&packet.inner, incoming_binary_cnt) {
                *state.partial_bin_packet.lock().unwrap() = Some(PartialBinPacket::new(packet));
                state
                    .incoming_binary_cnt
                    .store(incoming_binary_cnt, Ordering::Release);
                Err(ParseError::NeedsMoreBinaryData)
            } else {
                Ok(packet)
            }
        } else {
            Ok(packet)
        }
    }

    fn decode_bin(
        self,
        config: &ParseConfig,
        state: &ParserState,
        data: Bytes,
    ) -> Result<Packet, ParseError> {
        let packet = &mut *state.partial_bin_packet.lock().unwrap();
        match packet {
            Some(PartialBinPacket {
                initial_packet_recv,
                packet:
                    Packet {
                        inner:
                            PacketData::BinaryEvent(Value::Str(_, binaries), _)
                            | PacketData::BinaryAck(Value::Str(_, binaries), _),
                        ..
                    },
            }) => {
                if Instant::now() - *initial_packet_recv > config.packet_completion_timeout {
                    return Err(ParseError::TimeoutWhileWaitingAttachments);
                }

                let binaries = binaries.get_or_insert(VecDeque::new());
                let bin_buf_size = binaries.iter().map(Bytes::len).sum::<usize>() + data.len();
                if bin_buf_size > config.max_incoming_binary_buf_size {
                    return Err(ParseError::AttachmentsTooHeavy {
                        current: bin_buf_size,
                        max: config.max_incoming_binary_buf_size,
                    });
                }

                // We copy the data to avoid holding a ref to the engine.io
                // websocket buffer too long.
                binaries.push_back(Bytes::copy_from_slice(&data));
                if state.incoming_binary_cnt.load(Ordering::Relaxed) > binaries.len() {
                    Err(ParseError::NeedsMoreBinaryData)
                } else {
                    Ok(packet.take().unwrap().packet)
                }
            }
            _ => Err(ParseError::UnexpectedBinaryPacket),
        }
    }

    #[inline]
    fn encode_value<T: ?Sized + Serialize>(
        self,
        data: &T,
        event: Option<&str>,
    ) -> Result<Value, ParserError> {
        value::to_value(data, event).map_err(ParserError::new)
    }

    #[inline]
    fn decode_value<'de, T: Deserialize<'de>>(
        self,
        value: &'de mut Value,
        with_event: bool,
    ) -> Result<T, ParserError> {
        value::from_value(value, with_event).map_err(ParserError::new)
    }

    fn decode_default<'de, T: Deserialize<'de>>(
        self,
        value: Option<&'de Value>,
    ) -> Result<T, ParserError> {
        if let Some(value) = value {
            let data = value
                .as_str()
                .expect("CommonParser only supports string values");
            serde_json::from_str(data).map_err(ParserError::new)
        } else {
            serde_json::from_str("{}").map_err(ParserError::new)
        }
    }

    fn encode_default<T: ?Sized + Serialize>(self, data: &T) -> Result<Value, ParserError> {
        let value = serde_json::to_string(data).map_err(ParserError::new)?;
        Ok(Value::Str(Str::from(value), None))
    }

    #[inline]
    fn read_event(self, value: &Value) -> Result<&str, ParserError> {
        value::read_event(value).map_err(ParserError::new)
    }
}

/// Check if the binary packet is complete, it means that all payloads have been received
fn is_bin_packet_complete(packet: &PacketData, incoming_binary_cnt: usize) -> bool {
    match &packet {
        PacketData::BinaryEvent(Value::Str(_, binaries), _)
        | PacketData::BinaryAck(Value::Str(_, binaries), _) => {
            incoming_binary_cnt == binaries.as_ref().map(VecDeque::len).unwrap_or(0)
        }
        _ => true,
    }
}
