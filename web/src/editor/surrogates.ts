/**
 * Keeps every local change on whole characters: the server refuses half an emoji, and it would be
 * sent again for ever.
 */
import {
  EditorState,
  type ChangeSpec,
  type Text,
  Transaction,
  type TransactionSpec,
} from '@codemirror/state'

const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff
const isLow = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff

/** Returns whether `at` lies between the two halves of one character. */
export function splitsPair(doc: Text, at: number): boolean {
  if (at <= 0 || at >= doc.length) return false
  const around = doc.sliceString(at - 1, at + 1)
  return isHigh(around.charCodeAt(0)) && isLow(around.charCodeAt(1))
}

/** Half a character, alone. */
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

interface Edit {
  from: number
  to: number
  insert: string
}

/** The same edits, on whole characters; `null` if they already are. */
export function widen(doc: Text, edits: readonly Edit[]): Edit[] | null {
  let changed = false
  const wide = edits.map(({ from, to, insert }) => {
    if (from === to && splitsPair(doc, from)) {
      changed = true
      return { from: from + 1, to: from + 1, insert: insert.replace(LONE, '') }
    }
    const start = splitsPair(doc, from) ? from - 1 : from
    const end = splitsPair(doc, to) ? to + 1 : to
    const kept = doc.sliceString(start, from) + insert + doc.sliceString(to, end)
    const whole = kept.replace(LONE, '')
    changed ||= start !== from || end !== to || whole !== insert
    return { from: start, to: end, insert: whole }
  })
  return changed ? join(wide) : null
}

/** Edits that met after widening become one. */
function join(edits: readonly Edit[]): Edit[] {
  const joined: Edit[] = []
  for (const edit of edits) {
    const last = joined.at(-1)
    if (last && edit.from < last.to)
      joined[joined.length - 1] = {
        from: last.from,
        to: Math.max(last.to, edit.to),
        insert: last.insert + edit.insert,
      }
    else joined.push(edit)
  }
  return joined
}

/** Local changes only: what the server sent is already whole. */
export const wholeCharacters = EditorState.transactionFilter.of(
  (tr): Transaction | TransactionSpec[] => {
    if (!tr.docChanged || tr.annotation(Transaction.remote) === true) return tr
    const edits: Edit[] = []
    tr.changes.iterChanges((from, to, _fromB, _toB, inserted) =>
      edits.push({ from, to, insert: inserted.toString() }),
    )
    const wide = widen(tr.startState.doc, edits)
    if (!wide) return tr
    const changes: ChangeSpec[] = wide
    const last = wide.at(-1)!
    const shift = wide
      .slice(0, -1)
      .reduce((sum, edit) => sum + edit.insert.length - (edit.to - edit.from), 0)
    const userEvent = tr.annotation(Transaction.userEvent)
    return [
      {
        changes,
        effects: tr.effects,
        selection: { anchor: last.from + shift + last.insert.length },
        scrollIntoView: tr.scrollIntoView,
        ...(userEvent ? { userEvent } : {}),
      },
    ]
  },
)
