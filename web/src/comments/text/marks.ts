/** Marks beside the lines of the screen on which commented words begin. Pure. */

export interface Mark {
  id: string
  top: number
  unread: boolean
  active: boolean
}

export interface MarkedLine {
  top: number
  ids: readonly string[]
  /** The thread that a press on the mark leads to. */
  next: string
  unread: boolean
  active: boolean
}

/** Distance in pixels within which marks are on one line. */
const LINE_PX = 14

/** One mark stands for all threads of a line, in the order of the text. */
export function markedLines(marks: readonly Mark[]): MarkedLine[] {
  const rows: Mark[][] = []
  for (const mark of marks.toSorted((a, b) => a.top - b.top)) {
    const row = rows.at(-1)
    if (row && mark.top - row[0]!.top < LINE_PX) row.push(mark)
    else rows.push([mark])
  }
  return rows.map((row) => {
    const at = row.findIndex(({ active }) => active)
    return {
      top: row[0]!.top,
      ids: row.map(({ id }) => id),
      next: row[(at + 1) % row.length]!.id,
      unread: row.some(({ unread }) => unread),
      active: at >= 0,
    }
  })
}

/** "2 comment threads, unread". */
export const markWords = ({ ids, unread }: MarkedLine): string =>
  `${ids.length === 1 ? 'Comment' : `${ids.length} comment threads`}${unread ? ', unread' : ''}`
