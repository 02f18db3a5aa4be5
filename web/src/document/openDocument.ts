/** The one document that is open in this tab, for commands that act on it. */
import type { ChangeSet, Extension } from '@codemirror/state'
import type { EditorView } from '@codemirror/view'
import type { LaterUpdate } from './unsent/unsentEdit.ts'
import type { ConfirmedDocument } from './confirmedDocument.ts'
import type { Mode } from './modes.ts'
import type { DocumentEvents, Emitter } from './events.ts'

export interface OpenDocument {
  readonly id: string
  readonly view: EditorView
  readonly events: Emitter<DocumentEvents>
  /** The server's version that the text is of, once everything typed has arrived. */
  readonly version: number
  /** Everything typed here has reached the server. */
  readonly settled: boolean
  /**
   * The server's side of it, for mapping what the server says of a version; nothing until it is
   * loaded.
   */
  readonly confirmed: ConfirmedDocument | null
  /** The same while we are in step with the server. */
  inStep(): ConfirmedDocument | null
  /**
   * Updates from a version on, up to the text that is shown; `null`: they are not known any more.
   */
  updatesSince(version: number): Promise<readonly LaterUpdate[] | null>
  /** Changes that were typed over the server's text and have not arrived. */
  unconfirmed(): readonly ChangeSet[]
  /** Maps a position of the text that is shown to the server's text. */
  inServerText(at: number): number
  /** Goes into another mode; everything typed has arrived. */
  enter(mode: Mode): void
  /** Shows changes as the server has just said they are. */
  redraw(): void
}

let active: OpenDocument | null = null

export function setOpenDocument(document: OpenDocument | null): void {
  active = document
}

export function openDocument(): OpenDocument | null {
  return active
}

export interface EditorSetup {
  text: string
  version: number
  clientID: string
  writable: boolean
  title: string
  onUpdate: Extension
}
