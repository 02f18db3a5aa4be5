/** Commands of keys on the text: bold, italic, links, indentation, and deleting a character. */
import { EditorSelection, findClusterBreak, type StateCommand } from '@codemirror/state'

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

/** Deletes what is selected, or the character beside the caret: all of an emoji. */
export function deleteCharacter(direction: 'backward' | 'forward'): StateCommand {
  const forward = direction === 'forward'
  return ({ state, dispatch }) => {
    if (state.readOnly) return false
    const { doc } = state
    const spec = state.changeByRange((range) => {
      if (!range.empty)
        return {
          changes: { from: range.from, to: range.to },
          range: EditorSelection.cursor(range.from),
        }
      const line = doc.lineAt(range.from)
      const inLine = findClusterBreak(line.text, range.from - line.from, forward) + line.from
      // At the end of a line that is the line break.
      const beyond = Math.min(doc.length, Math.max(0, range.from + (forward ? 1 : -1)))
      const at = inLine === range.from ? beyond : inLine
      const [from, to] = forward ? [range.from, at] : [at, range.from]
      return { changes: { from, to }, range: EditorSelection.cursor(from) }
    })
    if (spec.changes.empty) return false
    const selected = state.selection.ranges.some((range) => !range.empty)
    dispatch(
      state.update(spec, {
        userEvent: selected ? 'delete.selection' : `delete.${direction}`,
        scrollIntoView: true,
      }),
    )
    return true
  }
}

const INDENT = '  '

/** Moves the lines of the selection in or out. */
export function indentLines(by: 'more' | 'less', indent = INDENT): StateCommand {
  return ({ state, dispatch }) => {
    if (state.readOnly) return false
    const { doc } = state
    const numbers = state.selection.ranges.flatMap(({ from, to }) => {
      const [first, last] = [doc.lineAt(from).number, doc.lineAt(to).number]
      return Array.from({ length: last - first + 1 }, (_, index) => first + index)
    })
    const changes = [...new Set(numbers)].map((number) => {
      const { from, text } = doc.line(number)
      if (by === 'more') return { from, insert: indent }
      const blanks = /^\t/.test(text) ? 1 : text.length - text.trimStart().length
      return { from, to: from + Math.min(blanks, indent.length) }
    })
    dispatch(state.update({ changes, userEvent: by === 'more' ? 'input.indent' : 'delete.dedent' }))
    return true
  }
}

/** Tab moves an item of a list in or out; elsewhere it leaves the text, as in every field. */
export function indentItem(by: 'more' | 'less'): StateCommand {
  return (target) => {
    const { doc, selection } = target.state
    const lines = selection.ranges.flatMap(({ from, to }) => [doc.lineAt(from), doc.lineAt(to)])
    const items = lines.every(({ text }) => /^\s*(?:[-*+]|\d{1,9}[.)])\s/.test(text))
    // An item that is at the margin cannot be moved out: the key leaves the text.
    if (!items || (by === 'less' && lines.every(({ text }) => !/^\s/.test(text)))) return false
    // What belongs to a numbered item stands below its words.
    const numbered = lines.some(({ text }) => /^\s*\d/.test(text))
    return indentLines(by, numbered ? '   ' : INDENT)(target)
  }
}

/** Makes what is selected the words of a link, with the caret where its address goes. */
export const insertLink: StateCommand = ({ state, dispatch }) => {
  if (state.readOnly) return false
  const spec = state.changeByRange(({ from, to }) => ({
    changes: [
      { from, insert: '[' },
      { from: to, insert: ']()' },
    ],
    range: EditorSelection.cursor(from === to ? from + 1 : to + 3),
  }))
  dispatch(state.update(spec, { userEvent: 'input.format', scrollIntoView: true }))
  return true
}
