/**
 * Draws one's own suggestion: words that come are marked in the text, words that go are struck
 * where they were.
 */
import { type Range, type Text } from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  type EditorView,
  type PluginValue,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view'
import { Drawn } from '../../ui/drawn.ts'
import { suggestedIn } from './field.ts'
import { wholeSuggestion } from './suggested.ts'
import './drawing.css'

const NEW = Decoration.mark({ tagName: 'ins', class: 'cm-new is-own' })
const LINE = Decoration.line({ class: 'cm-changed bar-is-own' })

class Gone extends Drawn<{ words: string }> {
  toDOM(): HTMLElement {
    const struck = document.createElement('del')
    struck.className = 'cm-gone is-own'
    // A paragraph that is joined with the next one shows its sign.
    struck.textContent = this.shows.words.replaceAll('\n', '¶')
    return struck
  }
}

function draw({ state }: EditorView): DecorationSet {
  const suggested = suggestedIn(state)
  if (!suggested) return Decoration.none
  const deco: Range<Decoration>[] = []
  const lines = new Set<number>()
  wholeSuggestion(suggested).iterChanges((fromA, toA, from, to) => {
    if (fromA < toA) {
      const widget = new Gone({ words: suggested.doc.sliceString(fromA, toA) })
      deco.push(Decoration.widget({ widget, side: -1 }).range(from))
    }
    if (from < to) deco.push(NEW.range(from, to))
    linesOf(state.doc, from, to).forEach((at) => lines.add(at))
  })
  return Decoration.set([...deco, ...[...lines].map((at) => LINE.range(at))], true)
}

/** The starts of the lines of a range. */
function linesOf(doc: Text, from: number, to: number): number[] {
  const [first, last] = [doc.lineAt(from).number, doc.lineAt(to).number]
  return Array.from({ length: last - first + 1 }, (_, at) => doc.line(first + at).from)
}

/** Marks around a word that is being composed wait until it is done. */
export const ownWords = ViewPlugin.fromClass(
  class implements PluginValue {
    decorations: DecorationSet

    constructor(view: EditorView) {
      this.decorations = draw(view)
    }

    update({ view, startState, state, changes }: ViewUpdate): void {
      if (view.compositionStarted) this.decorations = this.decorations.map(changes)
      else if (suggestedIn(startState) !== suggestedIn(state)) this.decorations = draw(view)
    }
  },
  { decorations: (plugin) => plugin.decorations },
)
