/**
 * Waiting with what others do to a paragraph while an input method composes a word in it: a browser
 * whose text is changed around the word leaves the first signs of it behind.
 */
import { receiveUpdates } from '@codemirror/collab'
import { ChangeSet, type EditorState, type Transaction } from '@codemirror/state'
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
    const fresh = news.updates.slice(Math.max(0, version - news.from))
    if (!suggestedIn(state)) return changesCaretLine(state, fresh)
    // A decision may take words out of the line.
    return news.hunks !== undefined || changesSuggestedLine(state, fresh)
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

function changesCaretLine(state: EditorState, updates: readonly NamedChanges[]): boolean {
  let now = state
  for (const { clientID, changes } of updates) {
    const { from, to } = caretLine(now)
    let step: Transaction
    try {
      step = receiveUpdates(now, [{ clientID, changes: ChangeSet.fromJSON(changes) }])
    } catch {
      // Malformed: who applies it notices.
      return false
    }
    if (step.docChanged && step.changes.touchesRange(from, to) !== false) return true
    now = step.state
  }
  return false
}

/** The same where the person suggests. */
function changesSuggestedLine(state: EditorState, updates: readonly NamedChanges[]): boolean {
  const { from, to } = caretLine(state)
  let local = unconfirmed(state)
  return updates.some(({ changes }) => {
    try {
      let update = ChangeSet.fromJSON(changes)
      local = local.map((mine) => {
        const moved = mine.map(update)
        update = update.map(mine, true)
        return moved
      })
      return update.touchesRange(from, to) !== false
    } catch {
      return false
    }
  })
}
