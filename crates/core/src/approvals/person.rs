//! Person who did something, as stored with the action.

use serde::{Deserialize, Serialize};

use crate::ids::UserId;
use crate::permissions::Principal;

/// A person, with the name shown at the time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// Account of the person.
    pub user: UserId,
    /// Name shown to others; never used for permission checks.
    pub name: String,
}

impl From<&Principal> for Person {
    fn from(who: &Principal) -> Self {
        Self { user: who.user.clone(), name: who.name.clone() }
    }
}
