/**
 * Draws authors behind the text: a tint and an underline of its own for each, and the words on
 * hovering.
 */
import { type Range, StateField, type Extension } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, ViewPlugin } from '@codemirror/view'
import type { ProvenanceSpan } from '../wire/generated.ts'
import { readAuthors, setSpans } from './readAuthors.ts'
import { useAuthors } from './store.ts'
import { sharesAsShown } from './authorLooks.ts'
import { credit, keyOf } from './wording.ts'
import './authorMarks.css'

/** Asks again after typing, when the writer pauses. */
const PAUSE_MS = 700

const spanField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(value, tr) {
    for (const effect of tr.effects) if (effect.is(setSpans)) return draw(effect.value)
    return tr.docChanged && value !== Decoration.none ? value.map(tr.changes) : value
  },
  provide: (field) => EditorView.decorations.from(field),
})

function draw(spans: readonly ProvenanceSpan[]): DecorationSet {
  if (spans.length === 0) return Decoration.none
  const looks = new Map(sharesAsShown(spans).map(({ key, look }) => [key, look]))
  const now = Date.now()
  const marks = spans.map((span): Range<Decoration> => {
    const attributes = { class: `cm-by by-${looks.get(keyOf(span))}`, title: credit(span, now) }
    return Decoration.mark({ attributes, span }).range(span.from, span.to)
  })
  return Decoration.set(marks)
}

/**
 * Returns the span before the caret, as when typing goes on there; at the start of a line, the one
 * that follows.
 */
export function spanAt(view: EditorView): ProvenanceSpan | null {
  const { head } = view.state.selection.main
  const at = head > view.state.doc.lineAt(head).from ? head - 1 : head
  let found: ProvenanceSpan | null = null
  view.state.field(spanField).between(at, at + 1, (from, to, mark) => {
    if (from <= at && at < to) found = (mark.spec as { span: ProvenanceSpan }).span
  })
  return found
}

const follow = ViewPlugin.define((view) => {
  let timer: ReturnType<typeof setTimeout> | undefined
  if (useAuthors.getState().on) void readAuthors()
  const stop = useAuthors.subscribe(({ on }, before) => {
    if (on && !before.on) void readAuthors()
    if (!on && before.on) view.dispatch({ effects: setSpans.of([]) })
  })
  return {
    update({ docChanged, selectionSet, transactions }) {
      if (!useAuthors.getState().on) return
      if (docChanged) {
        clearTimeout(timer)
        timer = setTimeout(() => void readAuthors(), PAUSE_MS)
      }
      const shown = transactions.some((tr) => tr.effects.some((effect) => effect.is(setSpans)))
      if (!selectionSet && !docChanged && !shown) return
      const here = spanAt(view)
      if (here !== useAuthors.getState().here) useAuthors.setState({ here })
    },
    destroy() {
      stop()
      clearTimeout(timer)
    },
  }
})

export const authors: Extension = [spanField, follow]
