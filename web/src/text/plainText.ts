/** Inline Markdown as the words that are read of it. Pure. */

/** An escape, a link or picture, code, and emphasis; `_` inside a word is a character of it. */
const INLINE =
  /\\([!-/:-@[-`{-~])|!?\[((?:\\.|[^\]\\])*)\]\([^)]*\)|(`+)(.+?)\3|(\*{1,3}|~~)(?=\S)((?:\\.|[^\\])+?)(?<=\S)\5|(?<![\p{L}\p{N}])(_{1,3})(?=\S)((?:\\.|[^\\])+?)(?<=\S)\7(?![\p{L}\p{N}])/gu

export const plainText = (markdown: string): string =>
  markdown.replace(
    INLINE,
    (...[, escaped, linked, , code, , marked, , underlined]: (string | undefined)[]) =>
      escaped ?? code ?? plainText(linked ?? marked ?? underlined ?? ''),
  )
