/** The keyboard and the reading of a thread's card. */
import { type RefObject, useEffect, useLayoutEffect } from 'react'
import { openDocument } from '../../document/openDocument.ts'
import { markRead } from '../actions/followComments.ts'
import type { CommentThread } from '../../wire/generated.ts'
import { useComments } from '../stores/threads.ts'
import { goTo } from '../text/anchors.ts'

/** Time in view after which a thread counts as read. */
const READ_MS = 1_000

/** Gives the keyboard to a card; where it is gone, to what is above the list. */
export function focusCard(card: Element | null | undefined): void {
  const place = card?.isConnected ? card : document.querySelector('.comment-filters button')
  if (place instanceof HTMLElement) place.focus()
}

/** Gives the keyboard to the card that was asked for, and shows its words. */
export function useCardFocus(card: RefObject<HTMLElement | null>, id: string): void {
  const isWanted = useComments(({ focused }) => focused === id)
  useLayoutEffect(() => {
    if (!isWanted) return
    useComments.setState({ focused: null })
    card.current?.focus({ preventScroll: true })
    card.current?.scrollIntoView({ block: 'nearest' })
    const view = openDocument()?.view
    if (view) goTo(view, id)
  }, [isWanted, card, id])
}

/** A thread that a person has had before their eyes is read, everywhere. */
export function useReading(
  card: RefObject<HTMLElement | null>,
  { id, comments }: CommentThread,
  isUnread: boolean,
): void {
  const count = comments.length
  useEffect(() => {
    if (!isUnread || !card.current) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const read = () => {
      if (document.hidden) document.addEventListener('visibilitychange', read, { once: true })
      else markRead(id)
    }
    const watch = new IntersectionObserver(([entry]) => {
      clearTimeout(timer)
      if (entry?.isIntersecting) timer = setTimeout(read, READ_MS)
    })
    watch.observe(card.current)
    return () => {
      watch.disconnect()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', read)
    }
  }, [card, id, isUnread, count])
}
