//! Secrets: 256 random bits as text, and the hash, which is all that the store has of them.

use std::fmt;

use sha2::{Digest, Sha256};

use super::{AuthError, AuthResult};
use copydesk_ids::hex;

/// Prefix by which people and scanners recognise a secret, and which no command takes for a flag.
const PREFIX: &str = "cdk_";

/// Length without the prefix: 43 characters of six bits each, none of which is escaped in a URL.
const LENGTH: usize = 43;
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Secret that proves a person's identity. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenSecret(String);

impl TokenSecret {
    /// Generates a secret from the operating system's randomness.
    pub fn generate() -> AuthResult<Self> {
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes).map_err(AuthError::Randomness)?;
        let mut text = PREFIX.to_owned();
        text.extend(bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte & 63)])));
        Ok(Self(text))
    }

    /// Returns a secret that a person chose, without surrounding white space;
    /// [`AuthError::Unusable`] for one that cannot be a bearer token (RFC 6750 §2.1).
    pub fn chosen(text: &str) -> AuthResult<Self> {
        let text = text.trim();
        let passes = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        if text.is_empty() || !text.bytes().all(passes) {
            return Err(AuthError::Unusable);
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the secret escaped for a URL, where `+` would be read as a space.
    pub fn in_link(&self) -> String {
        self.0.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D")
    }

    /// Returns the secret itself: for the terminal, the file, the `Authorization` header.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for TokenSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Returns the SHA-256 as lower-case hex, neither salted nor slow: a secret cannot be guessed.
pub(super) fn hash(secret: &str) -> String {
    hex(&Sha256::digest(secret))
}
