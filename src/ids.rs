//! Names of things: one newtype for each kind of identifier, so that they cannot be mixed up.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// A fresh identifier that sorts by time of creation (UUID version 7, without dashes).
            pub fn generate() -> Self {
                Self(format!(concat!($prefix, "{}"), uuid::Uuid::now_v7().simple()).into())
            }

            /// The identifier as text.
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
    /// A document.
    DocumentId,
    "doc_"
);
id!(
    /// A conversation of one person; survives reconnects and restarts.
    SessionId,
    "ses_"
);
id!(
    /// A person: the principal behind a token, never a display name.
    UserId,
    "usr_"
);
id!(
    /// One run of the agent (`requestId` of `askClaudeCode` and `run` on the wire).
    RunId,
    "run_"
);
id!(
    /// One gated tool call waiting for people (`request_id` on the wire).
    RequestId,
    "req_"
);
id!(
    /// The smallest thing a person accepts or rejects; unique within its document.
    HunkId,
    "hnk_"
);
id!(
    /// A tool call as the model named it (`tool_use_id` on the wire).
    ToolUseId,
    "toolu_"
);
id!(
    /// An editor instance that authors updates (`clientID` of `@codemirror/collab`).
    ClientId,
    "c_"
);
id!(
    /// A connection that watches a document; gone with the connection.
    MemberId,
    "mem_"
);
id!(
    /// A remembered rule: what somebody has approved in advance.
    RuleId,
    "rul_"
);
id!(
    /// Somebody who wants to be told of requests.
    WebhookId,
    "whk_"
);
id!(
    /// One thing told to one webhook; the same however often it is tried.
    DeliveryId,
    "msg_"
);
id!(
    /// An issued token; not the secret.
    TokenId,
    "tok_"
);

impl DeliveryId {
    /// Sorts before every one that was generated at this time or later, and after all earlier ones.
    pub fn first_of(at_ms: u64) -> Self {
        // A UUID of version 7 begins with 48 bits of the time.
        Self(format!("msg_{:012x}", at_ms & 0xffff_ffff_ffff).into())
    }
}

/// A document's version: the number of updates committed since it was created.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Version(pub u64);

impl Version {
    /// The version after one more update.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The version after `count` more updates.
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
