//! Test that keeps `web/src/wire/generated.ts` equal to the wire's types.

use copydesk_approvals as approvals;
use copydesk_ids::permissions;
use ts_rs::{Config, TS};

use super::{
    administration, answers, client, comments, deferring, files, history, names, rest, rules,
    server, sharing, suggestions,
};

/// One line for each type, in the order of the file.
macro_rules! declarations {
    ($config:expr, $($module:ident :: { $($name:ident),+ $(,)? })+) => {
        [$($(<$module::$name as TS>::decl($config)),+),+]
    };
}

fn generate() -> String {
    let config = &Config::new().with_large_int("number");
    let declarations = declarations![config,
        names::{
            DecisionKind, PermissionMode, FileStatus, TokenStatus, SessionEndCode, HistoryAct, SpanKind, UpdateType, AgentEventType, AgentEventSubtype, HunkReasonCode, ModelAccessKind, SpendingLimitKind, WorkState, PersonState, PrivateDocuments,
        }
        permissions::{Role}
        approvals::{
            RequestStatus, HunkStatus, HunkKind, MarkKind, Mark, HunkChoice, ApprovalSwitch, DecisionPolicy, ToolPolicy, RequestSource, UnaskedReason, PreviewKind, RuleEffect, RuleScope,
            ClaimedAuthor, PreviewWarning, VoteCount, ReportState,
        }
        client::{
            Handshake, Nothing, ListDocuments, CreateDocument, OpenDocument, PushUpdates, PushedUpdate, Resync, NameDocument,
            EmptyTrash, RenameDocument, ChangeSettings, ModelAccess, Freeze, Range, ReadHistory, ReadVersion, ReadProvenance, CompareVersions, RestoreVersion, Caret, MoveCaret, AskClaudeCode,
            AskContext, AskSelection, AskHistory, Run, ToolApprovalResponse, HunkResponse, ToolApprovalBatch,
            ListPendingApprovals, ListRequests, FocusRequest, NameRequest, SplitRequest, UndoRequest, SeenWords, ReopenRequest, Cancel, ReadTranscript, ClearTranscript, ForkTranscript,
            SetSettings, IssueToken, NameToken, RevokeToken, TieToken,
        }
        deferring::{DeferHunk, DeferredHunks, DeferredHunk}
        answers::{DocumentList, TextOfVersion, AskedRun, TranscriptPart, PendingRequests, EndedRequests}
        rules::{
            Remember, Rule, ListRules, Rules, AddRule, RuleAdded, RevokeRule, RulesChanged,
        }
        server::{
            WireError, SessionRegistered, Person, Settings, SettingsChanged, DocumentSettings, DocumentLine, Trash, DeletedDocument, CreatedDocument, DocumentCreated,
            WholeDocument, Opened, Streaming, Update, DocumentUpdates, HunkChanges, DocumentChanged, Peer, PeerCaret,
            PresenceChanges, PresencePeers, PresenceUpdate, ShortUpdate, ShortUpdates, Hunk, HunkRequired, Part, HunkDecided, HunkVote, ToolApprovalRequest, Aftermath, Undone,
            ToolApprovalUpdate, HunkState, ToolApprovalResolved, Decided, Told, ClaudeStream, AgentEvent,
            ClaudeResponse, ResponseUpdate, SelectionRange, IssuedToken, LoginLine, NamedPerson, TokenLine, TokenList, SessionEnded,
        }
        copydesk_comments::{ThreadStatus}
        comments::{
            ListComments, CreateComment, ReplyToComment, EditComment, DeleteComment, ResolveThread, ReadThreads, CommentThread, Comment, CommentAuthor, ThreadProposal, ThreadList, PeopleToMention, ThreadAnswer, CommentChanged, CommentUnread, ReadThread,
        }
        suggestions::{UpdateSuggestion, SuggestionAnswer}
        sharing::{ShareDocument, UnshareDocument, DocumentRoleLine, DocumentRoleList}
        rest::{NewVersion, VersionPage, Comparison, Provenance, RequestState, DecisionResults, DecisionResult, ImportedDocument, ConvertedHtml, ImportReport, LeftOut, ImportChoice}
        administration::{
            ReadSpending, SetSpendingLimit, MonthSpending, SpendingLine, UnpricedModel, WorkInProgress, UnfinishedRun,
            StopRun, StoredSizes, NamePerson, DeletePerson, PersonPreview, DeletedRecords, RenamedRecords, KeptRecords,
            PrivateDocument, PersonDeletion,
        }
        files::{ListFiles, FileList, FileLine, FileState, DocumentFile, FileMerged, FileConflict}
        history::{HistoryLine, ProvenanceSpan, RuleCredit, Difference}
    ];
    let mut file = String::from(
        "// Written from crates/protocol/src by `COPYDESK_BLESS=1 cargo test -p copydesk-protocol`; do not edit.\n\n",
    );
    for declaration in declarations {
        file.push_str("export ");
        file.push_str(&declaration);
        file.push_str("\n\n");
    }
    file.truncate(file.trim_end().len());
    file.push('\n');
    file
}

#[test]
fn the_editors_types_are_the_servers() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/src/wire/generated.ts");
    let generated = generate();
    if std::env::var_os("COPYDESK_BLESS").is_some() {
        std::fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/src/wire"))
            .unwrap();
        std::fs::write(path, &generated).unwrap();
    }
    let current = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        current == generated,
        "web/src/wire/generated.ts is not current; run `COPYDESK_BLESS=1 cargo test -p copydesk-protocol`"
    );
}
