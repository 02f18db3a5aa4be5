/**
 * Escapes in a Markdown text that was made of another format: Turndown escapes each character that
 * could be a mark somewhere. Pure.
 */

/** Code and links, which stay as they are, or an escaped character. */
const PART = /(`+)(?!`).*?(?<!`)\1(?!`)|!?\[(?:\\.|[^\]\\])*\]\([^)]*\)|\\(.)/g
/** Brackets without others in them, which no address follows. */
const BRACKETS = /\\\[((?:[^[\]\\\n]|\\[^[\]])*)\\\](?!\\?[[(])/g
/** What is before the words of a line: marks of quotations and list items. */
const LINE_START = /^\s*(?:(?:>|[-*+]|\d+[.)])\s+)*$/
const FENCE = '```'

/** Removes the backslash of each character that Markdown would not read as a mark in its place. */
export function withoutNeedlessEscapes(markdown: string): string {
  let isCode = false
  return markdown
    .split(/(\n{2,})/)
    .map((block) => {
      const fences = block.split(FENCE).length - 1
      const hasCode = isCode || fences > 0
      isCode = isCode !== (fences % 2 === 1)
      return hasCode ? block : withoutNeedless(block)
    })
    .join('')
}

function withoutNeedless(block: string): string {
  const isOnly = (sign: string) => block.indexOf(sign) === block.lastIndexOf(sign)
  const brackets = plainBrackets(block)
  return block.replace(PART, (part, _code, sign: string | undefined, at: number) => {
    if (sign === undefined) return part
    const before = block.slice(block.lastIndexOf('\n', at) + 1, at)
    const after = block.slice(at + part.length).split('\n', 1)[0]!
    const needed =
      sign === '[' || sign === ']' ? !brackets.has(at) : isMark(sign, before, after, isOnly(sign))
    return needed ? part : sign
  })
}

/** Where escaped brackets are that are no part of a link, a definition or a task. */
function plainBrackets(block: string): ReadonlySet<number> {
  const places = new Set<number>()
  for (const found of block.matchAll(BRACKETS)) {
    const end = found.index + found[0].length
    const before = block.slice(block.lastIndexOf('\n', found.index) + 1, found.index)
    const begins = LINE_START.test(before)
    if (begins && (block[end] === ':' || /^[ xX]$/.test(found[1]!))) continue
    places.add(found.index).add(end - '\\]'.length)
  }
  return places
}

/** Whether Markdown would read the character as a mark between what is in its line around it. */
function isMark(sign: string, before: string, after: string, isOnly: boolean): boolean {
  const begins = LINE_START.test(before)
  switch (sign) {
    case '_':
      return !(/[\p{L}\p{N}](?:\\_)*$/u.test(before) && /^(?:\\_)*[\p{L}\p{N}]/u.test(after))
    case '*':
      if (begins && /^(?:\s|$)/.test(after)) return true
      return !isOnly && !(/\s$/.test(before) && /^\s/.test(after))
    case '`':
      return !isOnly
    case '\\':
      return /^(?:[!-/:-@[-`{-~]|$)/.test(after)
    case '-':
      return begins && /^(?:[\s-]|$)/.test(after)
    case '=':
      return begins && /^=*\s*$/.test(after)
    case '.':
      return LINE_START.test(before.replace(/\d+$/, ''))
    case '+':
    case '#':
    case '>':
      return begins
    default:
      return true
  }
}
