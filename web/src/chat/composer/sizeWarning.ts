/** Warnings about questions that are too large, before they are asked. Pure. */

/** Unicode characters that the AI can write in one call; the server has the same limit. */
const WRITTEN = 100_000
/** UTF-16 units of a document that a model is shown. */
const SHOWN = 200_000
/** Bytes of a question that the server takes. */
const LONGEST_PROMPT = 256 * 1024

export const isTooLong = (prompt: string): boolean =>
  new TextEncoder().encode(prompt).length > LONGEST_PROMPT

interface Asked {
  /** UTF-16 units of the document. */
  length: number
  /** UTF-16 units of the selection; null: the whole document is asked about. */
  selected: number | null
  /** The model that answers. */
  model: string
  prompt: string
}

export function sizeWarning({ length, selected, model, prompt }: Asked): string | null {
  const asked = selected ?? length
  if (isTooLong(prompt)) return 'This question is too long to be asked at once. Shorten it.'
  if (asked <= WRITTEN) return null
  if (model.startsWith('harper'))
    return `The built-in editor checks at most ${count(WRITTEN)} characters at once. Select a part of the text.`
  if (selected !== null)
    return `You selected ${count(selected)} characters. The AI can write at most ${count(WRITTEN)} at once.`
  return length > SHOWN
    ? 'This text is longer than the AI can read at once. Select the passage you mean.'
    : `The AI can change passages of this text, but not rewrite it as a whole: it writes at most ${count(WRITTEN)} characters at once.`
}

const count = (characters: number) => characters.toLocaleString('en-US')
