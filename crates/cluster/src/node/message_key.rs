//! Key of the nodes of a database, by which they know each other's messages.
//!
//! Others may be able to write to Redis, or to send a `NOTIFY`. A message ends with a code of its
//! text, and one that is carried without the right code is dropped.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use copydesk_ids::hex;

/// Member that is added to the JSON of a message, as its last one. A former version reads the
/// message without it.
const MEMBER: &str = r#","mac":""#;

/// Key of the nodes, which is stored in their database.
pub(super) struct MessageKey(Hmac<Sha256>);

impl MessageKey {
    /// Returns the key with this secret; `None` if it cannot be one.
    pub(super) fn new(secret: &str) -> Option<Self> {
        Hmac::new_from_slice(secret.as_bytes()).ok().filter(|_| !secret.is_empty()).map(Self)
    }

    /// Returns a message, which is a JSON object, with its code.
    pub(super) fn sign(&self, message: &str) -> String {
        let code = hex(&self.code(message).finalize().into_bytes());
        let object = message.strip_suffix('}').unwrap_or(message);
        format!("{object}{MEMBER}{code}\"}}")
    }

    /// Returns `true` if a node of this database has signed the message.
    pub(super) fn has_signed(&self, message: &str) -> bool {
        self.verify(message).is_some()
    }

    fn verify(&self, signed: &str) -> Option<()> {
        let (object, code) = signed.rsplit_once(MEMBER)?;
        let code = code.strip_suffix("\"}")?.as_bytes();
        let digit = |byte: &u8| char::from(*byte).to_digit(16);
        let code: Vec<u8> = code
            .chunks(2)
            .map(|pair| u8::try_from(digit(pair.first()?)? * 16 + digit(pair.get(1)?)?).ok())
            .collect::<Option<_>>()?;
        self.code(&format!("{object}}}")).verify_slice(&code).ok()
    }

    fn code(&self, message: &str) -> Hmac<Sha256> {
        let mut code = self.0.clone();
        code.update(message.as_bytes());
        code
    }
}

impl fmt::Debug for MessageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MessageKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &str = r#"{"from":1,"number":7,"news":"leases"}"#;

    #[test]
    fn a_signed_message_is_known_by_the_same_key_only() {
        let key = MessageKey::new("secret").unwrap();
        let signed = key.sign(MESSAGE);
        // What a former version reads.
        let read: serde_json::Value = serde_json::from_str(&signed).unwrap();
        assert_eq!((&read["from"], &read["news"]), (&1.into(), &"leases".into()));
        assert!(key.has_signed(&signed));
        assert!(!MessageKey::new("another").unwrap().has_signed(&signed));
        assert!(MessageKey::new("").is_none());
    }

    #[test]
    fn what_was_changed_or_is_not_signed_is_not_known() {
        let key = MessageKey::new("secret").unwrap();
        let signed = key.sign(MESSAGE);
        let code = &signed[signed.len() - 66..signed.len() - 2];
        for forged in [
            MESSAGE.to_owned(),
            String::new(),
            "{}".to_owned(),
            signed.replace("\"number\":7", "\"number\":8"),
            signed.replace("\"from\":1", "\"from\":2"),
            signed.replace(code, ""),
            signed.replace(code, &code[..62]),
            signed.replace(code, &"0".repeat(64)),
            signed.replace(code, &"é".repeat(32)),
            signed[..signed.len() - 1].to_owned(),
            format!("{signed}{}", &signed[1..]),
        ] {
            assert!(!key.has_signed(&forged), "{forged}");
        }
    }
}
