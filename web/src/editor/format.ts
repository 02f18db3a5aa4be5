/** The few Markdown commands a writer's hands know: bold, italic, and lists that go on. */
import { EditorSelection, type StateCommand } from '@codemirror/state'

/** Wraps the selection in `mark`, or takes it away again. */
export function toggleMark(mark: string): StateCommand {
  return ({ state, dispatch }) => {
    if (state.readOnly) return false
    const size = mark.length
    const spec = state.changeByRange((range) => {
      const wrapped =
        state.sliceDoc(range.from - size, range.from) === mark &&
        state.sliceDoc(range.to, range.to + size) === mark
      const changes = wrapped
        ? [
            { from: range.from - size, to: range.from },
            { from: range.to, to: range.to + size },
          ]
        : [
            { from: range.from, insert: mark },
            { from: range.to, insert: mark },
          ]
      const shift = wrapped ? -size : size
      return { changes, range: EditorSelection.range(range.anchor + shift, range.head + shift) }
    })
    dispatch(state.update(spec, { userEvent: 'input.format', scrollIntoView: true }))
    return true
  }
}

const ITEM = /^(\s*)(?:([-*+])|(\d{1,9})([.)]))(\s+)(\[[ xX]\]\s+)?|^(\s*(?:>\s?)+)/

/** Enter inside a list or quote begins the next item; on an empty item it ends the list. */
export const continueList: StateCommand = ({ state, dispatch }) => {
  const range = state.selection.main
  if (state.readOnly || !range.empty || state.selection.ranges.length > 1) return false
  const line = state.doc.lineAt(range.head)
  const found = ITEM.exec(line.text)
  if (!found || range.head < line.from + found[0].length) return false
  if (line.text.trim() === found[0].trim()) {
    dispatch(state.update({ changes: { from: line.from, to: line.to }, userEvent: 'delete' }))
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
