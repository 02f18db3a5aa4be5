/**
 * Rich text that is pasted, and files that are dropped, come in as Markdown, which the server makes
 * of them. Until it is there, their place moves along with the text.
 */
import { isolateHistory } from '@codemirror/commands'
import { type EditorState, StateEffect, StateField, type Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { apart, isRich } from './clipboardText.ts'
import { fileAsMarkdown, htmlAsMarkdown, isImportable } from './markdownFor.ts'

interface Place {
  from: number
  to: number
}

/** Keeps a place until its words are there; `null`: they are. */
const keepPlace = StateEffect.define<{ of: number; place: Place | null }>()

/** Places of words that are not there yet, by their number. */
const places = StateField.define<ReadonlyMap<number, Place>>({
  create: () => new Map(),
  update(before, tr) {
    const kept = tr.effects.filter((effect) => effect.is(keepPlace))
    if (kept.length === 0 && (before.size === 0 || !tr.docChanged)) return before
    const after = new Map<number, Place>()
    // What was pasted before stands before it, and what is typed meanwhile behind it.
    const side = tr.isUserEvent('input.paste') ? 1 : -1
    for (const [of, { from, to }] of before) {
      const start = tr.changes.mapPos(from, side)
      after.set(of, { from: start, to: Math.max(start, tr.changes.mapPos(to, -1)) })
    }
    for (const { value } of kept)
      if (value.place) after.set(value.of, value.place)
      else after.delete(value.of)
    return after
  },
})

let last = 0

/** Texts come in the order in which they were pasted. */
let before: Promise<unknown> = Promise.resolve()

function insertLater(view: EditorView, at: Place, words: Promise<string | null>): void {
  const of = ++last
  view.dispatch({ effects: keepPlace.of({ of, place: at }) })
  before = Promise.all([words, before]).then(([text]) => insert(view, of, text))
}

function insert(view: EditorView, of: number, text: string | null): void {
  const place = view.state.field(places, false)?.get(of)
  // Another document was opened since.
  if (!place) return
  const done = keepPlace.of({ of, place: null })
  if (text === null) return view.dispatch({ effects: done })
  const { doc } = view.state
  const { from, to } = place
  const [start, end] = [doc.lineAt(from).from, doc.lineAt(to).to]
  const put = view.state.toText(apart(text, doc.sliceString(start, from), doc.sliceString(to, end)))
  const { main } = view.state.selection
  view.dispatch({
    changes: { from, to, insert: put },
    // Who has typed on since is behind it already.
    ...(main.from === from && main.to === to && { selection: { anchor: from + put.length } }),
    effects: done,
    // All of it is undone in one step, and nothing else with it.
    annotations: isolateHistory.of('full'),
    userEvent: 'input.paste',
    scrollIntoView: true,
  })
}

/** `true`: it is a file that can be imported, and is taken care of. */
function takeFile(view: EditorView, data: DataTransfer | null, at: Place): boolean {
  const file = [...(data?.files ?? [])].find(isImportable)
  if (!file || !mayWrite(view.state)) return false
  insertLater(view, at, fileAsMarkdown(file))
  return true
}

const mayWrite = (state: EditorState) => !state.readOnly

const whole = ({ main: { from, to } }: EditorState['selection']): Place => ({ from, to })

export function richPaste(): Extension {
  return [
    places,
    EditorView.domEventHandlers({
      paste(event, view) {
        const data = event.clipboardData
        if (!data || !mayWrite(view.state)) return false
        if (takeFile(view, data, whole(view.state.selection))) return true
        const html = data.getData('text/html')
        if (!isRich(html, data.types)) return false
        const plain = data.getData('text/plain')
        insertLater(view, whole(view.state.selection), htmlAsMarkdown(html, plain))
        return true
      },
      drop(event, view) {
        const at = view.posAtCoords({ x: event.clientX, y: event.clientY }, false)
        return takeFile(view, event.dataTransfer, { from: at, to: at })
      },
    }),
  ]
}
