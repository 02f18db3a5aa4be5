/** Counts and headings, as a writer counts them. Pure. */

const WORD = /[\p{L}\p{N}]+(?:['’\-][\p{L}\p{N}]+)*/gu

/** Words as the status line counts them; an apostrophe or hyphen inside does not split. */
export function countWords(text: string): number {
  return text.match(WORD)?.length ?? 0
}

/** Minutes of reading at 230 words a minute, at least one. */
export function readingMinutes(words: number): number {
  return Math.max(1, Math.round(words / 230))
}

export interface Heading {
  level: number
  text: string
  at: number
}

/** Markdown headings (`#` form), outside fenced code. */
export function outline(text: string): Heading[] {
  const headings: Heading[] = []
  let at = 0
  let fence = ''
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (mark && !fence) fence = mark
    else if (mark && mark.startsWith(fence)) fence = ''
    const found = fence ? null : /^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/.exec(line)
    if (found?.[2]) headings.push({ level: found[1]!.length, text: plain(found[2]), at })
    at += line.length + 1
  }
  return headings
}

function plain(markdown: string): string {
  return markdown.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[*_`~]+/g, '')
}
