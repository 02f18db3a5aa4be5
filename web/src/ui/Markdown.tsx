/**
 * Somebody else's Markdown, to be read: what could deceive the eye is made visible, and nothing in
 * it acts.
 */
import { showInvisible } from '../workspace-inbox/state/visibleText.ts'
import { type MarkdownNode, parseMarkdown } from './markdown.ts'

export function Markdown({ text }: { text: string }) {
  return <div className="markdown">{parseMarkdown(text).map(draw)}</div>
}

function draw(shown: MarkdownNode, key: number) {
  switch (shown.kind) {
    case 'text':
      return showInvisible(shown.text)
    case 'code':
      return <code key={key}>{showInvisible(shown.text)}</code>
    case 'pre':
      return <pre key={key}>{showInvisible(shown.text)}</pre>
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
      return <Tag key={key}>{shown.inside.map(draw)}</Tag>
    }
  }
}
