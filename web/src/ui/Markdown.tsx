/**
 * Markdown of others, to be read: what could deceive the eye is made visible, and nothing in it
 * acts.
 */
import { showInvisible } from './visibleText.ts'
import { type MarkdownNode, parseMarkdown } from './markdown.ts'
import './Markdown.css'

export function Markdown({ text }: { text: string }) {
  return <div className="markdown">{parseMarkdown(text).map(draw)}</div>
}

/** Each is set in the direction of its own words. */
const BLOCKS: ReadonlySet<string> = new Set(['p', 'li', 'blockquote', 'h3', 'h4', 'h5', 'h6'])

/** An entry of a list that begins with a box. */
function isTask(shown: MarkdownNode): boolean {
  if (!('inside' in shown) || shown.kind === 'link') return false
  const [first] = shown.inside
  if (shown.kind === 'li') return first !== undefined && isTask(first)
  return shown.kind === 'p' && first?.kind === 'text' && /^[☐☑]/.test(first.text)
}

function draw(shown: MarkdownNode, key: number) {
  switch (shown.kind) {
    case 'text':
      return showInvisible(shown.text)
    case 'code':
      return <code key={key}>{showInvisible(shown.text)}</code>
    case 'pre':
      return (
        <pre key={key} dir="auto">
          {showInvisible(shown.text.replace(/\n$/, ''))}
        </pre>
      )
    case 'rule':
      return <hr key={key} />
    case 'break':
      return <br key={key} />
    case 'link':
      return (
        <a key={key} href={shown.href} target="_blank" rel="noreferrer noopener">
          {shown.inside.map(draw)}
        </a>
      )
    default: {
      const Tag = shown.kind
      return (
        <Tag
          key={key}
          {...(BLOCKS.has(Tag) && { dir: 'auto' })}
          {...(isTask(shown) && { className: 'is-task' })}
        >
          {shown.inside.map(draw)}
        </Tag>
      )
    }
  }
}
