/** Enter in lists and quotations. */
import type { StateCommand } from '@codemirror/state'

const ITEM = /^(\s*)(?:([-*+])|(\d{1,9})([.)]))(\s+)(\[[ xX]\]\s+)?|^(\s*(?:>\s?)+)/

/** Enter inside a list or quote begins the next item; on an empty item it ends the list. */
export const continueList: StateCommand = ({ state, dispatch }) => {
  const range = state.selection.main
  if (state.readOnly || !range.empty || state.selection.ranges.length > 1) return false
  const { doc } = state
  const line = doc.lineAt(range.head)
  const found = ITEM.exec(line.text)
  if (!found || range.head < line.from + found[0].length) return false
  if (line.text.trim() === found[0].trim()) {
    // Beside a line of the list, the next words would be words of that line.
    const isWritten = (number: number) =>
      number > 0 && number <= doc.lines && doc.line(number).text.trim() !== ''
    const before = isWritten(line.number - 1) ? '\n' : ''
    const after = isWritten(line.number + 1) ? '\n' : ''
    dispatch(
      state.update({
        changes: { from: line.from, to: line.to, insert: before + after },
        selection: { anchor: line.from + before.length },
        scrollIntoView: true,
        userEvent: 'input',
      }),
    )
    return true
  }
  const next =
    found[7] ??
    `${found[1]}${found[2] ?? `${Number(found[3]) + 1}${found[4]}`}${found[5]}${found[6] ? '[ ] ' : ''}`
  const insert = `\n${next}`
  dispatch(
    state.update({
      changes: { from: range.head, insert },
      selection: { anchor: range.head + insert.length },
      scrollIntoView: true,
      userEvent: 'input',
    }),
  )
  return true
}
