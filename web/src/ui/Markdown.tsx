/**
 * Markdown of others, to be read: what could deceive the eye is made visible. No HTML, no pictures,
 * nothing that could act.
 */
import type { SyntaxNode } from '@lezer/common'
import { Strikethrough, Table, TaskList, parser } from '@lezer/markdown'
import { createElement, type ReactElement } from 'react'
import { showInvisible } from './visibleText.ts'
import './Markdown.css'

export function Markdown({ text }: { text: string }) {
  return <div className="markdown">{drawMarkdown(text)}</div>
}

/** Elements that hold others. */
const BLOCKS: Readonly<Record<string, string>> = {
  Paragraph: 'p',
  Task: 'p',
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
}

/** Each is set in the direction of its own words. */
const DIRECTED: ReadonlySet<string> = new Set(['p', 'li', 'blockquote', 'h3', 'h4', 'h5'])

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

/** Elements and words. */
export type Drawn = ReactElement | string

export function drawMarkdown(source: string): Drawn[] {
  return inside(language.parse(source).topNode, source)
}

/** Returns the content of a node: its children, and the words between them. */
function inside(node: SyntaxNode, source: string): Drawn[] {
  const drawn: Drawn[] = []
  let at = node.from
  const holdsWords = !WITHOUT_WORDS.has(node.name)
  const words = (to: number) => {
    if (holdsWords && at < to) drawn.push(showInvisible(source.slice(at, to)))
  }
  for (let child = node.firstChild; child; child = child.nextSibling) {
    words(child.from)
    if (!MARKS.has(child.name)) drawn.push(draw(child, source))
    at = child.to
  }
  words(node.to)
  if (node.name.startsWith('ATXHeading') && typeof drawn[0] === 'string')
    drawn[0] = drawn[0].trimStart()
  return drawn
}

function draw(node: SyntaxNode, source: string): Drawn {
  const text = showInvisible(source.slice(node.from, node.to))
  const tag = BLOCKS[node.name]
  if (tag !== undefined) return element(tag, node, source)
  switch (node.name) {
    case 'TableCell':
      return element(node.parent?.name === 'TableHeader' ? 'th' : 'td', node, source)
    case 'TaskMarker':
      return /x/i.test(text) ? '☑' : '☐'
    case 'InlineCode':
      return <code>{text.replace(/^`+ ?|(?: )?`+$/g, '')}</code>
    case 'FencedCode':
    case 'CodeBlock':
      return <pre dir="auto">{showInvisible(codeOf(node, source).replace(/\n$/, ''))}</pre>
    case 'HorizontalRule':
      return <hr />
    case 'HardBreak':
      return <br />
    case 'Escape':
      return text.slice(1)
    case 'Link': {
      const url = node.getChild('URL')
      const href = url ? source.slice(url.from, url.to) : ''
      // Nothing but the web: an address may say anything.
      if (!/^https?:\/\//i.test(href)) return text
      return (
        <a href={href} target="_blank" rel="noreferrer noopener">
          {inside(node, source)}
        </a>
      )
    }
    default:
      // HTML, pictures and whatever else there is are shown as they are written.
      return text
  }
}

function element(tag: string, node: SyntaxNode, source: string): ReactElement {
  const props = {
    ...(DIRECTED.has(tag) && { dir: 'auto' }),
    ...(tag === 'li' && beginsWithBox(node, source) && { className: 'is-task' }),
  }
  return createElement(tag, props, ...inside(node, source))
}

function beginsWithBox({ firstChild: mark }: SyntaxNode, source: string): boolean {
  const first = mark?.nextSibling
  return !!first && /^(\[[ x]\][ \t]|[☐☑])/i.test(source.slice(first.from, first.to))
}

const codeOf = (node: SyntaxNode, source: string): string =>
  node
    .getChildren('CodeText')
    .map((code) => source.slice(code.from, code.to))
    .join('')
