//! Roles of people who sign in, by what their identity provider says of them.

use copydesk_ids::permissions::Role;

use super::LoginIdentity;

/// Rules that give roles to people who sign in; people without a matching rule may not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoginRoles(Vec<LoginRole>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct LoginRole {
    role: Role,
    people: LoginPattern,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum LoginPattern {
    Anyone,
    Group(String),
    Email(String),
    /// Everyone whose verified mail address ends so, with the `@`.
    Domain(String),
    Subject(String),
}

/// Rule that cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a role of people who sign in is ROLE=PEOPLE, with the people anyone, group:NAME, email:ADDRESS, domain:NAME or subject:NAME, not `{0}`"
)]
pub struct LoginRoleError(String);

impl LoginRoles {
    /// Reads rules such as `editor=group:writers` and `viewer=anyone`.
    pub fn read(rules: &[String]) -> Result<Self, LoginRoleError> {
        let read =
            |rule: &String| LoginRole::read(rule).ok_or_else(|| LoginRoleError(rule.clone()));
        rules.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// Returns `true` if there are no rules, so that no one may sign in.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the person's role with most permissions by any rule; `None`: they may not sign in.
    pub fn role_of(&self, identity: &LoginIdentity) -> Option<Role> {
        let is_meant = |role: &Role| {
            self.0.iter().any(|rule| rule.role == *role && rule.people.matches(identity))
        };
        Role::ALL.into_iter().find(is_meant)
    }
}

impl LoginRole {
    fn read(text: &str) -> Option<Self> {
        let (role, people) = text.trim().split_once('=')?;
        let role = Role::parse(role.trim())?;
        let people = match people.trim().split_once(':').unwrap_or((people.trim(), "")) {
            ("anyone", "") => LoginPattern::Anyone,
            (_, "") => return None,
            ("group", name) => LoginPattern::Group(name.to_owned()),
            ("email", address) if address.contains('@') => LoginPattern::Email(address.to_owned()),
            ("domain", name) => LoginPattern::Domain(format!("@{}", name.trim_start_matches('@'))),
            ("subject", name) => LoginPattern::Subject(name.to_owned()),
            _ => return None,
        };
        Some(Self { role, people })
    }
}

impl LoginPattern {
    fn matches(&self, identity: &LoginIdentity) -> bool {
        let email = identity.email.as_deref();
        match self {
            Self::Anyone => true,
            Self::Group(name) => identity.groups.contains(name),
            Self::Email(address) => email.is_some_and(|it| it.eq_ignore_ascii_case(address)),
            Self::Domain(end) => {
                email.is_some_and(|it| it.to_ascii_lowercase().ends_with(&end.to_ascii_lowercase()))
            }
            Self::Subject(name) => identity.subject == *name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ana() -> LoginIdentity {
        LoginIdentity {
            issuer: "https://id.example".into(),
            subject: "ana-1".into(),
            name: Some("Ana".into()),
            email: Some("Ana@Press.example".into()),
            groups: vec!["writers".into()],
        }
    }

    fn role(rules: &[&str]) -> Option<Role> {
        let rules: Vec<_> = rules.iter().map(ToString::to_string).collect();
        LoginRoles::read(&rules).unwrap().role_of(&ana())
    }

    #[test]
    fn a_person_has_the_most_that_any_rule_gives() {
        assert_eq!(role(&["viewer=anyone", "editor=group:writers"]), Some(Role::Editor));
        assert_eq!(role(&["editor=group:writers", "viewer=anyone"]), Some(Role::Editor));
        assert_eq!(role(&["viewer=anyone", "owner=group:admins"]), Some(Role::Viewer));
        assert_eq!(role(&["owner=subject:ana-1"]), Some(Role::Owner));
        assert_eq!(role(&["reviewer=email:ana@press.example"]), Some(Role::Reviewer));
        assert_eq!(role(&["reviewer=domain:press.example"]), Some(Role::Reviewer));
    }

    #[test]
    fn whom_no_rule_is_for_may_not_sign_in() {
        assert_eq!(role(&[]), None);
        assert_eq!(role(&["editor=group:Writers", "editor=subject:ana"]), None);
        assert_eq!(role(&["editor=domain:ess.example", "editor=email:a@press.example"]), None);
        let nameless = LoginIdentity { email: None, groups: Vec::new(), ..ana() };
        let rules = LoginRoles::read(&["editor=domain:press.example".to_owned()]).unwrap();
        assert_eq!(rules.role_of(&nameless), None);
    }

    #[test]
    fn a_rule_that_cannot_be_read_is_an_error() {
        for wrong in [
            "",
            "editor",
            "editor=",
            "boss=anyone",
            "editor=group:",
            "editor=anyone:x",
            "editor=role:x",
            "editor=email:ana",
            "=anyone",
            "editor=everybody",
        ] {
            let read = LoginRoles::read(&[wrong.to_owned()]);
            assert_eq!(read, Err(LoginRoleError(wrong.to_owned())), "{wrong}");
        }
    }
}
