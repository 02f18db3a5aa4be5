/** The state of the open document for the page around the text. */
import type { EditorState } from '@codemirror/state'
import { create } from 'zustand'
import { useShallow } from 'zustand/react/shallow'
import type {
  DocumentSettings,
  FileConflict,
  FileState,
  Peer,
  Role,
  WireError,
} from '../wire/generated.ts'
import type { CallError } from '../wire/socket.ts'
import type { Heading } from '../text/textStatistics.ts'
import type { Mode } from './modes.ts'
import type { UnsentEdit } from './unsent/unsentEdit.ts'

export type Saved = 'saved' | 'saving' | 'offline'
export type Phase = 'opening' | 'open' | 'failed' | 'gone'

export interface DocumentState {
  id: string | null
  phase: Phase
  failure: WireError | null
  title: string
  role: Role
  mode: Mode
  /**
   * Policy, approvals, time limit and frozen passages (as the server sent them; the editor has them
   * mapped).
   */
  settings: DocumentSettings | null
  saved: Saved
  peers: readonly Peer[]
  /** Number of further people who only read: in a crowd they are counted. */
  crowd: number
  /** Identifier of this page among the peers. */
  member: string
  words: number
  selectedWords: number
  /** The selected range, for the composer. */
  selection: { from: number; to: number } | null
  headings: readonly Heading[]
  /**
   * The editor's state as it was last published: text, changes and frozen passages that belong
   * together. `null` until the text is there.
   */
  snapshot: EditorState | null
  /** Edits that were not sent before the document had to be loaded anew: they are offered back. */
  recovered: readonly UnsentEdit[]
  /** The state of the workspace file that the document is. */
  file: FileState | null
  /** Words of the file where people had changed the same words. */
  overruled: readonly FileConflict[]
}

export const EMPTY: DocumentState = {
  id: null,
  phase: 'opening',
  failure: null,
  title: '',
  role: 'viewer',
  mode: 'reading',
  settings: null,
  saved: 'saved',
  peers: [],
  crowd: 0,
  member: '',
  words: 0,
  selectedWords: 0,
  selection: null,
  headings: [],
  snapshot: null,
  recovered: [],
  file: null,
  overruled: [],
}

export const useOpenDocument = create<DocumentState>()(() => EMPTY)

/** Publishes the editor's state for the page around the text. */
export function publish(snapshot: EditorState): void {
  useOpenDocument.setState({ snapshot })
}

/** Parts of the state; who reads them is drawn anew only when one of them changed. */
export function useOpenDocumentFields<Name extends keyof DocumentState>(
  ...names: readonly Name[]
): Pick<DocumentState, Name> {
  return useOpenDocument(
    useShallow(
      (state) =>
        Object.fromEntries(names.map((name) => [name, state[name]])) as Pick<DocumentState, Name>,
    ),
  )
}

type Opening = Pick<DocumentState, 'title' | 'role' | 'mode'> & { id: string }

/** Nothing of the document that was open before is shown with the next one. */
export function showOpening(id: string): void {
  useOpenDocument.setState({ ...EMPTY, id })
}

export function showClosed(): void {
  useOpenDocument.setState(({ recovered }) => ({ ...EMPTY, recovered }))
}

export function showOpen({ id, title, role, mode }: Opening, lost: readonly UnsentEdit[]): void {
  useOpenDocument.setState(({ recovered }) => ({
    id,
    title,
    role,
    mode,
    phase: 'open',
    failure: null,
    saved: 'saved',
    recovered: [...recovered, ...lost],
  }))
}

export function showSaved(isSettled: boolean, isConnected: boolean): void {
  useOpenDocument.setState({ saved: isSettled ? 'saved' : isConnected ? 'saving' : 'offline' })
}

/** The document is gone, or cannot be opened for this reason. */
export function showEnd(lost: readonly UnsentEdit[], failure: CallError | null = null): void {
  useOpenDocument.setState(({ recovered }) => ({
    phase: failure ? 'failed' : 'gone',
    failure,
    recovered: [...recovered, ...lost],
  }))
}
