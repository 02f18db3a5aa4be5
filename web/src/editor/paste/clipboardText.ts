/** The content of a clipboard, and how it joins the words around its place. Pure. */

/** Elements that make a text more than plain. */
const STRUCTURE =
  /<(h[1-6]|[uo]l|table|blockquote|pre|code|strong|em|b|i|s|del|hr|math)\b|<br(?! class="?Apple)\b|<a\s[^>]*href|<p\b[\s\S]*<p\b|font-weight:\s*(bold|[6-9]00)|font-style:\s*italic|mso-list/i

/** Lines of a code editor: all of them in one block of monospaced words, whose blanks count. */
const CODE =
  /^(?:\s|<!--[^]*?-->|<\/?(?:html|body|meta)\b[^>]*>)*<div style=(["'])(?=(?:(?!\1).)*monospace)(?:(?!\1).)*white-space:\s*pre\b/i

/** Returns whether the HTML of a clipboard says more than its plain text. Pure. */
export function isRich(html: string, types: readonly string[]): boolean {
  // Colours of code are no structure.
  const isCode = types.some((type) => type.includes('vscode')) || CODE.test(html)
  return !isCode && STRUCTURE.test(html)
}

/** Blocks stand apart from what is written before and after their place. Pure. */
export function apart(words: string, before: string, after: string): string {
  const isBlocks = words.includes('\n') || /^(#{1,6} |[-*+] |\d+[.)] |> |\||```)/.test(words)
  if (!isBlocks) return words
  return `${before.trim() === '' ? '' : '\n\n'}${words}${after.trim() === '' ? '' : '\n\n'}`
}
