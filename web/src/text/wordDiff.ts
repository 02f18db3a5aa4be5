/** Differences between two short texts, word by word. Pure. */

export interface DiffPiece {
  kind: 'same' | 'gone' | 'new'
  text: string
}

/** Longer texts are compared as wholes: the table of the comparison has one cell for two words. */
const MOST_CELLS = 400_000

/** Words, runs of blanks, and each other sign by itself. */
const wordsOf = (text: string): string[] => text.match(/\s+|[\p{L}\p{M}\p{N}]+|[^]/gu) ?? []

export function wordDiff(before: string, after: string): DiffPiece[] {
  const [a, b] = [wordsOf(before), wordsOf(after)]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const [goes, comes] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  const middle: DiffPiece[] =
    goes.length * comes.length > MOST_CELLS
      ? [piece('gone', goes.join('')), piece('new', comes.join(''))]
      : compared(goes, comes)
  const head = piece('same', a.slice(0, start).join(''))
  const tail = piece('same', a.slice(a.length - end).join(''))
  return joined([head, ...middle, tail])
}

const piece = (kind: DiffPiece['kind'], text: string): DiffPiece => ({ kind, text })

/** By the longest common sequence of words. */
function compared(a: readonly string[], b: readonly string[]): DiffPiece[] {
  const width = b.length + 1
  const common = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] =
        a[i] === b[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!)
  const pieces: DiffPiece[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      pieces.push(piece('same', a[i]!))
      i++
      j++
    } else if (
      i < a.length &&
      (j === b.length || common[(i + 1) * width + j]! >= common[i * width + j + 1]!)
    )
      pieces.push(piece('gone', a[i++]!))
    else pieces.push(piece('new', b[j++]!))
  }
  return pieces
}

/** Neighbours of one kind are one piece; between them what goes stands before what comes. */
function joined(pieces: readonly DiffPiece[]): DiffPiece[] {
  const all: DiffPiece[] = []
  let [gone, put] = ['', '']
  const close = () => {
    if (gone !== '') all.push(piece('gone', gone))
    if (put !== '') all.push(piece('new', put))
    gone = put = ''
  }
  for (const { kind, text } of pieces) {
    if (text === '') continue
    if (kind === 'gone') gone += text
    else if (kind === 'new') put += text
    else {
      close()
      const last = all.at(-1)
      if (last?.kind === 'same') last.text += text
      else all.push(piece('same', text))
    }
  }
  close()
  return all
}
