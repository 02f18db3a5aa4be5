use std::collections::VecDeque;

use bytes::{BufMut, BytesMut};
use socketioxide_core::{
    Str, Value,
    packet::{Packet, PacketData},
};

pub fn serialize_packet(packet: Packet) -> Value {
    let capacity = get_size_hint(&packet);
    let mut buffer = BytesMut::with_capacity(capacity);

    buffer.put_u8(char::from_digit(packet.inner.index() as u32, 10).unwrap() as u8);

    // Add the ns if it is not the default one and the packet is not binary
    // In case of bin packet, we should first add the payload count before ns
    if !packet.inner.is_binary() {
        serialize_nsp(&mut buffer, &packet.ns);
    }
    let bins = match packet.inner {
        PacketData::Connect(Some(data)) => {
            buffer.put_slice(data.as_str().unwrap().as_bytes());
            None
        }
        PacketData::Disconnect | PacketData::Connect(None) => None,
        PacketData::Event(Value::Str(data, bins), ack) => {
            serialize_ack(&mut buffer, ack);
            serialize_data(&mut buffer, &data);

            bins
        }
        PacketData::EventAck(Value::Str(data, bins), ack) => {
            serialize_ack(&mut buffer, Some(ack));
            serialize_data(&mut buffer, &data);
            bins
        }
        PacketData::ConnectError(ref message) => {
            // Copydesk's change: an error whose text is already `{"message": …, "data": …}` goes out as it is.
            // The socket.io protocol allows `data` there, but the crate has no way to set it.
            if is_error_object(message) {
                buffer.put_slice(message.as_bytes());
            } else {
                #[derive(serde::Serialize)]
                struct ErrorMessage<'a> {
                    message: &'a str,
                }
                let data = serde_json::to_vec(&ErrorMessage { message }).unwrap();
                buffer.put_slice(&data);
            }
            None
        }
        PacketData::BinaryEvent(Value::Str(data, bins), ack) => {
            serialize_attachments(&mut buffer, bins.as_ref().map(VecDeque::len).unwrap_or(0));
            serialize_nsp(&mut buffer, &packet.ns);
            serialize_ack(&mut buffer, ack);

            serialize_data(&mut buffer, &data);
            bins
        }
        PacketData::BinaryAck(Value::Str(data, bins), ack) => {
            serialize_attachments(&mut buffer, bins.as_ref().map(VecDeque::len).unwrap_or(0));
            serialize_nsp(&mut buffer, &packet.ns);
            serialize_ack(&mut buffer, Some(ack));

            serialize_data(&mut buffer, &data);
            bins
        }
        _ => panic!("unexpected packet type"),
    };

    let output = unsafe { Str::from_bytes_unchecked(buffer.freeze()) };
    Value::Str(output, bins)
}

fn serialize_attachments(buffer: &mut BytesMut, attachments: usize) {
    let mut itoa_buf = itoa::Buffer::new();
    buffer.put_slice(itoa_buf.format(attachments).as_bytes());
    buffer.put_u8(b'-');
}
fn serialize_nsp(buffer: &mut BytesMut, nsp: &str) {
    if !nsp.is_empty() && nsp != "/" {
        if !nsp.starts_with('/') {
            buffer.put_u8(b'/');
        }
        buffer.put_slice(nsp.as_bytes());
        buffer.put_u8(b',');
    }
}
fn serialize_ack(buffer: &mut BytesMut, ack: Option<i64>) {
    let mut itoa_buf = itoa::Buffer::new();
    if let Some(ack) = ack {
        buffer.put_slice(itoa_buf.format(ack).as_bytes());
    }
}

/// Serialize event data in place to the following form: `[event, ...data]` if data is an array.
/// Or `[event, data]` if data is not an array.
/// ## Params:
/// - `event`: the event name
/// - `data`: preserialized msgpack data
/// - `buff`: a output buffer to write into
fn serialize_data(buffer: &mut BytesMut, data: &str) {
    buffer.put_slice(data.as_bytes())
}

/// Get the max size the packet could have when serialized
/// This is used to pre-allocate a buffer for the packet
fn get_size_hint(packet: &Packet) -> usize {
    use PacketData::*;
    const PACKET_INDEX_SIZE: usize = 1;
    const BINARY_PUNCTUATION_SIZE: usize = 2;
    const ACK_PUNCTUATION_SIZE: usize = 1;
    const NS_PUNCTUATION_SIZE: usize = 1;

    let data_size = match &packet.inner {
        Connect(Some(val)) => val.len(),
        Connect(None) => 0,
        Disconnect => 0,
        Event(Value::Str(data, _), ack) => {
            data.len()
                + ack
                    .and_then(i64::checked_ilog10)
                    .map(|s| s as usize + ACK_PUNCTUATION_SIZE)
                    .unwrap_or(0)
        }
        BinaryEvent(Value::Str(data, bin), ack) => {
            data.len()
                + ack
                    .and_then(i64::checked_ilog10)
                    .map(|s| s as usize + ACK_PUNCTUATION_SIZE)
                    .unwrap_or(0)
                + bin
                    .as_ref()
                    .map(VecDeque::len)
                    .unwrap_or(0)
                    .checked_ilog10()
                    .unwrap_or(0) as usize
                + BINARY_PUNCTUATION_SIZE
        }
        EventAck(Value::Str(data, _), ack) => {
            data.len() + ack.checked_ilog10().unwrap_or(0) as usize + ACK_PUNCTUATION_SIZE
        }
        BinaryAck(Value::Str(data, bins), ack) => {
            data.len()
                + ack.checked_ilog10().unwrap_or(0) as usize
                + bins
                    .as_ref()
                    .map(VecDeque::len)
                    .unwrap_or(0)
                    .checked_ilog10()
                    .unwrap_or(0) as usize
                + ACK_PUNCTUATION_SIZE
                + BINARY_PUNCTUATION_SIZE
        }
        ConnectError(data) => data.len() + "{\"message\":\"\"}".len(),
        data => unreachable!(
            "common parser should only serialize SocketIoValue::Str data: {:?}",
            data
        ),
    };

    let nsp_size = if packet.ns == "/" {
        0
    } else if packet.ns.starts_with('/') {
        packet.ns.len() + NS_PUNCTUATION_SIZE
    } else {
        packet.ns.len() + NS_PUNCTUATION_SIZE + 1 // (1 for the leading slash)
    };
    data_size + nsp_size + PACKET_INDEX_SIZE
}

/// Whether a connect error's text is a complete error object.
fn is_error_object(text: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct ErrorObject {
        #[serde(rename = "message")]
        _message: String,
    }
    text.starts_with('{') && serde_json::from_str::<ErrorObject>(text).is_ok()
}
