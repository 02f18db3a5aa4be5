/** Titles of documents. Pure. */
import { plainText } from '../../editor/markdown/plainText.ts'

/** The server keeps as many characters, and cuts nothing. */
const LONGEST_TITLE = 200

/** What is wrong with a title's length, if something is. */
export function tooLong(title: string): string | undefined {
  const count = [...title].length
  return count > LONGEST_TITLE
    ? `A title has at most ${LONGEST_TITLE} characters. This one has ${count}.`
    : undefined
}

/** The heading that the text begins with; else the name of the file, without its ending. */
export function titleFor(name: string, text: string): string {
  const heading = /^#[ \t]+(.+?)[ \t]*#*[ \t]*(?:\r?\n|$)/.exec(text)?.[1] ?? ''
  const title = plainText(heading).trim() || name.replace(/\.[a-z0-9]+$/i, '')
  return [...title].slice(0, LONGEST_TITLE).join('')
}
