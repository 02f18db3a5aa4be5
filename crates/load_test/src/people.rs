//! People of a load test, as many as needed: a server limits the clients of one person.

use copydesk_client::{ClientResult, ServerClient};
use copydesk_ids::permissions::Role;
use copydesk_protocol::client::IssueToken;

use crate::{LoadTestError, LoadTestResult};

/// Clients of one person; servers permit 1,024 of them.
const CLIENTS_OF_A_PERSON: u64 = 500;

/// Tokens under which the clients of a load test connect.
pub(super) struct LoadPeople {
    owner: ServerClient,
    /// Secrets, at least one.
    secrets: Vec<String>,
    /// Identifiers of the tokens that were issued for the test.
    issued: Vec<String>,
}

impl LoadPeople {
    /// Uses the owner's `token`, and issues further ones if so many clients need more people.
    pub async fn gather(server: &str, token: &str, clients: u64) -> LoadTestResult<Self> {
        let owner = ServerClient::new(server, token)?;
        // A token that is refused is reported before anything is made.
        if owner.get(&["me"], &[]).await?["role"] != "owner" {
            return Err(LoadTestError::NotOwner);
        }
        let mut people = Self { owner, secrets: vec![token.to_owned()], issued: Vec::new() };
        while people.secrets.len() as u64 * CLIENTS_OF_A_PERSON < clients {
            let wish = IssueToken {
                role: Role::Editor,
                name: format!("Load test {}", people.secrets.len()),
                document_id: None,
                expires_in: Some("1d".to_owned()),
            };
            let token = people.owner.issue(&wish).await?;
            people.secrets.push(token.token);
            people.issued.push(token.id);
        }
        Ok(people)
    }

    /// Returns the secret under which the client with this index connects.
    pub fn secret(&self, client: usize) -> &str {
        &self.secrets[client % self.secrets.len()]
    }

    pub async fn leave(&self) -> ClientResult<()> {
        for id in &self.issued {
            self.owner.revoke(id).await?;
        }
        Ok(())
    }
}
