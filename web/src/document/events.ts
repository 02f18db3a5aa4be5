/** Events of an open document, for the stores and parts of the page that follow it. */
import type { ViewUpdate } from '@codemirror/view'
import type {
  Hunk,
  Opened,
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
  /** Changes that came with an update of the text, before they are drawn. */
  hunksPut: readonly Hunk[]
  /** An event of the server was applied. */
  delivered: undefined
  /** The editor's state changed. */
  updated: ViewUpdate
  /** The server has taken what was typed. */
  pushed: undefined
  disconnected: undefined
  closed: undefined
}

/** Passes events on to listeners, in the order in which they subscribed. */
export class Emitter<Events extends object> {
  private readonly listeners: { [Name in keyof Events]?: ((event: Events[Name]) => void)[] } = {}

  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): void {
    ;(this.listeners[name] ??= []).push(listener)
  }

  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    this.listeners[name]?.forEach((listener) => listener(event))
  }
}
