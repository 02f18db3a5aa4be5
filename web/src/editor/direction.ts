/** Sets each line in the direction of its own first letter: Hebrew and Arabic from the right. */
import { type Extension, RangeSetBuilder } from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  EditorView,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view'

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

class LineDirections {
  decorations: DecorationSet

  constructor(view: EditorView) {
    this.decorations = visibleLines(view)
  }

  update({ view, docChanged, viewportChanged }: ViewUpdate): void {
    if (docChanged || viewportChanged) this.decorations = visibleLines(view)
  }
}

export const lineDirections: Extension = [
  EditorView.perLineTextDirection.of(true),
  ViewPlugin.fromClass(LineDirections, { decorations: (plugin) => plugin.decorations }),
]
