/**
 * "Who wrote this": whether it is shown, who has a part in the text, and who wrote what stands at
 * the caret.
 */
import { sendableUpdates } from '@codemirror/collab'
import { create } from 'zustand'
import { getCurrent } from '../editor/sync/currentDocument.ts'
import { wire } from '../session/store.ts'
import { toast } from '../ui/toasts.ts'
import { CallError } from '../wire/socket.ts'
import type { ProvenanceSpan } from '../wire/generated.ts'
import { setSpans } from './authors.ts'
import { type Part, partsOf } from './wording.ts'

interface AuthorsState {
  on: boolean
  /** Who has a part in the text, the largest first. */
  parts: readonly Part[]
  /** What stands at the caret. */
  here: ProvenanceSpan | null
}

const OFF: AuthorsState = { on: false, parts: [], here: null }
export const useAuthors = create<AuthorsState>()(() => OFF)

/** Another document: nothing is shown until it is asked for. */
export function forgetAuthors(): void {
  useAuthors.setState(OFF)
}

export function toggleAuthors(): void {
  if (useAuthors.getState().on) {
    useAuthors.setState(OFF)
    getCurrent()?.view.dispatch({ effects: setSpans.of([]) })
  } else {
    useAuthors.setState({ on: true })
    void readAuthors()
  }
}

let reading = false
let again = false

/**
 * Asks the server who wrote what, and shows it where the words stand here. One question at a time.
 */
export async function readAuthors(): Promise<void> {
  if (reading) return void (again = true)
  reading = true
  try {
    do {
      again = false
      await readOnce()
    } while (again)
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    // Without a connection what is shown stays, and is asked again when it is back.
    if (error.code !== 'offline')
      toast(`Who wrote this is not known just now: ${error.message}`, { about: 'authors' })
  } finally {
    reading = false
  }
}

async function readOnce(): Promise<void> {
  const current = getCurrent()
  if (!current || !useAuthors.getState().on) return
  const { version, spans } = await wire.call('document:provenance', { documentId: current.id })
  if (getCurrent() !== current || !useAuthors.getState().on) return
  const missed = current.synced?.since(version)
  // Told of a version that has not arrived here yet: its updates come first.
  if (!missed) return void setTimeout(() => void readAuthors(), 200)
  const path = [...missed, ...sendableUpdates(current.view.state).map((update) => update.changes)]
  const length = current.view.state.doc.length
  const map = (at: number, side: -1 | 1) =>
    path.reduce((pos, changes) => changes.mapPos(Math.min(pos, changes.length), side), at)
  const placed = spans
    .map((span) => ({ ...span, from: map(span.from, 1), to: Math.min(map(span.to, -1), length) }))
    .filter(({ from, to }) => from < to)
  useAuthors.setState({ parts: partsOf(placed) })
  current.view.dispatch({ effects: setSpans.of(placed) })
}
