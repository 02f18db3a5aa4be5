//! Deletion of a person's data: what an owner is shown before, and how it begins.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::person_deletion::DeletionState;
use copydesk_agent::is_part_of_run;
use copydesk_auth::KnownPerson;
use copydesk_failpoint as failpoint;
use copydesk_ids::UserId;
use copydesk_ids::permissions::DELETED_PERSON;
use copydesk_macros::boxed;
use copydesk_placement::PeerMessage;
use copydesk_store::{
    AuditEntry, DocumentRecord, PersonCounts, PersonDeletion, SpendingLimit, SpendingScope,
    StoreError, StoreOp, WriteBatch,
};

use crate::{ApiError, ApiResult, Caller, ErrorCode, server_tools};

/// Longest wait of a caller for the end of a deletion.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// The same with several servers, where it takes longer than anybody wants to wait.
const LONGEST_WAIT_ON_SEVERAL_SERVERS: Duration = Duration::from_secs(2);
/// Interval at which the caller looks for the end.
const LOOK: Duration = Duration::from_millis(50);

/// Stored data of a person, for an owner who may delete it.
#[derive(Clone, Debug)]
pub struct PersonPreview {
    /// All users of the person; that of their login, if they have one, first.
    pub users: Vec<UserId>,
    /// Name that others see.
    pub name: String,
    /// Mail address of the login.
    pub email: Option<String>,
    /// Numbers of records.
    pub counts: PersonCounts,
    /// Number of runs that have not ended.
    pub unfinished_runs: usize,
    /// Private documents, which only this person can see.
    pub private_documents: Vec<DocumentRecord>,
    /// Reason why the person cannot be deleted.
    pub obstacle: Option<DeletionObstacle>,
    /// Deletion that was begun before.
    pub deletion: Option<PersonDeletionReport>,
}

/// Reason why a person cannot be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletionObstacle {
    /// The person asks.
    Yourself,
    /// The person holds the owner's token.
    Owner,
}

impl DeletionObstacle {
    /// Returns the reason in words.
    pub fn message(self) -> &'static str {
        match self {
            Self::Yourself => "you cannot delete yourself; another owner can",
            Self::Owner => "the holder of the owner's token cannot be deleted",
        }
    }
}

/// Progress of the deletion of a person's data.
#[derive(Clone, Debug)]
pub struct PersonDeletionReport {
    /// User under whom the person was deleted.
    pub person: UserId,
    /// Time of its beginning, in ms.
    pub begun_ms: u64,
    /// Time of its end, in ms; `None`: it is under way.
    pub ended_ms: Option<u64>,
    /// Numbers of records at its beginning.
    pub counts: PersonCounts,
    /// Number of private documents that it deletes.
    pub private_documents: u64,
}

impl From<&PersonDeletion> for PersonDeletionReport {
    fn from(deletion: &PersonDeletion) -> Self {
        let DeletionState { counts, private_documents, .. } = DeletionState::of(deletion);
        let PersonDeletion { person, begun_ms, ended_ms, .. } = deletion;
        let (person, begun_ms, ended_ms) = (person.clone(), *begun_ms, *ended_ms);
        Self { person, begun_ms, ended_ms, counts, private_documents }
    }
}

#[boxed]
impl Caller {
    /// Returns what is stored of a person, and what of it a deletion would delete, rename and keep.
    ///
    /// # Errors
    /// [`NotFound`](ErrorCode::NotFound) for an unknown person,
    /// [`Unavailable`](ErrorCode::Unavailable) if it cannot be read.
    pub async fn person(&self, user: &UserId) -> ApiResult<PersonPreview> {
        let known = self.known_person(user).await?;
        let store = &self.application.store;
        let deletion = store.person_deletion(user).await?;
        let name = if deletion.is_some() {
            DELETED_PERSON.to_owned()
        } else {
            known.name().unwrap_or_default().to_owned()
        };
        let runs = store.unfinished_runs_of(&known.users).await?;
        Ok(PersonPreview {
            name,
            email: known.login.as_ref().and_then(|login| login.email.clone()),
            counts: store.person_counts(&known.users).await?,
            unfinished_runs: runs.iter().filter(|record| !is_part_of_run(record)).count(),
            private_documents: store.private_documents_of(&known.users).await?,
            obstacle: self.obstacle(&known),
            deletion: deletion.as_ref().map(PersonDeletionReport::from),
            users: known.users,
        })
    }

    async fn known_person(&self, user: &UserId) -> ApiResult<KnownPerson> {
        let known = self.application.auth.known_person(user).await?;
        known.ok_or_else(|| ApiError::not_found("person"))
    }

    fn obstacle(&self, known: &KnownPerson) -> Option<DeletionObstacle> {
        if known.users.iter().any(|user| self.principal.is(user)) {
            Some(DeletionObstacle::Yourself)
        } else {
            known.is_owner().then_some(DeletionObstacle::Owner)
        }
    }

    /// Deletes the data of a person. When this returns, they have no access and no login, and their
    /// connections are closed. The rest is done within seconds mostly, and after a restart if the
    /// server stops meanwhile; this waits for it for ten seconds at most. Asking again is fine.
    /// Documents that only the person can see are deleted too if `with_documents`.
    ///
    /// # Errors
    /// [`NotAllowed`](ErrorCode::NotAllowed) for the caller and the holder of the owner's token as
    /// the person, [`NotFound`](ErrorCode::NotFound) for an unknown person,
    /// [`Unavailable`](ErrorCode::Unavailable) if this is not stored.
    pub async fn delete_person(
        &self,
        user: &UserId,
        with_documents: bool,
    ) -> ApiResult<PersonDeletionReport> {
        let known = self.known_person(user).await?;
        if let Some(obstacle) = self.obstacle(&known) {
            return Err(ApiError::new(ErrorCode::NotAllowed, obstacle.message()));
        }
        let deletion = self.application.store.person_deletion(user).await?;
        let begins = match &deletion {
            None => true,
            // Their private documents may have been kept at first.
            Some(PersonDeletion { ended_ms: Some(_), .. }) => {
                let left = self.application.store.private_documents_of(&known.users).await?;
                with_documents && !left.is_empty()
            }
            Some(_) => false,
        };
        if begins {
            self.begin_deletion(&known, with_documents).await?;
        }
        self.application.deletions.notify_one();
        self.await_deletion(user).await
    }

    /// Ends all access of a person, and stores that everything else is to be done.
    async fn begin_deletion(&self, known: &KnownPerson, with_documents: bool) -> ApiResult<()> {
        let (store, now_ms) = (&self.application.store, self.application.clock.now_ms());
        let Some(person) = known.users.first().cloned() else { return Ok(()) };
        let private_documents =
            if with_documents { store.private_documents_of(&known.users).await?.len() } else { 0 };
        let is_own = |limit: &SpendingLimit| matches!(&limit.scope, SpendingScope::Person(user) if known.users.contains(user));
        let limits = store.spending_limits().await?.iter().filter(|limit| is_own(limit)).count();
        let mut names: Vec<String> = known.tokens.iter().map(|token| token.name.clone()).collect();
        names.extend(known.login.as_ref().map(|login| login.name.clone()));
        names.sort_unstable();
        names.dedup();
        names.retain(|name| name != DELETED_PERSON);
        let state = DeletionState {
            by: Some(self.principal.user.clone()),
            names,
            counts: PersonCounts {
                logins: u64::from(known.login.is_some()),
                limits: limits as u64,
                ..PersonCounts::default()
            },
            is_counted: false,
            private_documents: private_documents as u64,
        };
        let deletion = PersonDeletion {
            person: person.clone(),
            users: known.users.clone(),
            begun_ms: now_ms,
            ended_ms: None,
            body: json!(state),
        };
        let detail = json!({"user": person, "users": known.users, "tokens": known.tokens.len(),
            "private_documents": private_documents});
        let line = AuditEntry::new("person.deletion_begun", &self.principal.user, detail, now_ms);
        let begin = StoreOp::BeginPersonDeletion(deletion);
        let mut batch = WriteBatch::from(begin).with(StoreOp::Audit(line));
        for user in &known.users {
            let key = server_tools::setting(user);
            batch.push(StoreOp::RemoveSetting(key));
        }
        match store.commit(batch).await {
            // Another owner has begun it at the same moment.
            Ok(()) | Err(StoreError::Exists { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        failpoint::pass("people.begun");
        self.application.auth.end_access(known.tokens.iter().map(|token| &token.id), now_ms).await;
        self.application.placement().tell(&PeerMessage::PersonDeleted(person)).await;
        Ok(())
    }

    /// Waits until a deletion has ended, but not for long; returns how far it is.
    async fn await_deletion(&self, user: &UserId) -> ApiResult<PersonDeletionReport> {
        let is_shared = self.application.placement().is_shared();
        let longest_wait = if is_shared { LONGEST_WAIT_ON_SEVERAL_SERVERS } else { LONGEST_WAIT };
        let until = Instant::now() + longest_wait;
        loop {
            let deletion = self.application.store.person_deletion(user).await?;
            let deletion = deletion.ok_or_else(|| ApiError::not_found("person"))?;
            if deletion.ended_ms.is_some() || Instant::now() >= until {
                return Ok(PersonDeletionReport::from(&deletion));
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}
