//! Roles in single documents, on the wire.

use copydesk_api::{GivenRole, Grantee};
use copydesk_ids::permissions::Role;
use copydesk_protocol::sharing::{
    DocumentRoleLine, DocumentRoleList, ShareDocument, UnshareDocument,
};

use super::time;

/// Message about a wish that names no one, or several.
const ONE_GRANTEE: &str = "name one of login, email and group";

/// Returns the person or group that gets a role, and the role.
///
/// # Errors
/// A message for a wish that does not name exactly one person or group.
pub fn share(wish: ShareDocument) -> Result<(Grantee, Role), &'static str> {
    let ShareDocument { document_id: _, role, login, email, group } = wish;
    Ok((grantee(login, email, group)?, role))
}

/// Returns the person or group whose role is taken.
///
/// # Errors
/// As [`share`].
pub fn unshare(wish: UnshareDocument) -> Result<Grantee, &'static str> {
    let UnshareDocument { document_id: _, login, email, group } = wish;
    grantee(login, email, group)
}

fn grantee(
    login: Option<String>,
    email: Option<String>,
    group: Option<String>,
) -> Result<Grantee, &'static str> {
    match (login, email, group) {
        (Some(login), None, None) => Ok(Grantee::Login(login.into())),
        (None, Some(email), None) => Ok(Grantee::Email(email)),
        (None, None, Some(group)) => Ok(Grantee::Group(group)),
        _ => Err(ONE_GRANTEE),
    }
}

/// Returns the roles that were given in a document.
pub fn document_roles(given: Vec<GivenRole>) -> DocumentRoleList {
    DocumentRoleList { roles: given.into_iter().map(document_role).collect() }
}

/// Returns a role that was given in a document.
pub fn document_role(given: GivenRole) -> DocumentRoleLine {
    let GivenRole { record, login, given_by } = given;
    let name = record.grantee.name().to_owned();
    let (id, email, group) = match record.grantee {
        Grantee::Login(_) => (Some(name), None, None),
        Grantee::Email(_) => (None, Some(name), None),
        Grantee::Group(_) => (None, None, Some(name)),
    };
    DocumentRoleLine {
        login: id,
        email,
        group,
        name: login.map(|login| login.name),
        role: record.role,
        given_at: time(record.given_ms),
        given_by,
    }
}
