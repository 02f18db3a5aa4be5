/**
 * Keeps what a person who reviews has noticed, so that a press decides only what they mean. Pure:
 * the time is an argument.
 */
import type { ChangesState } from './changes.ts'

/** Time in which people do not react to what they did not expect. */
const NOTICE_MS = 400
/** Time after writing in which a person may go on writing. */
const WRITING_MS = 1_000

/**
 * The effect of a press: nothing, bring the change into view, decide it, say that it is decided, go
 * on to the next.
 */
export type Press = 'nothing' | 'show' | 'decide' | 'tell' | 'go on'

type Review = Pick<ChangesState, 'hunks' | 'active' | 'resolved'>

export class Attention {
  /** From when on a press counts. */
  private noticedAt = -Infinity
  private wroteAt = -Infinity
  /** The change of which they have heard that it is decided. */
  private heardOutcomeOf: string | null = null
  /** The change that they went to last, or that was shown to them. */
  visited: string | null = null
  private expected: ReadonlySet<string> = new Set()

  /** Notes that they take a decision about these back, and look for them. */
  expect(ids: readonly string[]): void {
    this.expected = new Set(ids)
  }

  wrote(now: number): void {
    this.wroteAt = now
  }

  outcomeHeard(id: string | undefined): void {
    this.heardOutcomeOf = id ?? null
  }

  /** Notes that they left the text for the review: letters of the next moment decide nothing. */
  leftText(now: number): void {
    if (now - this.wroteAt < WRITING_MS) this.noticedAt = now + NOTICE_MS
  }

  /**
   * `went`: by an act of their own. Otherwise presses of the next moment are not meant for what is
   * the active change now.
   */
  changed(before: Review, after: Review, went: boolean, now: number): void {
    const same =
      before.active === after.active && before.resolved?.hunk.id === after.resolved?.hunk.id
    // Open again, it can be decided by another person once more.
    if (before.resolved && !after.resolved) this.heardOutcomeOf = null
    const expected = after.active !== null && this.expected.has(after.active)
    if (went) this.visited = after.active
    if (went || (!same && expected)) {
      // Who went to a change sees it, and does not write any more.
      this.noticedAt = -Infinity
      this.wroteAt = -Infinity
      if (expected) this.expected = new Set()
    } else if (!same) this.noticedAt = now + NOTICE_MS
  }

  /** `inView`: whether the active change is; `deciding`: their decision about it is on its way. */
  press(
    { hunks, active, resolved }: Review,
    { inView, deciding }: { inView: boolean; deciding: boolean },
    now: number,
  ): Press {
    const noticed = now >= this.noticedAt
    // A person who goes on pressing has not noticed yet.
    if (!noticed) this.noticedAt = now + NOTICE_MS
    if (deciding) return 'nothing'
    if (hunks.some((hunk) => hunk.id === active)) {
      this.visited = active
      return inView && noticed ? 'decide' : 'show'
    }
    if (!resolved) return 'nothing'
    if (this.heardOutcomeOf === resolved.hunk.id && noticed) return 'go on'
    this.heardOutcomeOf = resolved.hunk.id
    this.noticedAt = now + NOTICE_MS
    return 'tell'
  }
}
