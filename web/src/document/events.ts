/** Events of an open document, for the stores and parts of the page that follow it. */
import type { ViewUpdate } from '@codemirror/view'
import type {
  CommentChanged,
  HunkChanges,
  Opened,
  PresenceChanges,
  PresenceUpdate,
  ToolApprovalRequest,
  ToolApprovalResolved,
  ToolApprovalUpdate,
} from '../wire/generated.ts'

/** Names of the events, with the value that comes with each. */
export interface DocumentEvents {
  /** The answer to `document:open` is in the text; its changes are drawn next. */
  opened: Opened
  /** A new request, before its changes are drawn. */
  requested: ToolApprovalRequest
  /** Another state of a request, or more of a change that the model writes. */
  requestUpdated: ToolApprovalUpdate
  /** The end of a request, before its changes go. */
  resolved: ToolApprovalResolved
  /** Changes that came or went with an update of the text, before they are drawn. */
  hunksChanged: HunkChanges
  /** People who came, changed and left. */
  peersChanged: PresenceChanges
  peerMoved: PresenceUpdate
  /** A thread of comments, as it is now. */
  threadChanged: CommentChanged
  /** An event of the server was applied. */
  delivered: undefined
  /** The editor's state changed. */
  updated: ViewUpdate
  /** The server has taken what was typed. */
  pushed: undefined
  disconnected: undefined
  closed: undefined
}

/**
 * Passes events on to listeners, in the order in which they subscribed. Their code is fetched
 * beside the text: what is emitted before it is there is kept for them.
 */
export class Emitter<Events extends object> {
  private readonly listeners: { [Name in keyof Events]?: ((event: Events[Name]) => void)[] } = {}
  /** Events from before {@link start}; `null`: after it. */
  private kept: (() => void)[] | null = []

  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): void {
    ;(this.listeners[name] ??= []).push(listener)
  }

  /** Passes on what was kept. From now on all is passed on at once. */
  start(): void {
    const kept = this.kept ?? []
    this.kept = null
    kept.forEach((emit) => emit())
  }

  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    if (this.kept) this.kept.push(() => this.emit(name, event))
    else this.listeners[name]?.forEach((listener) => listener(event))
  }
}
