/** Parts of the editor that are there while one suggests. */
import {
  EditorState,
  type Extension,
  Prec,
  type StateEffect,
  type Transaction,
} from '@codemirror/state'
import { keymap } from '@codemirror/view'
import { toast } from '../../ui/toasts.ts'
import type { Range } from '../../wire/generated.ts'
import { ownWords } from './drawing.ts'
import { setSuggested, suggestedField, writable } from './field.ts'
import { type Suggested, withTyped } from './suggested.ts'
import { decidedWords, undoFromBrowser, undoKeys } from './undo.ts'

/** The server's side, where it is shown. */
export interface ShownBeside {
  effects: (now: Suggested) => StateEffect<unknown>[]
  frozen: (now: Suggested) => readonly Range[]
}

/** Typed words move what others suggest, and change none of it. */
const movesOthers = ({ effects }: ShownBeside): Extension =>
  EditorState.transactionExtender.of((tr) =>
    tr.docChanged && !tr.effects.some((effect) => effect.is(setSuggested))
      ? { effects: effects(withTyped(tr.startState.field(suggestedField), tr.changes)) }
      : null,
  )

/** A suggestion would be refused there. */
const sparesFrozen = ({ frozen }: ShownBeside): Extension =>
  EditorState.changeFilter.of((tr) => {
    const ranges = tr.docChanged ? frozen(tr.startState.field(suggestedField)) : []
    if (ranges.some((range) => changesInside(tr, range)))
      toast('These words are frozen: nobody can suggest to change them.', { about: 'suggestion' })
    return ranges.flatMap(({ from, to }) => [from, to])
  })

function changesInside({ changes }: Transaction, range: Range): boolean {
  let is = false
  changes.iterChangedRanges((from, to) => (is ||= from < range.to && range.from < to))
  return is
}

export const suggestingParts = (beside: ShownBeside): Extension => [
  writable(true),
  ownWords,
  movesOthers(beside),
  sparesFrozen(beside),
  decidedWords,
  Prec.high(keymap.of(undoKeys)),
  Prec.high(undoFromBrowser),
]
