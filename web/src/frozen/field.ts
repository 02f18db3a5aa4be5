/**
 * Frozen passages as the editor shows them: hatched and underlined, with a lock before their first
 * word.
 */
import {
  type EditorState,
  type Extension,
  type Range as Placed,
  StateField,
  type Transaction,
} from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, type ViewUpdate } from '@codemirror/view'
import { Drawn } from '../ui/drawn.ts'
import { setFrozen } from '../document/effects.ts'
import { toast } from '../ui/toasts.ts'
import type { Hunk, Range } from '../wire/generated.ts'
import { follow, touchesFrozen, within } from '../document/frozenRanges.ts'
import './field.css'

interface Frozen {
  ranges: readonly Range[]
  deco: DecorationSet
}

export const frozenField = StateField.define<Frozen>({
  create: () => ({ ranges: [], deco: Decoration.none }),
  update(value, tr) {
    let { ranges } = value
    if (tr.docChanged && ranges.length > 0) ranges = follow(ranges, tr.changes)
    for (const effect of tr.effects)
      if (effect.is(setFrozen)) ranges = within(effect.value, tr.newDoc.length)
    return ranges === value.ranges ? value : { ranges, deco: draw(ranges) }
  },
  provide: (field) => EditorView.decorations.from(field, (value) => value.deco),
})

export function frozenIn(state: EditorState): readonly Range[] {
  return state.field(frozenField, false)?.ranges ?? []
}

/** Returns whether accepting the change would touch frozen words; the server refuses that. */
export function hunkTouchesFrozen(state: EditorState, { parts }: Hunk): boolean {
  const ranges = frozenIn(state)
  return parts.some((part) =>
    part.from < part.to
      ? touchesFrozen(ranges, part)
      : ranges.some(({ from, to }) => from < part.from && part.from < to),
  )
}

export function frozen(): Extension {
  return [frozenField, EditorView.updateListener.of(sayWhatEnded)]
}

/**
 * Freezing goes with the words: a person who sees them go learns that it does not come back with
 * them.
 */
export function sayWhatEnded({ transactions }: ViewUpdate): void {
  const replaced = (tr: Transaction) => tr.effects.some((effect) => effect.is(setFrozen))
  const ended = (tr: Transaction) =>
    tr.docChanged &&
    follow(frozenIn(tr.startState), tr.changes).length < frozenIn(tr.startState).length
  if (transactions.some((tr) => ended(tr) && !replaced(tr)))
    toast('Frozen words were deleted. Should they come back, freeze them again.', {
      about: 'frozen',
    })
}

const STRETCH = Decoration.mark({
  class: 'cm-frozen',
  attributes: { title: 'Frozen: no tool may change these words' },
})

function draw(ranges: readonly Range[]): DecorationSet {
  const deco: Placed<Decoration>[] = []
  for (const { from, to } of ranges) {
    deco.push(Decoration.widget({ widget: new Lock({ at: 'start' }), side: 1 }).range(from))
    deco.push(STRETCH.range(from, to))
    deco.push(Decoration.widget({ widget: new Lock({ at: 'end' }), side: -1 }).range(to))
  }
  return Decoration.set(deco, true)
}

/** A sign for eyes at the start; words for screen readers at both ends. */
class Lock extends Drawn<{ at: 'start' | 'end' }> {
  toDOM(): HTMLElement {
    const isStart = this.shows.at === 'start'
    const mark = document.createElement('span')
    mark.className = isStart ? 'cm-lock' : 'hidden-label'
    mark.setAttribute('role', 'img')
    mark.setAttribute('aria-label', isStart ? 'Frozen passage:' : 'End of the frozen passage.')
    if (isStart) {
      mark.innerHTML =
        '<svg viewBox="0 0 16 16" width="13" height="13" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="M4 7.500h8v5.500H4zM5.700 7.500V5.300a2.300 2.300 0 0 1 4.600 0v2.200"/></svg>'
    }
    return mark
  }
}
