/** Asks the server who wrote what, and shows it where the words stand here. */
import { StateEffect } from '@codemirror/state'
import { openDocument } from '../document/openDocument.ts'
import { wire } from '../session/store.ts'
import { toast } from '../ui/toasts.ts'
import { CallError } from '../wire/socket.ts'
import type { ProvenanceSpan } from '../wire/generated.ts'
import { useAuthors } from './store.ts'
import { sharesAsShown } from './authorLooks.ts'

/** All spans, in order, in place of those before; none: nothing is shown. */
export const setSpans = StateEffect.define<readonly ProvenanceSpan[]>()

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
  const current = openDocument()
  if (!current || !useAuthors.getState().on) return
  const { version, spans } = await wire.call('document:provenance', { documentId: current.id })
  if (openDocument() !== current || !useAuthors.getState().on) return
  const missed = current.confirmed?.since(version)
  // Of a version that has not arrived here yet: its updates come first.
  if (!missed) return void setTimeout(() => void readAuthors(), 200)
  const path = [...missed, ...current.unconfirmed()]
  const length = current.view.state.doc.length
  const map = (at: number, side: -1 | 1) =>
    path.reduce((pos, changes) => changes.mapPos(Math.min(pos, changes.length), side), at)
  const placed = spans
    .map((span) => ({ ...span, from: map(span.from, 1), to: Math.min(map(span.to, -1), length) }))
    .filter(({ from, to }) => from < to)
  useAuthors.setState({ parts: sharesAsShown(placed) })
  current.view.dispatch({ effects: setSpans.of(placed) })
}
