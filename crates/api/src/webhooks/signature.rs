//! Secrets and signatures of webhooks, after <https://www.standardwebhooks.com>.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const PREFIX: &str = "whsec_";
const BYTES: usize = 32;

/// Reason why there is no [`SigningSecret`].
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The operating system gave no randomness.
    #[error("the operating system provides no random numbers: {0}")]
    Randomness(getrandom::Error),
    /// The text was not written by this program.
    #[error("this is not the secret of a webhook")]
    Unreadable,
}

/// Secret that signs deliveries. `Debug` does not show it.
#[derive(Clone)]
pub struct SigningSecret(Vec<u8>);

impl SigningSecret {
    /// Generates a secret.
    ///
    /// # Errors
    /// [`SecretError::Randomness`] if the operating system gives none.
    pub fn generate() -> Result<Self, SecretError> {
        let mut bytes = vec![0; BYTES];
        getrandom::fill(&mut bytes).map_err(SecretError::Randomness)?;
        Ok(Self(bytes))
    }

    /// Returns the secret as it is shown and stored.
    pub fn expose(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(&self.0))
    }

    /// Parses a stored secret.
    ///
    /// # Errors
    /// [`SecretError::Unreadable`] if the text is no secret.
    pub fn read(text: &str) -> Result<Self, SecretError> {
        let encoded = text.strip_prefix(PREFIX).ok_or(SecretError::Unreadable)?;
        STANDARD.decode(encoded).map(Self).map_err(|_| SecretError::Unreadable)
    }

    /// Returns the header `webhook-signature` of a delivery sent at `at_s`, in Unix seconds.
    ///
    /// # Errors
    /// [`SecretError::Unreadable`] if HMAC does not take the secret as a key; it takes any length.
    pub fn sign(&self, id: &str, at_s: u64, body: &str) -> Result<String, SecretError> {
        let mac = Hmac::<Sha256>::new_from_slice(&self.0);
        let mut mac = mac.map_err(|_| SecretError::Unreadable)?;
        mac.update(format!("{id}.{at_s}.{body}").as_bytes());
        Ok(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
    }
}

impl std::fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_is_signed_as_the_standards_own_example() {
        let secret = SigningSecret::read("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let (id, at_s) = ("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330);
        let signature = secret.sign(id, at_s, r#"{"test": 2432232314}"#).unwrap();
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_new_secret_is_another_one_and_is_read_back() {
        let (one, two) = (SigningSecret::generate().unwrap(), SigningSecret::generate().unwrap());
        assert_ne!(one.expose(), two.expose());
        assert_eq!(SigningSecret::read(&one.expose()).unwrap().expose(), one.expose());
        assert!(SigningSecret::read("secret").is_err() && SigningSecret::read("whsec_!").is_err());
        assert_eq!(format!("{one:?}"), "Secret");
    }
}
