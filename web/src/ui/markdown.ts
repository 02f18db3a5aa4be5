/**
 * Markdown as a tree of what there is to show: no HTML, no pictures, nothing that could act. Pure.
 */
import type { SyntaxNode } from '@lezer/common'
import { Strikethrough, Table, TaskList, parser } from '@lezer/markdown'

export type MarkdownNode =
  | { kind: 'text'; text: string }
  | { kind: 'link'; href: string; inside: MarkdownNode[] }
  | { kind: 'code' | 'pre'; text: string }
  | { kind: 'rule' | 'break' }
  | { kind: Holder; inside: MarkdownNode[] }

/** Elements that hold others. */
type Holder = (typeof BLOCKS)[keyof typeof BLOCKS] | 'th' | 'td'

const BLOCKS = {
  Paragraph: 'p',
  BulletList: 'ul',
  OrderedList: 'ol',
  ListItem: 'li',
  Blockquote: 'blockquote',
  Emphasis: 'em',
  StrongEmphasis: 'strong',
  Strikethrough: 'del',
  Table: 'table',
  TableRow: 'tr',
  TableHeader: 'tr',
  ATXHeading1: 'h3',
  ATXHeading2: 'h4',
  ATXHeading3: 'h5',
  ATXHeading4: 'h5',
  ATXHeading5: 'h5',
  ATXHeading6: 'h5',
  SetextHeading1: 'h3',
  SetextHeading2: 'h4',
} as const
const isBlock = (name: string): name is keyof typeof BLOCKS => Object.hasOwn(BLOCKS, name)

/** Marks that say how the words beside them are meant. */
const MARKS = new Set([
  'HeaderMark',
  'ListMark',
  'QuoteMark',
  'EmphasisMark',
  'CodeMark',
  'LinkMark',
  'URL',
  'LinkTitle',
  'CodeInfo',
  'StrikethroughMark',
  'TableDelimiter',
])
/** Blocks between whose children there are only line ends and marks of the blocks around them. */
const WITHOUT_WORDS = new Set([
  'Document',
  'BulletList',
  'OrderedList',
  'ListItem',
  'Blockquote',
  'Table',
  'TableRow',
  'TableHeader',
])
const language = parser.configure([Strikethrough, Table, TaskList])

export function parseMarkdown(source: string): MarkdownNode[] {
  return inside(language.parse(source).topNode, source)
}

/** Returns the content of a node: its children, and the words between them. */
function inside(node: SyntaxNode, source: string): MarkdownNode[] {
  const shown: MarkdownNode[] = []
  let at = node.from
  const holdsWords = !WITHOUT_WORDS.has(node.name)
  const words = (to: number) => {
    const text = source.slice(at, to)
    if (holdsWords && text !== '') shown.push({ kind: 'text', text })
  }
  for (let child = node.firstChild; child; child = child.nextSibling) {
    words(child.from)
    shown.push(...one(child, source))
    at = child.to
  }
  words(node.to)
  return node.name.startsWith('ATXHeading') ? trimmed(shown) : shown
}

function one(node: SyntaxNode, source: string): MarkdownNode[] {
  const text = source.slice(node.from, node.to)
  if (isBlock(node.name)) return [{ kind: BLOCKS[node.name], inside: inside(node, source) }]
  if (MARKS.has(node.name)) return []
  switch (node.name) {
    case 'TableCell':
      return [
        { kind: node.parent?.name === 'TableHeader' ? 'th' : 'td', inside: inside(node, source) },
      ]
    case 'Task':
      return [{ kind: 'p', inside: inside(node, source) }]
    case 'TaskMarker':
      return [{ kind: 'text', text: /x/i.test(text) ? '☑' : '☐' }]
    case 'InlineCode':
      return [{ kind: 'code', text: text.replace(/^`+ ?|(?: )?`+$/g, '') }]
    case 'FencedCode':
    case 'CodeBlock':
      return [
        {
          kind: 'pre',
          text: node
            .getChildren('CodeText')
            .map((code) => source.slice(code.from, code.to))
            .join(''),
        },
      ]
    case 'HorizontalRule':
      return [{ kind: 'rule' }]
    case 'HardBreak':
      return [{ kind: 'break' }]
    case 'Escape':
      return [{ kind: 'text', text: text.slice(1) }]
    case 'Link': {
      const url = node.getChild('URL')
      const href = url ? source.slice(url.from, url.to) : ''
      // Nothing but the web: an address may say anything.
      return /^https?:\/\//i.test(href)
        ? [{ kind: 'link', href, inside: inside(node, source) }]
        : [{ kind: 'text', text }]
    }
    default:
      // HTML, pictures and whatever else there is are shown as they are written.
      return [{ kind: 'text', text }]
  }
}

function trimmed(shown: MarkdownNode[]): MarkdownNode[] {
  const [first] = shown
  return first?.kind === 'text'
    ? [{ ...first, text: first.text.trimStart() }, ...shown.slice(1)]
    : shown
}
