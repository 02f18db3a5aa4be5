/** Sets each line in the direction of its own first letter: Hebrew and Arabic from the right. */
import { type Extension, RangeSetBuilder } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view'
import { seenDecorations } from './markdown/seenDecorations.ts'

const auto = Decoration.line({ attributes: { dir: 'auto' } })

function visibleLines(view: EditorView): DecorationSet {
  const lines = new RangeSetBuilder<Decoration>()
  for (const { from, to } of view.visibleRanges)
    for (let at = from; at <= to;) {
      const line = view.state.doc.lineAt(at)
      lines.add(line.from, line.from, auto)
      at = line.to + 1
    }
  return lines.finish()
}

export const lineDirections: Extension = [
  EditorView.perLineTextDirection.of(true),
  seenDecorations(visibleLines),
]
