//! Secrets: 256 random bits as text, and the hash that is all the store ever sees of them.

use std::fmt::{self, Write as _};

use sha2::{Digest, Sha256};

use super::AuthError;

/// What a secret begins with, so that people and scanners recognise one. It also keeps a secret from
/// looking like a flag on a command line.
const PREFIX: &str = "cdk_";

/// 43 characters of six bits each: 258 bits, and nothing that a URL has to escape.
const LENGTH: usize = 43;
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The text that proves who somebody is. Printed with care: `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenSecret(String);

impl TokenSecret {
    /// A fresh one, from the operating system's randomness.
    pub fn generate() -> Result<Self, AuthError> {
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes).map_err(AuthError::Randomness)?;
        let mut text = PREFIX.to_owned();
        text.extend(bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte & 63)])));
        Ok(Self(text))
    }

    /// One that somebody chose, without the white space around it.
    ///
    /// # Errors
    /// [`AuthError::Unusable`] when it is empty or has characters that a bearer token cannot have
    /// (RFC 6750 §2.1).
    pub fn chosen(text: &str) -> Result<Self, AuthError> {
        let text = text.trim();
        let passes = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        if text.is_empty() || !text.bytes().all(passes) {
            return Err(AuthError::Unusable);
        }
        Ok(Self(text.to_owned()))
    }

    /// The secret as part of a URL: `+` would be read as a space there.
    pub fn in_link(&self) -> String {
        self.0.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D")
    }

    /// The secret itself: for the terminal, the file, the `Authorization` header.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for TokenSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// SHA-256 as lower-case hex. Not salted or slow: a generated secret has too many bits to guess.
pub(super) fn hash(secret: &str) -> String {
    Sha256::digest(secret).iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a String cannot fail.
        write!(text, "{byte:02x}").ok();
        text
    })
}
