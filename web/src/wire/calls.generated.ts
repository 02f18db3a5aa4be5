// Written from crates/operations/src by `COPYDESK_BLESS=1 cargo test -p copydesk-operations`; do not edit.

import type {
  AddRule,
  AgentEvent,
  AskClaudeCode,
  AskedRun,
  Cancel,
  ChangeSettings,
  ClaudeResponse,
  ClaudeStream,
  ClearTranscript,
  CommentChanged,
  CommentUnread,
  CompareVersions,
  Comparison,
  CreateComment,
  CreateDocument,
  CreatedDocument,
  Decided,
  DecisionResults,
  DeferHunk,
  DeferredHunks,
  DeleteComment,
  DeletePerson,
  DocumentChanged,
  DocumentCreated,
  DocumentFile,
  DocumentList,
  DocumentRoleLine,
  DocumentRoleList,
  DocumentSettings,
  DocumentUpdates,
  EditComment,
  EmptyTrash,
  EndedRequests,
  FileList,
  FocusRequest,
  ForkTranscript,
  IssueToken,
  IssuedToken,
  ListComments,
  ListDocuments,
  ListFiles,
  ListPendingApprovals,
  ListRequests,
  ListRules,
  MonthSpending,
  MoveCaret,
  NameDocument,
  NamePerson,
  NameRequest,
  NameToken,
  NamedPerson,
  NewVersion,
  OpenDocument,
  Opened,
  PendingRequests,
  PeopleToMention,
  PersonDeletion,
  PersonPreview,
  PresenceChanges,
  PresencePeers,
  PresenceUpdate,
  Provenance,
  PushUpdates,
  ReadHistory,
  ReadProvenance,
  ReadSpending,
  ReadThreads,
  ReadTranscript,
  ReadVersion,
  RenameDocument,
  ReopenRequest,
  ReplyToComment,
  RequestState,
  ResolveThread,
  RestoreVersion,
  Resync,
  RevokeRule,
  RevokeToken,
  RuleAdded,
  Rules,
  RulesChanged,
  Run,
  SessionEnded,
  SessionRegistered,
  SetSettings,
  SetSpendingLimit,
  Settings,
  SettingsChanged,
  ShareDocument,
  ShortUpdates,
  SplitRequest,
  StopRun,
  StoredSizes,
  SuggestionAnswer,
  TextOfVersion,
  ThreadAnswer,
  ThreadList,
  TieToken,
  TokenList,
  Told,
  ToolApprovalBatch,
  ToolApprovalRequest,
  ToolApprovalResolved,
  ToolApprovalResponse,
  ToolApprovalUpdate,
  TranscriptPart,
  Trash,
  UndoRequest,
  UnshareDocument,
  UpdateSuggestion,
  VersionPage,
  WorkInProgress,
} from './generated.ts'

/** Payload and answer of each event that a client sends. */
export interface Calls {
  /** Documents, last changed first, or a page of them. */
  'document:list': [ListDocuments, DocumentList]
  /** Create a document. */
  'document:create': [CreateDocument, { document: CreatedDocument }]
  /** Copy a document: its title and text, its policies and the models that may see it. */
  'document:duplicate': [NameDocument, { document: CreatedDocument }]
  /** Change the title. */
  'document:rename': [RenameDocument, object]
  /** Delete a document; it can be recovered for 30 days. */
  'document:delete': [NameDocument, object]
  /** Deleted documents that can be recovered, last deleted first. */
  'trash:list': [object, Trash]
  /** Remove a document from the trash; the event without one removes all. */
  'trash:empty': [EmptyTrash, object]
  /** Recover a deleted document. */
  'trash:recover': [NameDocument, object]
  /** Change the document's review settings; missing fields stay as they are. */
  'document:settings': [ChangeSettings, { settings: DocumentSettings }]
  /** Open a document: its text, or the updates since a version; its events follow. */
  'document:open': [OpenDocument, Opened]
  /** Catch up with a document. */
  'document:resync': [Resync, Opened]
  /** Change the text. */
  'document:push': [PushUpdates, NewVersion]
  /** Leave a document. */
  'document:close': [NameDocument, object]
  /** Show others in an open document where your caret is. */
  'presence:update': [MoveCaret, object]
  /** Versions and their authors, newest first. */
  'document:history': [ReadHistory, VersionPage]
  /** The text at a version. */
  'document:at': [ReadVersion, TextOfVersion]
  /** Differences between two versions. */
  'document:compare': [CompareVersions, Comparison]
  /** Restore an earlier version. */
  'document:restore': [RestoreVersion, NewVersion]
  /** Who wrote what. */
  'document:provenance': [ReadProvenance, Provenance]
  /** Threads of comments in a document, newest first. */
  'comment:list': [ListComments, ThreadList]
  /** Begin a thread on a passage, on a change, or on the whole document. */
  'comment:create': [CreateComment, ThreadAnswer]
  /** Note that you have read threads, or all. */
  'comment:read': [ReadThreads, object]
  /** People whom a comment can mention. */
  'comment:people': [NameDocument, PeopleToMention]
  /** Answer in a thread. */
  'comment:reply': [ReplyToComment, ThreadAnswer]
  /** Resolve a thread, or reopen it. */
  'comment:resolve': [ResolveThread, ThreadAnswer]
  /** Change the text of your comment. */
  'comment:edit': [EditComment, ThreadAnswer]
  /** Delete your comment; an owner deletes any. */
  'comment:delete': [DeleteComment, ThreadAnswer]
  /** Suggest changes of a document, in place of your open ones. */
  'suggestion:update': [UpdateSuggestion, SuggestionAnswer]
  /** Roles that people and groups were given in the document, oldest first. */
  'document:roles': [NameDocument, DocumentRoleList]
  /** Give a person or a group a role in the document, or another one. */
  'document:share': [ShareDocument, DocumentRoleLine]
  /** Take the role of a person or a group. */
  'document:unshare': [UnshareDocument, object]
  /** Text files of the workspace that can be opened as documents. */
  'workspace:files': [ListFiles, FileList]
  /** Requests that can still be decided. */
  'list_pending_approvals': [ListPendingApprovals, PendingRequests]
  /** Requests that have ended, newest first. */
  'approval:list': [ListRequests, EndedRequests]
  /** Decide several requests, each on its own. */
  'tool_approval_batch': [ToolApprovalBatch, DecisionResults]
  /** Decide a request, or some of its changes. */
  'tool_approval_response': [ToolApprovalResponse, Decided]
  /** Text that the model would receive after this decision; nothing changes. */
  'approval:told': [ToolApprovalResponse, Told]
  /** Show others that you look at a request. */
  'approval:focus': [FocusRequest, RequestState]
  /** Split a change of several parts into one change for each part. */
  'approval:split': [SplitRequest, Decided]
  /** Put a change at the end of your own list, or back; for you only. */
  'approval:defer': [DeferHunk, RequestState]
  /** Open changes of a document at the end of your own list. */
  'approval:deferred': [NameDocument, DeferredHunks]
  /** Give people more time. */
  'approval:extend': [NameRequest, RequestState]
  /** Undo what was accepted, or put back the file that a call has written. */
  'approval:undo': [UndoRequest, RequestState]
  /** Propose again what was rejected, expired or undone. */
  'approval:reopen': [ReopenRequest, RequestState]
  /** Withdraw your request. */
  'approval:withdraw': [NameRequest, RequestState]
  /** Remembered rules in force. */
  'rules:list': [ListRules, Rules]
  /** Create an owner's rule: deny, ask or allow; if an equal rule exists, it is returned instead. */
  'rules:add': [AddRule, RuleAdded]
  /** End a rule. */
  'rules:revoke': [RevokeRule, object]
  /** Ask the agent about a document. */
  'askClaudeCode': [AskClaudeCode, AskedRun]
  /** Ask the agent for work without a document. */
  'run': [Run, AskedRun]
  /** Stop a run of yours, or all of a session. */
  'cancel': [Cancel, object]
  /** A part of the conversation of a session, the newest first. */
  'transcript:get': [ReadTranscript, TranscriptPart]
  /** Begin a conversation anew; what was said stays on record. */
  'transcript:clear': [ClearTranscript, object]
  /** Continue from the end of an earlier run. */
  'transcript:fork': [ForkTranscript, object]
  /** All tokens, without their secrets. */
  'token:list': [object, TokenList]
  /** Issue a token; its secret is shown once. */
  'token:issue': [IssueToken, IssuedToken]
  /** Name yourself, in your token. */
  'token:name': [NameToken, NamedPerson]
  /** Revoke a token. */
  'token:revoke': [RevokeToken, object]
  /** Tie a token to a login: both are one person. */
  'token:tie': [TieToken, object]
  /** The server's settings. */
  'settings:get': [object, { settings: Settings }]
  /** Change the server's settings; missing fields stay as they are. */
  'settings:set': [SetSettings, { settings: Settings }]
  /** What models have cost in a month, by person and by document, with the limits. */
  'spending:get': [ReadSpending, MonthSpending]
  /** Set or remove a spending limit. */
  'spending:limit': [SetSpendingLimit, MonthSpending]
  /** Runs that have not ended, anybody's, and the number of open requests. */
  'server:work': [object, WorkInProgress]
  /** Sizes of what is stored. */
  'server:storage': [object, StoredSizes]
  /** Stop anybody's run. */
  'server:stop': [StopRun, object]
  /** What is stored of a person, and what a deletion would delete, rename and keep. */
  'person:preview': [NamePerson, PersonPreview]
  /** Delete the data of a person. */
  'person:delete': [DeletePerson, PersonDeletion]
}

/** Payload of each event that the server sends. */
export interface ServerEvents {
  'sessionRegistered': SessionRegistered
  'sessionEnded': SessionEnded
  'document:created': DocumentCreated
  'document:updates': DocumentUpdates
  'updates': ShortUpdates
  'document:changed': DocumentChanged
  'comment:changed': CommentChanged
  'comment:unread': CommentUnread
  'document:file': DocumentFile
  'presence:peers': PresencePeers
  'presence:changes': PresenceChanges
  'presence:update': PresenceUpdate
  'rules:changed': RulesChanged
  'settings:changed': SettingsChanged
  'claudeStreamStart': ClaudeStream
  'claudeStreamChunk': ClaudeStream
  'claudeStreamEnd': ClaudeStream
  'agent_event': AgentEvent
  'claudeResponse': ClaudeResponse
  'tool_approval_request': ToolApprovalRequest
  'tool_approval_update': ToolApprovalUpdate
  'tool_approval_resolved': ToolApprovalResolved
}
