//! Version of each document that each caller has last read, so that its proposals are compared with
//! that text. Kept in memory only: after a restart a caller reads again.
//!
//! Two programs with one name and one token must never be taken for each other: a proposal of one
//! would undo what the other has read. So a version belongs to the session of the protocol, or to
//! the bridge `copydesk mcp`, which sends a name of its own. Without either (the protocol of
//! 2026-07-28) nothing is remembered: the call names the version itself.

use std::collections::HashMap;

use copydesk_ids::{DocumentId, UserId, Version};
use parking_lot::Mutex;

/// Maximum number of versions remembered for one person.
const MOST_OF_ONE: usize = 10_000;

/// Program that can be distinguished from others of its person.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ReadingProgram {
    /// Program identified by its session of the protocol.
    Session(String),
    /// Program identified by the name that its bridge has given itself.
    Bridge(String),
}

/// [`Version`]s last read, by person.
#[derive(Debug, Default)]
pub(crate) struct ReadVersions(Mutex<HashMap<UserId, PersonReads>>);

type PersonReads = HashMap<(ReadingProgram, DocumentId), Version>;

impl ReadVersions {
    /// Returns the version that a person's program has last read.
    pub(crate) fn by(
        &self,
        user: &UserId,
        reader: Option<&ReadingProgram>,
        document: &DocumentId,
    ) -> Option<Version> {
        let name = (reader?.clone(), document.clone());
        self.0.lock().get(user)?.get(&name).copied()
    }

    /// Stores the version that a person's program has read.
    pub(crate) fn note(
        &self,
        user: &UserId,
        reader: Option<&ReadingProgram>,
        document: DocumentId,
        version: Version,
    ) {
        let Some(reader) = reader else { return };
        let mut people = self.0.lock();
        let own = people.entry(user.clone()).or_default();
        if own.len() >= MOST_OF_ONE {
            // At worst this person's programs are asked to read once more.
            own.clear();
        }
        own.insert((reader.clone(), document), version);
    }

    /// Forgets the versions of a session that is over.
    pub(crate) fn forget(&self, user: &UserId, session: &str) {
        let mut people = self.0.lock();
        let Some(own) = people.get_mut(user) else { return };
        own.retain(
            |(reader, _), _| !matches!(reader, ReadingProgram::Session(it) if it == session),
        );
        if own.is_empty() {
            people.remove(user);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(name: &str) -> ReadingProgram {
        ReadingProgram::Session(name.to_owned())
    }

    #[test]
    fn every_program_has_read_what_it_has_read_and_nothing_else() {
        let (reads, ana, document) =
            (ReadVersions::default(), UserId::from("ana"), DocumentId::from("d"));
        let one = Some(session("1"));
        reads.note(&ana, one.as_ref(), document.clone(), Version(7));
        let by = |user: &str, reader: Option<ReadingProgram>| {
            reads.by(&user.into(), reader.as_ref(), &document)
        };
        assert_eq!(by("ana", one.clone()), Some(Version(7)));
        let others = [Some(session("2")), Some(ReadingProgram::Bridge("1".into())), None];
        assert_eq!(others.map(|other| by("ana", other)), [None, None, None]);
        assert_eq!(by("ben", one.clone()), None);
        reads.forget(&"ben".into(), "1");
        assert_eq!(by("ana", one.clone()), Some(Version(7)));
        reads.forget(&ana, "1");
        assert_eq!((by("ana", one), reads.0.lock().len()), (None, 0));
    }

    #[test]
    fn of_a_caller_that_cannot_be_told_from_others_nothing_is_remembered() {
        let (reads, ana) = (ReadVersions::default(), UserId::from("ana"));
        reads.note(&ana, None, "d".into(), Version(7));
        assert_eq!(reads.by(&ana, None, &"d".into()), None);
        assert!(reads.0.lock().is_empty());
    }
}
