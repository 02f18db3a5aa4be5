/**
 * Rich text of other programs (web pages, Word, Google Docs) as Markdown: headings, lists,
 * emphasis, links, quotations, code and tables. Fetched when somebody pastes such a text. Turndown
 * walks the tree and escapes what Markdown would read; the rules below are for what it does not
 * know. Pure.
 */
import TurndownService from 'turndown'
import { withoutNeedlessEscapes } from './escapes.ts'

type Rule = TurndownService.Rule
type Node = TurndownService.Node

const service = new TurndownService({
  headingStyle: 'atx',
  hr: '---',
  bulletListMarker: '-',
  codeBlockStyle: 'fenced',
  emDelimiter: '*',
})

/** Markdown of a piece of HTML; its scripts never run. */
export function markdownOf(html: string): string {
  return withoutNeedlessEscapes(
    service
      .turndown(html)
      .replaceAll('\u00a0', ' ')
      // A word whose formatting comes in pieces.
      .replace(/(\S)\*\*\*\*(?=\S)/g, '$1')
      .replace(/[ \t]+$/gm, '')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
  )
}

service.remove(['script', 'style', 'title', 'head', 'noscript', 'button', 'select', 'textarea'])

const rule = (name: string, found: Rule) => service.addRule(name, found)
const element = (node: Node) => node as unknown as HTMLElement
const attribute = (node: Node, name: string) => element(node).getAttribute(name) ?? ''
const styleOf = (node: Node) =>
  attribute(node, 'style')
    .replaceAll(/\s*:\s*/g, ':')
    .toLowerCase()
const isIn = (node: Node, names: string) => {
  for (let at = element(node).parentElement; at; at = at.parentElement)
    if (names.split(' ').includes(at.nodeName.toLowerCase())) return true
  return false
}
/** In an address these would end it. */
const escaped = (address: string) =>
  address.replaceAll(/[()\s]/g, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, '0')}`)
const oneLine = (words: string) => words.replace(/\s*\n\s*/g, ' ').trim()

/** Bold and the like is often said by a style alone; in a heading it says nothing. */
function emphasis(node: Node): string[] {
  const [name, style] = [node.nodeName, styleOf(node)]
  const weight = /font-weight:(\w+)/.exec(style)?.[1]
  const strong = weight
    ? weight === 'bold' || weight === 'bolder' || Number(weight) >= 600
    : name === 'B' || name === 'STRONG'
  const slant = /font-style:(\w+)/.exec(style)?.[1]
  const slanted = slant ? slant !== 'normal' : name === 'I' || name === 'EM'
  const struck = ['S', 'DEL', 'STRIKE'].includes(name) || style.includes('line-through')
  const isHeading = isIn(node, 'h1 h2 h3 h4 h5 h6 th')
  return [strong && !isHeading && '**', slanted && '*', struck && '~~'].filter(
    (mark) => mark !== false,
  )
}

rule('emphasis', {
  filter: ['b', 'strong', 'i', 'em', 's', 'del', 'strike' as 's', 'span'],
  replacement(content, node) {
    if (styleOf(node).includes('mso-list:ignore')) return ''
    // Google Docs wraps all of a text in a `b` that is not bold.
    if (content.trim() === '' || /\n\s*\n/.test(content)) return content
    const marks = emphasis(node)
    return marks.join('') + content + marks.toReversed().join('')
  },
})

rule('link', {
  filter: 'a',
  replacement(content, node) {
    const [words, address] = [oneLine(content), attribute(node, 'href').trim()]
    if (words === '' || !/^(https?|mailto):/i.test(address)) return content
    return `[${words}](${escaped(address)})`
  },
})

rule('picture', {
  filter: 'img',
  replacement(_, node) {
    const [words, address] = [oneLine(attribute(node, 'alt')), attribute(node, 'src').trim()]
    return /^https?:/i.test(address) ? `![${words}](${escaped(address)})` : words
  },
})

rule('line break', {
  filter: 'br',
  replacement: (_, node) =>
    isIn(node, 'td th') ? ' ' : isIn(node, 'p li h1 h2 h3 h4 h5 h6 div') ? '  \n' : '\n\n',
})

rule('code', {
  filter: 'pre',
  replacement(_, node) {
    for (const lineEnd of Array.from(element(node).querySelectorAll('br')))
      lineEnd.textContent = '\n'
    return `\n\n\`\`\`\n${element(node).textContent.replace(/\n$/, '')}\n\`\`\`\n\n`
  },
})

/** A paragraph of Word: a title, a quotation, or an entry of a list. */
rule('paragraph', {
  filter: 'p',
  replacement(content, node) {
    const [kind, list] = [
      attribute(node, 'class'),
      /mso-list:\s*l\d+ level(\d+)/i.exec(styleOf(node)),
    ]
    if (content.trim() === '') return ''
    if (list) {
      const marker = element(node).querySelector('[style*="gnore"]')?.textContent.trim() ?? ''
      const number = /^(\d+|[a-z]{1,3})[.)]$/i.exec(marker)?.[1]
      const sign = number ? `${Number(number) || 1}.` : '-'
      return `\n${'   '.repeat(Number(list[1]) - 1)}${sign} ${oneLine(content)}\n`
    }
    if (kind.includes('MsoTitle')) return `\n\n# ${oneLine(content)}\n\n`
    if (kind.includes('Quote')) return `\n\n> ${oneLine(content)}\n\n`
    if (isIn(node, 'td th')) return `${content} `
    return isIn(node, 'li') ? `\n${content}\n` : `\n\n${content}\n\n`
  },
})

rule('entry', {
  filter: 'li',
  replacement(content, node) {
    const list = element(node).parentElement
    const at = list
      ? Array.from(list.children)
          .filter(({ nodeName }) => nodeName === 'LI')
          .indexOf(element(node))
      : 0
    const sign = list?.nodeName === 'OL' ? `${Number(list.getAttribute('start') ?? 1) + at}.` : '-'
    const words = content
      .trim()
      .replace(/\n{2,}/g, '\n')
      .replaceAll('\n', `\n${' '.repeat(sign.length + 1)}`)
    return words === '' ? '' : `${sign} ${words}\n`
  },
})

rule('tick', {
  filter: (node) => node.nodeName === 'INPUT' && attribute(node, 'type') === 'checkbox',
  replacement: (_, node) => (element(node).hasAttribute('checked') ? '[x] ' : '[ ] '),
})

/** A table that only arranges other things: of one column, or around another table. */
function isLayout(table: Element): boolean {
  const rows = Array.from(table.querySelectorAll('tr'))
  return table.querySelectorAll('table').length > 0 || rows.every((row) => row.children.length < 2)
}

const tableOf = (node: Node): Element | null => {
  let at = element(node).parentElement
  while (at && at.nodeName !== 'TABLE') at = at.parentElement
  return at
}

const isTabular = (node: Node): boolean => {
  const table = node.nodeName === 'TABLE' ? element(node) : tableOf(node)
  return table !== null && !isLayout(table)
}

rule('cell', {
  filter: ['td', 'th'],
  replacement(content, node) {
    if (!isTabular(node)) return `\n\n${content}\n\n`
    return ` ${oneLine(content).replaceAll('|', '\\|')} |`
  },
})

rule('row', {
  filter: 'tr',
  replacement(content, node) {
    if (!isTabular(node)) return content
    const rows = Array.from(tableOf(node)?.querySelectorAll('tr') ?? [])
    const columns = Math.max(...rows.map((row) => row.children.length))
    const missing = columns - element(node).children.length
    const line = `|${content}${'  |'.repeat(missing)}`
    return rows[0] === element(node) ? `\n${line}\n|${' --- |'.repeat(columns)}` : `\n${line}`
  },
})

rule('table', {
  filter: 'table',
  replacement: (content) => `\n\n${content.trim()}\n\n`,
})

rule('part of a table', {
  filter: ['thead', 'tbody', 'tfoot'],
  replacement: (content) => content,
})
