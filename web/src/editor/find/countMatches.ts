/** Counts of the matches in the text. */
import { StateField, type EditorState } from '@codemirror/state'
import { setSearchQuery, getSearchQuery } from '@codemirror/search'
import type { ViewUpdate } from '@codemirror/view'

/** More than that are not counted. */
const MAX_COUNTED_MATCHES = 1_000

/** Number of matches that were replaced at once, until something else is done. */
export const replaced = StateField.define<number | null>({
  create: () => null,
  update(count, tr) {
    if (tr.docChanged && tr.isUserEvent('input.replace.all')) return countMatches(tr.startState)
    const sought = tr.effects.some((effect) => effect.is(setSearchQuery))
    return tr.docChanged || tr.selection || sought ? null : count
  },
})

export const concerns = ({ docChanged, selectionSet, transactions }: ViewUpdate): boolean =>
  docChanged || selectionSet || transactions.some(({ effects }) => effects.length > 0)

function countMatches(state: EditorState): number {
  let count = 0
  const found = getSearchQuery(state).getCursor(state)
  while (!found.next().done) count++
  return count
}

/** "2 of 14"; "14" while none of them is selected; "14 replaced" right after that. */
export function countOf(state: EditorState): string {
  const query = getSearchQuery(state)
  const done = state.field(replaced)
  if (done !== null) return `${done.toLocaleString('en-US')} replaced`
  if (!query.valid) return ''
  const { from, to } = state.selection.main
  let [count, at] = [0, 0]
  const found = query.getCursor(state)
  for (let next = found.next(); !next.done && count < MAX_COUNTED_MATCHES; next = found.next()) {
    count++
    if (next.value.from === from && next.value.to === to) at = count
  }
  const all =
    count === MAX_COUNTED_MATCHES
      ? `${MAX_COUNTED_MATCHES.toLocaleString('en-US')} or more`
      : String(count)
  return count === 0 ? 'Not found' : at > 0 ? `${at} of ${all}` : all
}
