/**
 * Freezing and unfreezing what is selected: the server keeps the passages and holds every tool to
 * them.
 */
import type { EditorView } from '@codemirror/view'
import { openDocument } from '../document/openDocument.ts'
import { allSent } from '../document/allSent.ts'
import { useOpenDocument } from '../document/useOpenDocument.ts'
import { attempt } from '../session/attempt.ts'
import { wire } from '../session/store.ts'
import { toast } from '../ui/toasts.ts'
import type { Range } from '../wire/generated.ts'
import { frozenIn } from './field.ts'
import { freeze, isFrozen, thaw, wordsOf } from '../document/frozenRanges.ts'

/** Only who may change a document's review settings may freeze. */
export const mayFreeze = (): boolean => useOpenDocument.getState().role === 'owner'

/** Returns what the key does now: the words it is about, and the direction. */
export function freezable(view: EditorView): { range: Range; frozen: boolean } | null {
  const { from, to } = view.state.selection.main
  const ranges = frozenIn(view.state)
  const range = wordsOf(view.state.sliceDoc(from, to), from)
  if (range) return { range, frozen: isFrozen(ranges, range) }
  // With no words selected: the passage the caret is in.
  const around = ranges.find((passage) => passage.from <= from && from <= passage.to)
  return around ? { range: around, frozen: true } : null
}

/** For the key and the button. */
export function toggleFrozen(view: EditorView): boolean {
  if (!mayFreeze()) return false
  if (freezable(view)) void change((now) => toggled(now))
  else toast('Select the words to freeze first.')
  return true
}

function toggled(view: EditorView): readonly Range[] {
  const found = freezable(view)
  const ranges = frozenIn(view.state)
  if (!found) return ranges
  return found.frozen ? thaw(ranges, found.range) : freeze(ranges, found.range)
}

/** From the list of passages, by its place there. */
export function unfreeze(index: number): void {
  void change((view) => frozenIn(view.state).filter((_, other) => other !== index))
}

/**
 * The server's positions are ours once everything typed has arrived; what was selected has moved
 * along till then.
 */
async function change(wanted: (view: EditorView) => readonly Range[]): Promise<void> {
  const current = (await allSent()) ? openDocument() : null
  if (!current) return toast('Wait until everything typed is saved, then try again.')
  const before = frozenIn(current.view.state)
  const ranges = wanted(current.view)
  const answer = wire.call('document:settings', {
    documentId: current.id,
    frozen: {
      version: current.version,
      ranges: ranges.map(({ from, to }) => ({
        from: current.inServerText(from),
        to: current.inServerText(to),
      })),
    },
  })
  const done = await attempt(answer, ({ code, message }) =>
    toast(code === 'not_allowed' ? 'Only an owner may freeze words.' : message),
  )
  if (!done) return
  const more = lengthOf(ranges) > lengthOf(before)
  toast(more ? 'Frozen. The AI can’t change these words.' : 'Unfrozen.', { about: 'frozen' })
}

const lengthOf = (ranges: readonly Range[]): number =>
  ranges.reduce((sum, { from, to }) => sum + to - from, 0)
