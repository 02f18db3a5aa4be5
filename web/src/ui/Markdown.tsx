/** Somebody else's Markdown, to be read: what could deceive the eye is made visible, and nothing in it acts. */
import { visible } from '../desk/shown.ts'
import { markdown, type Shown } from './markdown.ts'

export function Markdown({ text }: { text: string }) {
  return <div className="markdown">{markdown(text).map(draw)}</div>
}

function draw(shown: Shown, key: number) {
  switch (shown.kind) {
    case 'text':
      return visible(shown.text)
    case 'code':
      return <code key={key}>{visible(shown.text)}</code>
    case 'pre':
      return <pre key={key}>{visible(shown.text)}</pre>
    case 'rule':
      return <hr key={key} />
    case 'break':
      return <br key={key} />
    case 'link':
      return <a key={key} href={shown.href} target="_blank" rel="noreferrer noopener">{shown.inside.map(draw)}</a>
    default: {
      const Tag = shown.kind
      return <Tag key={key}>{shown.inside.map(draw)}</Tag>
    }
  }
}
