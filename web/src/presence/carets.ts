/** Other people's carets and selections, with their names, drawn in the text. */
import { StateEffect, StateField, type Range, type Text } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, ViewPlugin } from '@codemirror/view'
import { Drawn } from '../ui/drawn.ts'
import './carets.css'

export interface Caret {
  id: string
  name: string
  color: number
  anchor: number
  head: number
}

/** Everybody's carets, replacing those before. */
export const setCarets = StateEffect.define<readonly Caret[]>()

interface Carets {
  carets: readonly Caret[]
  deco: DecorationSet
}

export const caretField = StateField.define<Carets>({
  create: () => ({ carets: [], deco: Decoration.none }),
  update(value, tr) {
    let carets = value.carets
    if (tr.docChanged && carets.length > 0) {
      carets = carets.map((caret) => ({
        ...caret,
        anchor: tr.changes.mapPos(caret.anchor, 1),
        head: tr.changes.mapPos(caret.head, 1),
      }))
    }
    for (const effect of tr.effects) if (effect.is(setCarets)) carets = effect.value
    return carets === value.carets ? value : { carets, deco: draw(carets, tr.newDoc) }
  },
  provide: (field) => EditorView.decorations.from(field, (value) => value.deco),
})

function draw(carets: readonly Caret[], doc: Text): DecorationSet {
  const deco: Range<Decoration>[] = []
  for (const { name, color, anchor, head } of carets) {
    if (anchor > doc.length || head > doc.length) continue
    const [from, to] = [Math.min(anchor, head), Math.max(anchor, head)]
    if (to > from)
      deco.push(Decoration.mark({ class: `cm-peer-selection peer-${color}` }).range(from, to))
    deco.push(
      Decoration.widget({
        widget: new Flag({ name, color, beside: isBeside(doc, head) }),
        side: head > anchor ? -1 : 1,
      }).range(head),
    )
  }
  return Decoration.set(deco, true)
}

/** On an empty line, below another one. */
const isBeside = (doc: Text, at: number): boolean => {
  const line = doc.lineAt(at)
  return line.length === 0 && line.number > 1
}

/**
 * On an empty line the name stands beside the caret: above it, it would cover the words of the line
 * before.
 */
class Flag extends Drawn<{ name: string; color: number; beside: boolean }> {
  toDOM(): HTMLElement {
    const { name, color, beside } = this.shows
    const caret = document.createElement('span')
    caret.className = `cm-peer-caret peer-${color}`
    // People are listed in the header for screen readers.
    caret.setAttribute('aria-hidden', 'true')
    const flag = caret.appendChild(document.createElement('span'))
    flag.className = beside ? 'cm-peer-flag is-beside' : 'cm-peer-flag'
    flag.textContent = name
    return caret
  }
}

/** Names that would reach beyond the edge of the page stand to the left of their carets. */
export const flagsOnThePage = ViewPlugin.define((view) => {
  const measure = () =>
    view.requestMeasure({
      key: 'flags',
      read: () => {
        const edge = view.dom.closest('.page-scroll')?.getBoundingClientRect().right ?? innerWidth
        return [...view.contentDOM.querySelectorAll<HTMLElement>('.cm-peer-flag')].map((flag) => ({
          flag,
          left: flag.parentElement!.getBoundingClientRect().left + flag.offsetWidth > edge,
        }))
      },
      write: (found) => found.forEach(({ flag, left }) => flag.classList.toggle('is-left', left)),
    })
  return {
    update: ({ state, startState, geometryChanged, docChanged }) => {
      const { carets } = state.field(caretField)
      if (carets.length === 0) return
      if (geometryChanged || docChanged || carets !== startState.field(caretField).carets) measure()
    },
  }
})
