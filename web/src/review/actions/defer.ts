/** Changes that are put off for later: the end of one's own list, on all devices of the person. */
import { EditorView } from '@codemirror/view'
import { openDocument } from '../../document/openDocument.ts'
import { wire } from '../../session/store.ts'
import type { Hunk } from '../../wire/generated.ts'
import { usePanel } from '../stores/panel.ts'
import { activate } from '../text/inView.ts'
import { activeHunk, hunksOf } from '../text/reviewField.ts'
import { neighbour } from '../state/changes.ts'
import { arranged } from '../state/marks.ts'
import { once } from './explain.ts'

const setLater = (ids: readonly string[]): void =>
  usePanel.setState(({ list }) => ({ list: { ...list, later: new Set(ids) } }))

/** Asks the server, where something can be known of it. */
export async function loadDeferred(): Promise<void> {
  const document = openDocument()
  if (!document) return
  const answer = await wire.call('approval:deferred', { documentId: document.id }).catch(() => null)
  if (answer && openDocument() === document) setLater(answer.hunks.map(({ hunk_id }) => hunk_id))
}

/** Changes were split, or are open again: only the server knows which of them are for later. */
export function changesCame(): void {
  if (usePanel.getState().list.later.size > 0) void loadDeferred()
}

/** Puts a change off, and goes on to the next; or takes it back. */
export async function deferHunk({ id, request_id }: Hunk): Promise<void> {
  const { later } = usePanel.getState().list
  const on = !later.has(id)
  const wish = { request_id, hunk_id: id, on }
  if (!(await once([id], () => wire.call('approval:defer', wish)))) return
  const view = openDocument()?.view
  const list = view ? arranged(hunksOf(view.state), usePanel.getState().list) : []
  setLater(on ? [...later, id] : [...later].filter((other) => other !== id))
  if (view) goOn(view, id, on ? neighbour(list, id, 1) : undefined)
}

/** Goes on from a change that was put off. */
function goOn(view: EditorView, id: string, next: Hunk | undefined): void {
  const said = next ? 'Put off for later.' : 'No longer for later.'
  if (next && next.id !== id && activeHunk(view.state)?.id === id)
    activate(view, next, { after: said })
  else view.dispatch({ effects: EditorView.announce.of(said) })
}
