/**
 * The marks in the margin: one for each line of the screen on which changes end, with their number
 * where there are several.
 */
import { ViewPlugin } from '@codemirror/view'

interface Mark {
  id: string
  number: number
  top: number
  active: boolean
  conflict: boolean
}

export interface MarkLine {
  /** The change whose mark stands for the row. */
  id: string
  numbers: readonly number[]
  /** The change that a click on the mark leads to. */
  next: string
  active: boolean
  conflict: boolean
}

/** Marks closer than this are on one line. */
const LINE = 14

/** One mark stands for all changes of a line. Pure. */
export function markLines(marks: readonly Mark[]): MarkLine[] {
  const rows: Mark[][] = []
  for (const mark of marks.toSorted((a, b) => a.top - b.top)) {
    const last = rows.at(-1)
    if (last && mark.top - last[0]!.top < LINE) last.push(mark)
    else rows.push([mark])
  }
  return rows.map((row) => {
    const ordered = row.toSorted((a, b) => a.number - b.number)
    const at = ordered.findIndex((mark) => mark.active)
    return {
      id: ordered[0]!.id,
      numbers: ordered.map(({ number }) => number),
      next: ordered[(at + 1) % ordered.length]!.id,
      active: at >= 0,
      conflict: row.some((mark) => mark.conflict),
    }
  })
}

export const lineMarks = ViewPlugin.define((view) => {
  const measure = () =>
    view.requestMeasure({
      key: 'line-marks',
      read: () =>
        [...view.contentDOM.querySelectorAll<HTMLElement>('[data-mark]')].map((anchor) => ({
          anchor,
          id: anchor.dataset.mark!,
          number: Number(anchor.dataset.number),
          top: Math.round(anchor.getBoundingClientRect().top),
          active: anchor.classList.contains('is-active'),
          conflict: anchor.classList.contains('is-conflict'),
        })),
      write(found) {
        const rows = new Map(markLines(found).map((row) => [row.id, row]))
        for (const { anchor, id } of found) draw(anchor, rows.get(id))
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

function draw(anchor: HTMLElement, row: MarkLine | undefined): void {
  const mark = anchor.firstElementChild as HTMLElement
  mark.hidden = row === undefined
  if (!row) return
  const { numbers, next, active, conflict } = row
  anchor.dataset.next = next
  const several = numbers.length > 1
  const words = several ? String(numbers.length) : conflict ? '!' : ''
  const title = `${several ? `${numbers.length} changes on this line: ` : 'Change '}${numbers.join(', ')}${conflict ? ' (text changed)' : ''}`
  const look = `cm-hunk-mark${active ? ' is-active' : ''}${conflict ? ' is-conflict' : ''}${several ? ' is-several' : ''}`
  if (mark.textContent !== words) mark.textContent = words
  if (mark.title !== title) mark.title = title
  if (mark.className !== look) mark.className = look
}
