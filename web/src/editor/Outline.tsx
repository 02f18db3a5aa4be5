/** The headings, to jump to. */
import { EditorView } from '@codemirror/view'
import { useEffect, useRef, useState } from 'react'
import { useOpenDocument } from '../document/useOpenDocument.ts'
import type { Heading } from '../text/textStatistics.ts'
import './Outline.css'

export function Outline({ view }: { view: EditorView }) {
  const headings = useOpenDocument((state) => state.headings)
  const here = usePlace(view, headings)
  const list = useRef<HTMLElement>(null)
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [here])
  if (headings.length < 2) return null
  const jump = (at: number) => {
    view.dispatch({
      selection: { anchor: at },
      effects: EditorView.scrollIntoView(at, { y: 'start', yMargin: 40 }),
    })
    view.focus()
  }
  return (
    <nav ref={list} className="outline" aria-label="Outline">
      {headings.map(({ level, text, at }) => (
        <button
          type="button"
          key={at}
          dir="auto"
          className={`level-${Math.min(level, 3)}`}
          aria-current={at === here ? 'location' : undefined}
          onClick={() => jump(at)}
        >
          {text}
        </button>
      ))}
    </nav>
  )
}

/** Above the first line that counts as read, so that a heading at the top of the page is. */
const READ_PX = 120

/** Returns the position of the heading whose part is at the top of the page. */
function usePlace(view: EditorView, headings: readonly Heading[]): number | null {
  const [here, setHere] = useState<number | null>(null)
  useEffect(() => {
    const page = view.dom.closest('.page-scroll')
    if (!page) return
    let frame = 0
    const look = () => {
      frame = 0
      const top = page.getBoundingClientRect().top + READ_PX - view.documentTop
      const read = view.lineBlockAtHeight(Math.max(0, top)).to
      setHere(headings.findLast(({ at }) => at <= read)?.at ?? headings[0]?.at ?? null)
    }
    const follow = () => (frame ||= requestAnimationFrame(look))
    follow()
    page.addEventListener('scroll', follow, { passive: true })
    return () => {
      cancelAnimationFrame(frame)
      page.removeEventListener('scroll', follow)
    }
  }, [view, headings])
  return here
}
