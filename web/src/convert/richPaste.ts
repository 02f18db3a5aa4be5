/**
 * Rich text that is pasted, and Word documents that are dropped, come in as Markdown. What turns
 * them into it is fetched then; until it is there, their place moves along with the text.
 */
import { type EditorState, StateEffect, StateField, type Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { isWordDocument, wordDocument } from './files.ts'

interface Place {
  from: number
  to: number
}

/** Keeps a place until its words are there; `null`: they are. */
const keepPlace = StateEffect.define<{ of: number; place: Place | null }>()

/** Where words go that are not there yet, by their number. */
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

/** More than this is pasted as plain text: it would keep the page busy. */
const LONGEST_HTML = 4_000_000
/** What makes a text more than plain. */
const STRUCTURE =
  /<(h[1-6]|[uo]l|table|blockquote|pre|strong|em|b|i|s|del|hr)\b|<a\s[^>]*href|<p\b[\s\S]*<p\b|font-weight:\s*(bold|[6-9]00)|font-style:\s*italic|mso-list/i

/** Whether the HTML of a clipboard says more than its plain text. Pure. */
export function isRich(html: string, types: readonly string[]): boolean {
  // Colours of code are no structure.
  const isCode = types.some((type) => type.includes('vscode'))
  return !isCode && html.length <= LONGEST_HTML && STRUCTURE.test(html)
}

/** Blocks stand apart from what is written before and after their place. Pure. */
export function apart(words: string, before: string, after: string): string {
  const isBlocks = words.includes('\n') || /^(#{1,6} |[-*+] |\d+[.)] |> |\||```)/.test(words)
  if (!isBlocks) return words
  return `${before.trim() === '' ? '' : '\n\n'}${words}${after.trim() === '' ? '' : '\n\n'}`
}

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
    userEvent: 'input.paste',
    scrollIntoView: true,
  })
}

const asMarkdown = (html: string, plain: string): Promise<string> =>
  import('./markdownOf.ts').then(
    ({ markdownOf }) => markdownOf(html) || plain,
    () => plain,
  )

/** `true`: it is a Word document, and is taken care of. */
function takeFile(view: EditorView, data: DataTransfer | null, at: Place): boolean {
  const file = [...(data?.files ?? [])].find(isWordDocument)
  if (!file || !mayWrite(view.state)) return false
  insertLater(view, at, wordDocument(file))
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
        insertLater(view, whole(view.state.selection), asMarkdown(html, data.getData('text/plain')))
        return true
      },
      drop(event, view) {
        const at = view.posAtCoords({ x: event.clientX, y: event.clientY }, false)
        return takeFile(view, event.dataTransfer, { from: at, to: at })
      },
    }),
  ]
}
