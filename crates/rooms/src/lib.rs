//! Rooms: each room is one actor that owns one open document, its requests and the people in it.
//!
//! [`actor`] waits: it takes commands, lets [`state`] apply them, has the store keep what changed,
//! and only then sends events and answers. All decisions are functions below [`state`] without
//! input or output; they collect their effects as
//! [`RoomEffects`](actor::room_effects::RoomEffects). [`persistence`] loads and restores. Events
//! leave through an [`EventSink`].

pub mod command;
pub mod event;
pub mod file;
pub mod file_state;
pub mod persistence;
pub mod settings;

mod actor;
mod create_from_request;
mod create_imported;
mod event_sink;
mod inbox_policies;
mod registry;
mod request_index;
mod room_deps;
mod room_error;
mod room_handle;
#[cfg(feature = "rehearsal")]
pub mod simulated_room;
mod state;
#[cfg(test)]
mod tests;
mod title;
mod work_size;
mod workspace_place;

pub use create_from_request::NewDocumentFromRequest;
pub use create_imported::{ClaimedSuggestion, ClaimedThread, ImportedDocument};
pub use event_sink::{EncodedEvent, EncodedForm, EventSink};
pub use persistence::export_snapshot::ExportSnapshot;
pub use persistence::history::{compare, text_at};
pub use persistence::provenance::{author_spans, placements};
pub use persistence::trash::{TRASH_DAYS, recoverable_until_ms};
pub use registry::{DocumentReaders, NewDocument, RoomRegistry};
pub use room_error::{RequestResult, RoomError, RoomResult};
pub use room_handle::{RoomHandle, RoomStatus, WeakRoomHandle};
pub use state::workspace_inbox::WORKSPACE_INBOX;
pub use title::LONGEST_TITLE;
