//! Identifiers: one newtype for each kind; and [`permissions`]: roles, and what each may do.

#[cfg(feature = "database")]
mod columns;
pub mod permissions;

use std::fmt::{self, Write as _};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::{ContextV7, NoContext, Timestamp, Uuid};

/// Counter that orders identifiers made within one millisecond, or after the clock was set back.
#[expect(clippy::disallowed_types, reason = "the lock that `uuid` knows")]
static ORDER: std::sync::Mutex<AssertUnwindSafe<ContextV7>> =
    std::sync::Mutex::new(AssertUnwindSafe(ContextV7::new()));

/// Returns a UUID that sorts by time of creation (version 7), also if the clock was set back. A
/// time before 1970 counts as 1970.
pub fn sortable_uuid() -> Uuid {
    uuid_at(jiff::Timestamp::now())
}

fn uuid_at(now: jiff::Timestamp) -> Uuid {
    let now = now.max(jiff::Timestamp::UNIX_EPOCH);
    let seconds = now.as_second().unsigned_abs();
    Uuid::new_v7(Timestamp::from_unix(&ORDER, seconds, now.subsec_nanosecond().unsigned_abs()))
}

/// Returns a UUID that sorts directly after the time of another one, given without dashes.
fn uuid_after(other: &str) -> Option<Uuid> {
    let (seconds, nanoseconds) = Uuid::try_parse(other).ok()?.get_timestamp()?.to_unix();
    let later = Duration::new(seconds, nanoseconds) + Duration::from_millis(1);
    Some(Uuid::new_v7(Timestamp::from_unix(NoContext, later.as_secs(), later.subsec_nanos())))
}

/// Returns bytes, such as those of a hash, as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").ok();
        text
    })
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Returns a new identifier: a prefix and a [`sortable_uuid`] without dashes.
            pub fn generate() -> Self {
                Self(format!(concat!($prefix, "{}"), sortable_uuid().simple()).into())
            }

            /// Returns a new identifier that sorts after another one, also if that was made by a
            /// server whose clock is ahead.
            pub fn generate_after(other: &Self) -> Self {
                let new = Self::generate();
                let later = || uuid_after(other.as_str().strip_prefix($prefix)?);
                let later = (new <= *other).then(later).flatten();
                later.map_or(new, |id| Self(format!(concat!($prefix, "{}"), id.simple()).into()))
            }

            /// Returns the identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    };
}

id!(
    /// Identifier of a document.
    DocumentId,
    "doc_"
);
/// Number that stands for a document in short events, while its room is open in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortDocumentId(pub u32);

impl ShortDocumentId {
    /// Returns a number that no room of this process had before.
    pub fn next() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

id!(
    /// Identifier of a session: a conversation of one person that survives reconnects and restarts.
    SessionId,
    "ses_"
);
id!(
    /// Identifier of a person: the principal behind a token, never a display name.
    UserId,
    "usr_"
);
id!(
    /// Identifier of one run of the agent (`requestId` of `askClaudeCode` and `run` on the wire).
    RunId,
    "run_"
);
id!(
    /// Identifier of one gated tool call that waits for people (`request_id` on the wire).
    RequestId,
    "req_"
);
id!(
    /// Identifier of a hunk; unique within its document.
    HunkId,
    "hnk_"
);
id!(
    /// Identifier of a tool call, as the model named it (`tool_use_id` on the wire).
    ToolUseId,
    "toolu_"
);
id!(
    /// Identifier of an editor instance that authors updates (`clientID` of `@codemirror/collab`).
    ClientId,
    "c_"
);
id!(
    /// Identifier of a connection to a document; not used again after the connection.
    MemberId,
    "mem_"
);
id!(
    /// Identifier of a rule: a person's approval in advance, or an owner's rule.
    RuleId,
    "rul_"
);
id!(
    /// Identifier of a thread of comments.
    ThreadId,
    "thr_"
);
id!(
    /// Identifier of a comment, which names its thread; see [`CommentId::of`].
    CommentId,
    "cmt_"
);
id!(
    /// Identifier of a webhook, an address that is notified of requests.
    WebhookId,
    "whk_"
);
id!(
    /// Identifier of one delivery to one webhook; unchanged over all attempts.
    DeliveryId,
    "msg_"
);
id!(
    /// Identifier of an issued token; not the secret.
    TokenId,
    "tok_"
);

impl CommentId {
    /// Returns the identifier of a comment by its number in its thread, from 1.
    pub fn of(thread: &ThreadId, number: usize) -> Self {
        let thread = thread.as_str();
        Self(format!("cmt_{}_{number}", thread.strip_prefix("thr_").unwrap_or(thread)).into())
    }

    /// Returns the thread of the comment; `None` if this is no identifier of a comment.
    pub fn thread(&self) -> Option<ThreadId> {
        let (thread, _) = self.0.strip_prefix("cmt_")?.rsplit_once('_')?;
        Some(format!("thr_{thread}").into())
    }
}

impl DeliveryId {
    /// Returns a bound that sorts between the identifiers of before and of from `at_ms` on.
    pub fn first_of(at_ms: u64) -> Self {
        // A UUID of version 7 begins with 48 bits of the time.
        Self(format!("msg_{:012x}", at_ms & 0xffff_ffff_ffff).into())
    }
}

/// Version of a document: the number of updates committed since it was created.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Version(pub u64);

impl Version {
    /// Returns the version after one more update.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// Returns the version after `count` more updates.
    #[must_use]
    pub fn plus(self, count: usize) -> Self {
        Self(self.0 + count as u64)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_made_and_ordered_whatever_the_clock_says() {
        let at = |second| uuid_at(jiff::Timestamp::from_second(second).unwrap());
        let before_1970 = at(-86_400);
        assert_eq!(before_1970.get_version_num(), 7);
        let (one, set_back, three) = (at(2_000_000_000), at(1_000_000_000), at(2_000_000_000));
        assert!(before_1970 < one && one < set_back && set_back < three);
    }

    #[test]
    fn an_identifier_sorts_after_one_of_a_server_whose_clock_is_ahead() {
        let in_2100 = Timestamp::from_unix(NoContext, 4_102_444_800, 0);
        let ahead = RequestId(format!("req_{}", Uuid::new_v7(in_2100).simple()).into());
        assert!(RequestId::generate() < ahead);
        assert!(RequestId::generate_after(&ahead) > ahead);
        let of_past = RequestId::generate();
        assert!(RequestId::generate_after(&of_past) > of_past);
        assert!(RequestId::generate_after(&ahead) > RequestId::generate_after(&of_past));
    }
}
