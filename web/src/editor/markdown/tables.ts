/**
 * Tables in the text: their source stays as it is, and what is missing of a column's width is shown
 * beside it. Pure.
 */

/** Blanks or dashes that are shown at a place of a row, and are not in the text. */
export interface Padding {
  /** From the beginning of the row. */
  at: number
  text: string
}

interface Cell {
  from: number
  to: number
}

type Align = 'left' | 'right' | 'center'

/** Wider tables are not aligned: their lines are broken. */
const WIDEST = 72

/**
 * Returns the padding that aligns the columns of a table: for each row, in the order of their
 * places. The second row is the one of dashes, which says how columns are aligned.
 */
export function paddingOf(rows: readonly string[]): Padding[][] {
  const cells = rows.map(cellsOf)
  const dashes = rows[1] ?? ''
  const aligns = (cells[1] ?? []).map(({ from, to }) => alignOf(dashes.slice(from, to)))
  const widths = aligns.map((_, column) => Math.max(...cells.map((row) => widthOf(row[column]))))
  const whole = widths.reduce((sum, width) => sum + width + 1, 1)
  if (whole > WIDEST) return rows.map(() => [])
  return rows.map((row, number) =>
    cells[number]!.flatMap((cell, column) => {
      const missing = (widths[column] ?? 0) - widthOf(cell)
      if (missing <= 0) return []
      if (number === 1)
        return [{ at: cell.from + row.slice(cell.from).indexOf('-'), text: '-'.repeat(missing) }]
      const before = { left: 0, right: missing, center: missing >> 1 }[aligns[column]!]
      return [
        { at: cell.from, text: ' '.repeat(before) },
        { at: cell.to, text: ' '.repeat(missing - before) },
      ].filter(({ text }) => text !== '')
    }),
  )
}

const widthOf = (cell: Cell | undefined): number => (cell ? cell.to - cell.from : 0)

function alignOf(dashes: string): Align {
  const [left, right] = [/^\s*:/.test(dashes), /:\s*$/.test(dashes)]
  return left && right ? 'center' : right ? 'right' : 'left'
}

/** Returns the cells between the bars of a row; a bar at its beginning or end borders nothing. */
function cellsOf(row: string): Cell[] {
  const bars = [...row.matchAll(/\\.|\|/g)].filter(([it]) => it === '|').map(({ index }) => index)
  const edges = [-1, ...bars, row.length]
  const cells = edges.slice(1).map((to, at) => ({ from: edges[at]! + 1, to }))
  const isBlank = ({ from, to }: Cell) => row.slice(from, to).trim() === ''
  if (bars.length > 0 && isBlank(cells[0]!)) cells.shift()
  if (bars.length > 0 && cells.length > 0 && isBlank(cells.at(-1)!)) cells.pop()
  return cells
}
