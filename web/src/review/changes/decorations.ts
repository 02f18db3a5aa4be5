/** Turns pending changes into decorations: what goes is struck, what comes is shown beside it, buttons stand in the margin. */
import type { Range, Text } from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  EditorView,
  ViewPlugin,
  WidgetType,
} from '@codemirror/view'
import type { Hunk, Part } from '../../wire/generated.ts'
import { hunkFrom, hunkTo } from './hunk.ts'

/** Sent up the DOM from a widget to the editor's frame, which acts on it. */
export interface HunkAction {
  id: string
  action: 'accept' | 'reject' | 'edit' | 'activate'
}
export const HUNK_ACTION = 'copydesk:hunk'

export function buildDecorations(
  doc: Text,
  hunks: readonly Hunk[],
  streaming: readonly Hunk[],
  active: string | null,
): DecorationSet {
  const deco: Range<Decoration>[] = []
  streaming.forEach((hunk, index) => {
    // The pen is where the last words are.
    const last = index === streaming.length - 1 ? hunk.parts.at(-1) : undefined
    for (const part of hunk.parts)
      drawPart(deco, doc, part, hunk.id, part === last ? 'is-streaming is-last' : 'is-streaming')
    if (hunk.parts.length !== 1 || !isBlock(hunk.parts[0]!, doc))
      bar(deco, doc, hunkFrom(hunk), Math.min(hunkTo(hunk), doc.length), 'is-streaming')
  })
  hunks.forEach((hunk, index) => {
    const look = [hunk.id === active && 'is-active', hunk.status === 'conflict' && 'is-conflict']
      .filter(Boolean)
      .join(' ')
    for (const part of hunk.parts) drawPart(deco, doc, part, hunk.id, look)
    const end = Math.min(hunkTo(hunk), doc.length)
    const lines = hunk.parts.length === 1 && isBlock(hunk.parts[0]!, doc)
    // New lines carry their own bar; their buttons stand at the line before.
    if (!lines) bar(deco, doc, hunkFrom(hunk), end, look)
    const at = lines && end > 0 && end === doc.lineAt(end).from ? end - 1 : end
    deco.push(
      Decoration.widget({ widget: new Actions(hunk.id, index + 1, look), side: 2 }).range(at),
    )
  })
  return Decoration.set(deco, true)
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
      widget: new Insert(part.insert, id, look, block),
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
      Decoration.line({ class: `cm-changed ${look && `bar-${look.replace(' ', ' bar-')}`}` }).range(
        doc.line(number).from,
      ),
    )
  }
}

class Insert extends WidgetType {
  constructor(
    readonly text: string,
    readonly id: string,
    readonly look: string,
    readonly block: boolean,
  ) {
    super()
  }

  override eq(other: Insert): boolean {
    return (
      other.text === this.text &&
      other.id === this.id &&
      other.look === this.look &&
      other.block === this.block
    )
  }

  toDOM(): HTMLElement {
    const element = document.createElement(this.block ? 'div' : 'ins')
    this.fill(element)
    return element
  }

  override updateDOM(element: HTMLElement): boolean {
    if ((element.tagName === 'DIV') !== this.block) return false
    this.fill(element)
    return true
  }

  override ignoreEvent(event: Event): boolean {
    return event.type !== 'mousedown'
  }

  private fill(element: HTMLElement): void {
    element.className = `cm-new ${this.block ? 'cm-new-block' : ''} ${this.look}`
    element.dataset.hunk = this.id
    const text = this.block ? this.text.replace(/^\n+|\n+$/g, '') : this.text
    element.replaceChildren(
      ...text.split('\n').flatMap((line, index) => (index === 0 ? [line] : [lineBreak(), line])),
    )
  }
}

function lineBreak(): HTMLElement {
  const mark = document.createElement('span')
  mark.className = 'cm-new-break'
  mark.append('¶', document.createElement('br'))
  return mark
}

/** Zero-width in the prose; its child stands in the right margin, on the change's own line. */
class Actions extends WidgetType {
  constructor(
    readonly id: string,
    readonly number: number,
    readonly look: string,
  ) {
    super()
  }

  override eq(other: Actions): boolean {
    return other.id === this.id && other.number === this.number && other.look === this.look
  }

  toDOM(view: EditorView): HTMLElement {
    const anchor = document.createElement('span')
    anchor.className = `cm-hunk-anchor ${this.look}`
    const holder = anchor.appendChild(document.createElement('span'))
    holder.className = 'cm-hunk-actions'
    // The panel offers the same as ordinary DOM; buttons inside editable text are poor for screen readers.
    holder.setAttribute('aria-hidden', 'true')
    if (this.look.includes('is-conflict')) {
      const chip = holder.appendChild(document.createElement('span'))
      chip.className = 'cm-hunk-chip'
      chip.textContent = 'Text changed'
      holder.append(this.button('edit', 'Look at', PENCIL))
    } else {
      holder.append(this.button('accept', 'Accept', CHECK))
      if (this.look.includes('is-active') && !view.state.readOnly)
        holder.append(this.button('edit', 'Edit', PENCIL))
    }
    holder.append(this.button('reject', 'Reject', CROSS))
    return anchor
  }

  override ignoreEvent(): boolean {
    return true
  }

  private button(action: HunkAction['action'], label: string, path: string): HTMLElement {
    const button = document.createElement('button')
    button.type = 'button'
    button.tabIndex = -1
    button.className = `cm-hunk-button for-${action}`
    button.title = `${label} change ${this.number}`
    button.innerHTML = `<svg viewBox="0 0 16 16" width="14" height="14" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"><path d="${path}"/></svg>`
    // Keeps the writer's caret where it is.
    button.onmousedown = (event) => event.preventDefault()
    button.onclick = () => act(button, { id: this.id, action })
    return button
  }
}

const CHECK = 'M3.500 8.500l3 3 6-7'
const CROSS = 'M4 4l8 8M12 4l-8 8'
const PENCIL = 'M3.500 12.500l.6-2.600 6.600-6.600 2 2-6.600 6.600z'

function act(from: HTMLElement, detail: HunkAction): void {
  from.dispatchEvent(new CustomEvent<HunkAction>(HUNK_ACTION, { detail, bubbles: true }))
}

/** A click on struck or inserted words makes their change the active one. */
export const clickToActivate = EditorView.domEventHandlers({
  mousedown(event) {
    const target =
      event.target instanceof Element ? event.target.closest<HTMLElement>('[data-hunk]') : null
    if (target) act(target, { id: target.dataset.hunk!, action: 'activate' })
    return false
  },
})

/** Several changes may end on one line of the screen: buttons there could mean any of them, so only the active one has some. */
export const oneRowOfButtons = ViewPlugin.define((view) => {
  const measure = () =>
    view.requestMeasure({
      key: 'hunk-buttons',
      read: () =>
        [...view.contentDOM.querySelectorAll<HTMLElement>('.cm-hunk-anchor')].map((anchor) => ({
          anchor,
          top: Math.round(anchor.getBoundingClientRect().top),
        })),
      write(found) {
        for (const { anchor, top } of found) {
          const alone = found.every(
            (other) => other.anchor === anchor || Math.abs(other.top - top) >= 24,
          )
          anchor.classList.toggle('is-crowded', !alone && !anchor.classList.contains('is-active'))
        }
      },
    })
  measure()
  return {
    update: (update) =>
      (update.docChanged ||
        update.geometryChanged ||
        update.viewportChanged ||
        update.transactions.some((tr) => tr.effects.length > 0)) &&
      measure(),
  }
})
