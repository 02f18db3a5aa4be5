//! Sign-ins that have begun: what the browser keeps of each in a cookie, for a few minutes.
//!
//! The cookie is not signed: a client that can set it could also begin a sign-in of its own and
//! take that cookie. What it has is compared with what the provider sends and signs.

/// Time that a person may take at the provider, in ms.
const LIFETIME_MS: u64 = 10 * 60 * 1_000;

/// Sign-in that has begun in one browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PendingSignIn {
    /// Random text that the provider sends back with the browser.
    pub(crate) state: String,
    /// Random text that the provider signs.
    pub(crate) nonce: String,
    /// Secret that shows the provider who began (PKCE).
    pub(crate) verifier: String,
    /// Time of the beginning.
    pub(crate) begun_ms: u64,
    /// Place in the editor to come back to.
    pub(crate) back: String,
}

impl PendingSignIn {
    pub(crate) fn to_cookie(&self) -> String {
        let Self { state, nonce, verifier, begun_ms, back } = self;
        format!("{state}.{nonce}.{verifier}.{begun_ms}.{back}")
    }

    /// Reads the value of the cookie; `None`: it is none.
    pub(crate) fn read(cookie: &str) -> Option<Self> {
        let parts: Vec<&str> = cookie.split('.').collect();
        let &[state, nonce, verifier, begun_ms, back] = parts.as_slice() else { return None };
        if [state, nonce, verifier].contains(&"") {
            return None;
        }
        Some(Self {
            state: state.to_owned(),
            nonce: nonce.to_owned(),
            verifier: verifier.to_owned(),
            begun_ms: begun_ms.parse().ok()?,
            back: place(Some(back)),
        })
    }

    /// Returns `true` if the provider's answer belongs to the sign-in, and comes in time.
    pub(crate) fn is_answered_by(&self, state: Option<&str>, now_ms: u64) -> bool {
        let age_ms = now_ms.saturating_sub(self.begun_ms);
        state == Some(self.state.as_str()) && age_ms <= LIFETIME_MS
    }
}

/// Returns a place in the editor to come back to: a document or the start. Anything else could lead
/// out of the editor, with a token.
pub(crate) fn place(wanted: Option<&str>) -> String {
    let is_id = |id: &&str| {
        !id.is_empty() && id.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-".contains(&it))
    };
    let document = wanted.and_then(|path| path.strip_prefix("/d/")).filter(is_id);
    document.map_or_else(|| "/".to_owned(), |id| format!("/d/{id}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun() -> PendingSignIn {
        PendingSignIn {
            state: "st-1".into(),
            nonce: "no_2".into(),
            verifier: "ver".into(),
            begun_ms: 1_000,
            back: "/d/doc_7".into(),
        }
    }

    #[test]
    fn a_cookie_brings_back_what_was_put_in() {
        assert_eq!(PendingSignIn::read(&begun().to_cookie()), Some(begun()));
        for wrong in ["", "a.b.c", "a.b.c.x./", ".b.c.1./", "a.b.c.1./.d"] {
            assert_eq!(PendingSignIn::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn only_the_own_state_answers_and_only_for_a_while() {
        assert!(begun().is_answered_by(Some("st-1"), 1_000 + LIFETIME_MS));
        assert!(!begun().is_answered_by(Some("st-1"), 1_001 + LIFETIME_MS));
        assert!(!begun().is_answered_by(Some("st-2"), 1_000));
        assert!(!begun().is_answered_by(None, 1_000));
    }

    #[test]
    fn no_one_is_sent_out_of_the_editor() {
        assert_eq!(place(Some("/d/doc_a-1")), "/d/doc_a-1");
        for other in ["", "/", "/d/", "//evil.example", "/d/../x", "https://evil.example", "/d/a#b"]
        {
            assert_eq!(place(Some(other)), "/", "{other}");
        }
        assert_eq!(place(None), "/");
    }
}
