/**
 * Waiting with what others do to a paragraph while an input method composes a word in it: a browser
 * whose text is changed around the word leaves the first signs of it behind.
 */
import { sendableUpdates } from '@codemirror/collab'
import { ChangeSet, type EditorState } from '@codemirror/state'
import type { Range } from '../wire/generated.ts'
import { inFull, type QueuedEvent } from './queuedEvent.ts'
import { suggestedIn, unconfirmed } from './suggesting/field.ts'

/** Time between two looks at whether the word is done. */
const LOOK_MS = 50
/** Longest time that others' changes wait. */
const MAX_HOLD_MS = 20_000

export class CompositionHold<Message> {
  private held: Message[] = []
  private since = 0
  private timer: ReturnType<typeof setTimeout> | undefined

  /** `release` takes what waited, one after the other in the order in which it came. */
  constructor(
    private readonly isComposing: () => boolean,
    private readonly release: (message: Message) => void,
    private readonly released: () => void,
  ) {}

  get isHolding(): boolean {
    return this.held.length > 0
  }

  /** Keeps a message that would disturb, and all that come after it; `false`: it need not wait. */
  keep(message: Message, wouldDisturb: () => boolean): boolean {
    if (!this.isHolding && !(this.isComposing() && wouldDisturb())) return false
    if (!this.isHolding) this.since = Date.now()
    this.held.push(message)
    this.timer ??= setTimeout(() => this.look(), LOOK_MS)
    return true
  }

  /** Resolves once no word is composed, or after the longest time that changes wait. */
  async ended(): Promise<void> {
    const since = Date.now()
    while (this.isComposing() && Date.now() - since < MAX_HOLD_MS)
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }

  /** Forgets what waits: the server says it again. */
  clear(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    this.held = []
  }

  private look(): void {
    this.timer = undefined
    if (this.isComposing() && Date.now() - this.since < MAX_HOLD_MS)
      this.timer = setTimeout(() => this.look(), LOOK_MS)
    else {
      this.held.splice(0).forEach(this.release)
      this.released()
    }
  }
}

/**
 * Returns whether a message changes the line of the caret, or what is drawn in it. `version` is the
 * server's version that the state has. Pure.
 */
export function touchesCaretLine(
  state: EditorState,
  version: number,
  message: QueuedEvent,
): boolean {
  if ('updates' in message || 'short' in message) {
    const news = 'short' in message ? inFull(message.short, '') : message.updates
    // A decision may take words of a suggestion out of the line.
    if (suggestedIn(state) && news.hunks !== undefined) return true
    return changesCaretLine(state, news.updates.slice(Math.max(0, version - news.from)))
  }
  if (!('request' in message)) return false
  const line = caretLine(state)
  const here = (at: number) =>
    unconfirmed(state).reduce(
      (pos, changes) => changes.mapPos(Math.min(pos, changes.length), 1),
      at,
    )
  return message.request.hunks.some(({ parts }) =>
    parts.some((part) => here(part.from) <= line.to && here(part.to) >= line.from),
  )
}

const caretLine = (state: EditorState) => state.doc.lineAt(state.selection.main.head)

interface NamedChanges {
  clientID: string
  changes: unknown
}

/** Returns whether updates of the server's text change the line of the caret. */
function changesCaretLine(state: EditorState, updates: readonly NamedChanges[]): boolean {
  let { from, to }: Range = caretLine(state)
  let local = unconfirmed(state)
  const ours = suggestedIn(state) ? undefined : sendableUpdates(state)[0]?.clientID
  return updates.some(({ clientID, changes }) => {
    // Ours are shown already.
    if (clientID === ours) {
      local = local.slice(1)
      return false
    }
    try {
      let update = ChangeSet.fromJSON(changes)
      local = local.map((mine) => {
        const moved = mine.map(update)
        update = update.map(mine, true)
        return moved
      })
      if (update.touchesRange(from, to) !== false) return true
      ;[from, to] = [update.mapPos(from), update.mapPos(to)]
      return false
    } catch {
      // Malformed: who applies it notices.
      return false
    }
  })
}
