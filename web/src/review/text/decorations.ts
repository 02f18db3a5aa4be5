/**
 * Turns pending changes into decorations: what goes is struck, what comes is shown beside it, a
 * mark stands in the margin.
 */
import type { Range, Text } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view'
import { Drawn } from '../../ui/drawn.ts'
import type { Hunk, Part } from '../../wire/generated.ts'
import type { ChangesState } from '../state/changes.ts'
import type { EditTools } from '../state/editedHunk.ts'
import { editRange, hunkFrom, hunkTo, isMoved, spans } from '../state/hunk.ts'
import { isMarked } from '../state/marks.ts'
import './decorations.css'

/** Sent up the DOM from a widget to the editor's frame, which makes that change the active one. */
export interface HunkAction {
  id: string
}
export const HUNK_ACTION = 'copydesk:hunk'

/** Fetched beside the text: most changes are not edited. */
let tools: EditTools | null = null

export function setEditTools(fetched: EditTools): void {
  tools = fetched
}

export function buildDecorations(
  doc: Text,
  { hunks: proposed, streaming, active, resolved, shown, editing, edits }: ChangesState,
): DecorationSet {
  // What goes in is what is shown: words of one's own in place of the proposed ones.
  const hunks = proposed.map((hunk) => tools?.asEdited(hunk, edits[hunk.id], doc) ?? hunk)
  const deco: Range<Decoration>[] = []
  if (shown === 'original') return Decoration.none
  if (shown === 'proposed') {
    for (const hunk of hunks)
      if (hunk.status === 'pending') drawProposed(deco, doc, hunk, hunk.id === active)
    return Decoration.set(deco, true)
  }
  streaming.forEach((hunk, index) => {
    // The pen is where the last words are.
    const last = index === streaming.length - 1 ? hunk.parts.at(-1) : undefined
    for (const part of hunk.parts)
      drawPart(deco, doc, part, hunk.id, part === last ? 'is-streaming is-last' : 'is-streaming')
    if (hunk.parts.length !== 1 || !isBlock(hunk.parts[0]!, doc))
      bar(deco, doc, hunkFrom(hunk), Math.min(hunkTo(hunk), doc.length), 'is-streaming')
  })
  hunks.forEach((hunk, index) => {
    const look = classes(
      hunk.id === active && 'is-active',
      hunk.status === 'conflict' && 'is-conflict',
      isMarked(hunk) && 'is-marked',
    )
    if (hunk.id === editing) drawEdit(deco, doc, hunk, proposed, look)
    else for (const part of hunk.parts) drawPart(deco, doc, part, hunk.id, look)
    // A moved change has its buttons where its words are put in, and other changes between its
    // places.
    const end = Math.min(isMoved(hunk) ? editRange(hunk).to : hunkTo(hunk), doc.length)
    const put = isMoved(hunk) ? hunk.parts.find((part) => part.insert !== '') : hunk.parts[0]
    const lines = (isMoved(hunk) || hunk.parts.length === 1) && !!put && isBlock(put, doc)
    // New lines carry their own bar; their buttons stand at the line before.
    for (const { from, to } of spans(hunk))
      if (!lines || to > from) bar(deco, doc, from, Math.min(to, doc.length), look)
    const at = lines && end > 0 && end === doc.lineAt(end).from ? end - 1 : end
    const sign = isMarked(hunk) && !lines
    const widget = new LineMark({ id: hunk.id, number: index + 1, look, sign })
    deco.push(Decoration.widget({ widget, side: 2 }).range(at))
  })
  if (resolved) drawResolved(deco, doc, resolved.hunk, resolved.outcome)
  return Decoration.set(deco, true)
}

const classes = (...names: readonly (string | false)[]): string => names.filter(Boolean).join(' ')

/**
 * The words as they will read: what goes is not there, what comes is like the rest. The active
 * change is underlined, and where words go only a thin line stands for them.
 */
function drawProposed(deco: Range<Decoration>[], doc: Text, hunk: Hunk, isActive: boolean): void {
  for (const part of hunk.parts) {
    const to = Math.min(part.to, doc.length)
    if (part.from < to) deco.push(Decoration.replace({}).range(part.from, to))
    const look = classes(isActive && 'is-active', isMarked(hunk) && 'is-marked')
    const widget = new Proposed({ text: part.insert, id: hunk.id, look })
    deco.push(Decoration.widget({ widget, side: 1 }).range(to))
  }
}

class Proposed extends Drawn<{ text: string; id: string; look: string }> {
  toDOM(): HTMLElement {
    const words = document.createElement('span')
    const { text, id, look } = this.shows
    words.className = `cm-proposed ${look}${text === '' ? ' is-gone' : ''}`
    words.dataset.hunk = id
    words.textContent = text
    return words
  }
}

/** Sent by the editor when the place for a person's own words comes or goes. */
export const EDIT_HOST = 'copydesk:edit-host'

function drawEdit(
  deco: Range<Decoration>[],
  doc: Text,
  hunk: Hunk,
  others: readonly Hunk[],
  look: string,
): void {
  // Words that move still go from where they are.
  const gone = isMoved(hunk) ? hunk.parts.filter((part) => part.insert === '') : []
  for (const part of gone) drawPart(deco, doc, part, hunk.id, look)
  const { from, to } = tools?.sentenceRange(hunk, doc, others) ?? editRange(hunk)
  const end = Math.min(to, doc.length)
  const widget = new EditHost({ id: hunk.id })
  deco.push(
    from < end
      ? Decoration.replace({ widget }).range(from, end)
      : Decoration.widget({ widget, side: 1 }).range(end),
  )
}

/** The editor of each place. */
const editors = new WeakMap<HTMLElement, HTMLElement>()

/** An empty place in the text, which the frame fills. */
class EditHost extends Drawn<{ id: string }> {
  toDOM(view: EditorView): HTMLElement {
    const host = document.createElement('div')
    host.className = 'cm-edit-host'
    host.dataset.hunk = this.shows.id
    editors.set(host, view.dom)
    view.dom.dispatchEvent(new CustomEvent(EDIT_HOST, { detail: { host, ...this.shows } }))
    return host
  }

  override destroy(host: HTMLElement): void {
    editors.get(host)?.dispatchEvent(new CustomEvent(EDIT_HOST, { detail: { gone: host } }))
  }

  override ignoreEvent(): boolean {
    return true
  }
}

/** Stands where the active change was, with its outcome. */
function drawResolved(
  deco: Range<Decoration>[],
  doc: Text,
  hunk: Hunk,
  outcome: string | null,
): void {
  for (const span of spans(hunk)) {
    const [from, to] = [Math.min(span.from, doc.length), Math.min(span.to, doc.length)]
    if (from < to) deco.push(Decoration.mark({ class: 'cm-resolved' }).range(from, to))
    bar(deco, doc, from, to, 'is-resolved')
  }
  // Beside the words, where they were put in.
  const to = Math.min(isMoved(hunk) ? editRange(hunk).to : hunkTo(hunk), doc.length)
  if (outcome !== null)
    deco.push(
      Decoration.widget({ widget: new OutcomeWidget({ words: outcome }), side: 1 }).range(to),
    )
}

function drawPart(
  deco: Range<Decoration>[],
  doc: Text,
  part: Part,
  id: string,
  look: string,
): void {
  if (part.to > part.from) {
    deco.push(
      Decoration.mark({
        tagName: 'del',
        class: `cm-gone ${look}`,
        attributes: { 'data-hunk': id },
      }).range(part.from, part.to),
    )
  }
  if (part.insert === '') return
  const block = isBlock(part, doc)
  const at = block && part.insert.startsWith('\n') ? doc.lineAt(part.to).to : part.to
  deco.push(
    Decoration.widget({
      widget: new Insert({ text: part.insert, id, look, block }),
      block,
      side: block && at !== part.to ? 1 : blockSide(part, block),
    }).range(at),
  )
}

const blockSide = (part: Part, block: boolean): number =>
  block && part.insert.endsWith('\n') ? -1 : 1

/** Whole new lines are shown as a block of their own. */
function isBlock(part: Part, doc: Text): boolean {
  if (part.from !== part.to || !part.insert.includes('\n')) return false
  const line = doc.lineAt(part.to)
  return (
    (part.insert.startsWith('\n') && part.to === line.to) ||
    (part.insert.endsWith('\n') && part.to === line.from)
  )
}

function bar(deco: Range<Decoration>[], doc: Text, from: number, to: number, look: string): void {
  const last = doc.lineAt(to).number
  for (let number = doc.lineAt(from).number; number <= last; number++) {
    deco.push(
      Decoration.line({
        class: `cm-changed ${look && `bar-${look.replaceAll(' ', ' bar-')}`}`,
      }).range(doc.line(number).from),
    )
  }
}

class Insert extends Drawn<{ text: string; id: string; look: string; block: boolean }> {
  toDOM(): HTMLElement {
    const element = document.createElement(this.shows.block ? 'div' : 'ins')
    this.fill(element)
    return element
  }

  override updateDOM(element: HTMLElement): boolean {
    if ((element.tagName === 'DIV') !== this.shows.block) return false
    this.fill(element)
    return true
  }

  override ignoreEvent(event: Event): boolean {
    return event.type !== 'mousedown'
  }

  private fill(element: HTMLElement): void {
    const { text, id, look, block } = this.shows
    element.className = `cm-new ${block ? 'cm-new-block' : ''} ${look}`
    element.dataset.hunk = id
    const lines = (block ? text.replace(/^\n+|\n+$/g, '') : text).split('\n')
    element.replaceChildren(
      ...lines.flatMap((line, index) => (index === 0 ? [line] : [lineBreak(), line])),
    )
  }
}

function lineBreak(): HTMLElement {
  const mark = document.createElement('span')
  mark.className = 'cm-new-break'
  mark.append('¶', document.createElement('br'))
  return mark
}

/** "Accepted by Bo, 14:02", behind the words it is about. */
class OutcomeWidget extends Drawn<{ words: string }> {
  toDOM(): HTMLElement {
    const chip = document.createElement('span')
    chip.className = 'cm-outcome'
    chip.textContent = this.shows.words
    return chip
  }
}

/** Zero-width in the prose; its child stands in the right margin, on the change's own line. */
class LineMark extends Drawn<{ id: string; number: number; look: string; sign: boolean }> {
  toDOM(): HTMLElement {
    const anchor = document.createElement('span')
    const { id, number, look, sign } = this.shows
    anchor.className = `cm-hunk-anchor ${look}`
    anchor.dataset.mark = id
    anchor.dataset.number = String(number)
    const mark = anchor.appendChild(document.createElement('button'))
    mark.type = 'button'
    mark.tabIndex = -1
    mark.className = 'cm-hunk-mark'
    // The panel and the bar offer the same as ordinary DOM; buttons inside editable text are poor
    // for screen readers.
    mark.setAttribute('aria-hidden', 'true')
    // Keeps the writer's caret where it is.
    mark.onmousedown = (event) => event.preventDefault()
    mark.onclick = () => act(mark, { id: anchor.dataset.next ?? id })
    // A sign that takes no room; the words for it are in the panel and the bar.
    if (sign)
      anchor.append(Object.assign(document.createElement('span'), { className: 'cm-meaning' }))
    return anchor
  }

  override ignoreEvent(): boolean {
    return true
  }
}

function act(from: HTMLElement, detail: HunkAction): void {
  from.dispatchEvent(new CustomEvent<HunkAction>(HUNK_ACTION, { detail, bubbles: true }))
}

/** A click on struck or inserted words makes their change the active one. */
export const clickToActivate = EditorView.domEventHandlers({
  mousedown(event) {
    const target =
      event.target instanceof Element ? event.target.closest<HTMLElement>('[data-hunk]') : null
    if (target) act(target, { id: target.dataset.hunk! })
    return false
  },
})
