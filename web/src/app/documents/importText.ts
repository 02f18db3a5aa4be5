/** What becomes of files that are imported as documents. Pure. */

/** As many characters as the server keeps of a title. */
const LONGEST_TITLE = 200

/** What the chooser of files offers. */
export const KINDS = '.md,.markdown,.txt,text/markdown,text/plain'

/** The words of a file, or `null`: it holds no text. */
export function textIn(bytes: ArrayBuffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? null : text
  } catch {
    return null
  }
}

/** The heading that the text begins with; else the name of the file, without its ending. */
export function titleFor(name: string, text: string): string {
  const heading = /^#[ \t]+(.+?)[ \t]*#*[ \t]*(?:\r?\n|$)/.exec(text)?.[1]?.replace(/[*_`~]+/g, '')
  const title = heading?.trim() || name.replace(/\.[a-z0-9]+$/i, '')
  return [...title].slice(0, LONGEST_TITLE).join('')
}
