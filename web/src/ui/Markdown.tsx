/**
 * Somebody else's Markdown, to be read: what could deceive the eye is made visible, and nothing in
 * it acts.
 */
import { showInvisible } from '../workspace-inbox/state/visibleText.ts'
import { type MarkdownNode, parseMarkdown } from './markdown.ts'

export function Markdown({ text }: { text: string }) {
  return <div className="markdown">{parseMarkdown(text).map(draw)}</div>
}

/** Each is set in the direction of its own words. */
const BLOCKS: ReadonlySet<string> = new Set(['p', 'li', 'blockquote', 'h3', 'h4', 'h5', 'h6'])

function draw(shown: MarkdownNode, key: number) {
  switch (shown.kind) {
    case 'text':
      return showInvisible(shown.text)
    case 'code':
      return <code key={key}>{showInvisible(shown.text)}</code>
    case 'pre':
      return (
        <pre key={key} dir="auto">
          {showInvisible(shown.text)}
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
        <Tag key={key} {...(BLOCKS.has(Tag) && { dir: 'auto' })}>
          {shown.inside.map(draw)}
        </Tag>
      )
    }
  }
}
