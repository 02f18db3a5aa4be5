//! Tickets with which one server asks another one for a single call of a model. The server that
//! makes a ticket stores its hash in the database; the ticket itself is sent to the other one.

use std::fmt;

use super::AuthError;
use super::token::{self, TokenSecret};

/// Secret that admits one call. `Debug` does not show it.
#[derive(Clone)]
pub struct CallTicket(TokenSecret);

impl CallTicket {
    /// Generates a ticket from the operating system's randomness.
    ///
    /// # Errors
    /// [`AuthError::Randomness`] if the operating system gives none.
    pub fn generate() -> Result<Self, AuthError> {
        TokenSecret::generate().map(Self)
    }

    /// Returns the ticket that another server shows.
    ///
    /// # Errors
    /// [`AuthError::Unusable`] for a text that no server has generated.
    pub fn shown(text: &str) -> Result<Self, AuthError> {
        if !token::is_generated(text) {
            return Err(AuthError::Unusable);
        }
        TokenSecret::chosen(text).map(Self)
    }

    /// Returns the secret itself, for the header of the call.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    /// Returns the SHA-256 as lower-case hex, which is all that the database has.
    pub fn hash(&self) -> String {
        token::hash(self.expose())
    }
}

impl fmt::Debug for CallTicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallTicket(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_known_by_its_hash_and_shown_by_nobody() {
        let ticket = CallTicket::generate().unwrap();
        assert_eq!(CallTicket::shown(ticket.expose()).unwrap().hash(), ticket.hash());
        assert_ne!(CallTicket::generate().unwrap().hash(), ticket.hash());
        assert_eq!(ticket.hash().len(), 64);
        assert!(!format!("{ticket:?}").contains(ticket.expose()));
    }

    #[test]
    fn what_no_server_has_generated_is_no_ticket() {
        let good = CallTicket::generate().unwrap().expose().to_owned();
        let longer = format!("{good}A");
        let shorter = &good[..good.len() - 1];
        for wrong in ["", "cdk_", "x", &longer, shorter, &good.replace("cdk_", "abc_")] {
            assert!(CallTicket::shown(wrong).is_err(), "{wrong}");
        }
        assert!(CallTicket::shown(&format!("cdk_{}", "%".repeat(43))).is_err());
    }
}
