/** Titles of documents. Pure. */

/** The server keeps as many characters, and cuts nothing. */
const LONGEST_TITLE = 200

/** Returns what is wrong with a title's length, if something is. */
export function tooLong(title: string): string | undefined {
  const count = [...title].length
  return count > LONGEST_TITLE
    ? `A title has at most ${LONGEST_TITLE} characters. This one has ${count}.`
    : undefined
}
