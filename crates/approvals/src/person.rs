//! Person who did something, as stored with the action; and the renaming of deleted people.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use copydesk_ids::UserId;
use copydesk_ids::permissions::{DELETED_PERSON, Principal};

/// A person, with the name shown at the time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// Account of the person.
    pub user: UserId,
    /// Name shown to others; never used for permission checks.
    pub name: String,
}

/// Ids of the person who asks: the present one, and those before a login ([`Principal::former`]).
#[derive(Clone, Copy, Debug)]
pub struct RequesterIds<'a> {
    /// Present id.
    pub user: &'a UserId,
    /// Former ids.
    pub former: &'a [UserId],
}

impl RequesterIds<'_> {
    /// Returns `true` if `user` is one of the ids.
    pub fn contains(&self, user: &UserId) -> bool {
        self.user == user || self.former.contains(user)
    }
}

impl<'a> From<&'a Principal> for RequesterIds<'a> {
    fn from(who: &'a Principal) -> Self {
        Self { user: &who.user, former: &who.former }
    }
}

impl From<&Principal> for Person {
    fn from(who: &Principal) -> Self {
        Self { user: who.user.clone(), name: who.name.clone() }
    }
}

/// Person whose data is deleted, under every user they are or were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedPerson {
    /// Users of the person.
    pub users: Vec<UserId>,
}

impl DeletedPerson {
    /// Returns `true` if `user` is the person.
    pub fn is(&self, user: &str) -> bool {
        self.users.iter().any(|own| own.as_str() == user)
    }

    /// Replaces the names beside the users of the person, wherever they are in a value, and removes
    /// the questions that the person typed. Returns `true` if anything was replaced; the names are
    /// added to `names`.
    ///
    /// A person is an object with a `name`, and with a `user`, or `id` on the wire. A question is
    /// the `prompt` beside a `requester`, or `author` on the wire.
    pub fn rename_in(&self, value: &mut Value, names: &mut BTreeSet<String>) -> bool {
        let mut is_any = false;
        match value {
            Value::Array(list) => {
                for element in list {
                    is_any |= self.rename_in(element, names);
                }
            }
            Value::Object(fields) => {
                let is_own = self.is_in(fields);
                if let Some(Value::String(name)) = fields.get_mut("name")
                    && is_own
                    && name != DELETED_PERSON
                {
                    names.insert(std::mem::replace(name, DELETED_PERSON.to_owned()));
                    is_any = true;
                }
                let mut askers =
                    ["requester", "author"].into_iter().filter_map(|key| fields.get(key));
                let has_asked = askers.any(|it| it.as_object().is_some_and(|it| self.is_in(it)));
                if let Some(Value::String(prompt)) = fields.get_mut("prompt")
                    && has_asked
                    && !prompt.is_empty()
                {
                    prompt.clear();
                    is_any = true;
                }
                for field in fields.values_mut() {
                    is_any |= self.rename_in(field, names);
                }
            }
            _ => {}
        }
        is_any
    }

    fn is_in(&self, object: &Map<String, Value>) -> bool {
        let user = ["user", "id"].into_iter().find_map(|key| object.get(key)?.as_str());
        user.is_some_and(|user| self.is(user))
    }

    /// Returns a copy of `stored` without the names of the person; `None` if it has none.
    pub fn renamed<T: Serialize + DeserializeOwned>(
        &self,
        stored: &T,
    ) -> serde_json::Result<Option<T>> {
        let json = serde_json::to_string(stored)?;
        if !self.users.iter().any(|user| json.contains(user.as_str())) {
            return Ok(None);
        }
        let mut value = serde_json::from_str(&json)?;
        if !self.rename_in(&mut value, &mut BTreeSet::new()) {
            return Ok(None);
        }
        serde_json::from_str(&value.to_string()).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_deleted_person_has_one_name_wherever_their_user_is_beside_one() {
        let person = DeletedPerson { users: vec!["usr_ana".into(), "usr_before".into()] };
        let mut value = json!({
            "requester": {"user": "usr_ana", "name": "Ana"}, "prompt": "My secret",
            "votes": [{"by": {"user": "usr_ben", "name": "Ana"}}, {"by": {"user": "usr_before", "name": "Annie"}}],
            "hunk": {"user": "usr_ana", "name": "Ana (as A)", "text": "Ana"},
            "of": {"author": {"id": "usr_ben", "name": "Ben"}, "prompt": "Stays"},
        });
        let mut names = BTreeSet::new();
        assert!(person.rename_in(&mut value, &mut names));
        assert_eq!(Vec::from_iter(names), ["Ana", "Ana (as A)", "Annie"]);
        assert_eq!(value["requester"]["name"], DELETED_PERSON);
        assert_eq!((&value["prompt"], &value["of"]["prompt"]), (&json!(""), &json!("Stays")));
        assert_eq!(value["votes"][0]["by"]["name"], "Ana", "somebody else's name stays");
        assert_eq!(value["votes"][1]["by"]["name"], DELETED_PERSON);
        assert_eq!(
            value["hunk"],
            json!({"user": "usr_ana", "name": DELETED_PERSON, "text": "Ana"})
        );
        assert!(!person.rename_in(&mut value, &mut BTreeSet::new()), "once");
    }

    #[test]
    fn what_does_not_name_the_person_is_no_copy() {
        let person = DeletedPerson { users: vec!["usr_ana".into()] };
        let ben = Person { user: "usr_ben".into(), name: "Ben".into() };
        assert_eq!(person.renamed(&ben).unwrap(), None);
        let ana = Person { user: "usr_ana".into(), name: "Ana".into() };
        let renamed = person.renamed(&ana).unwrap().unwrap();
        assert_eq!(renamed, Person { name: DELETED_PERSON.into(), ..ana });
    }
}
