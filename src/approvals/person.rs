//! Who did something, as it is remembered with what was done.

use serde::{Deserialize, Serialize};

use crate::ids::UserId;
use crate::permissions::Principal;

/// A person, under the name they went by at the time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// Who it is.
    pub user: UserId,
    /// The name others saw; never used to decide anything.
    pub name: String,
}

impl From<&Principal> for Person {
    fn from(who: &Principal) -> Self {
        Self { user: who.user.clone(), name: who.name.clone() }
    }
}
