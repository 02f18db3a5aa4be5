/** What becomes of files that are imported as documents. Pure. */

/** What the chooser of files offers. */
export const KINDS =
  '.md,.markdown,.txt,.docx,text/markdown,text/plain,application/vnd.openxmlformats-officedocument.wordprocessingml.document'

/** The words of a file, or `null`: it holds no text. */
export function textIn(bytes: ArrayBuffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? null : text
  } catch {
    return null
  }
}
