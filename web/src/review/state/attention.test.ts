import { EditorState } from '@codemirror/state'
import { describe, expect, it } from 'vitest'
import { setHunks } from '../../document/effects.ts'
import type { Hunk } from '../../wire/generated.ts'
import { Attention } from './attention.ts'
import { hunksOf, reviewField, setActive } from '../text/reviewField.ts'
import { following } from './changes.ts'

const WORDS = 'one two three four five six'
const hunks = (): Hunk[] =>
  WORDS.split(' ').map((word) => ({
    id: word,
    request_id: 'r',
    status: 'pending',
    parts: [
      {
        from: WORDS.indexOf(word),
        to: WORDS.indexOf(word) + word.length,
        base: word,
        insert: word.toUpperCase(),
      },
    ],
  }))

/**
 * The window of one person: all changes are on the screen, the worst case; their decisions are
 * noted.
 */
class Reviewer {
  readonly attention = new Attention()
  readonly decided: string[] = []
  state = EditorState.create({ doc: WORDS, extensions: reviewField })
  constructor() {
    this.take(hunks(), 0)
  }

  get review() {
    return this.state.field(reviewField)
  }

  /** The changes that are open on the server. */
  take(open: readonly Hunk[], now: number): void {
    const before = this.review
    this.state = this.state.update({ effects: setHunks.of(open) }).state
    this.attention.changed(before, this.review, false, now)
  }

  /** Decided by another person. */
  loses(id: string | null, now: number): void {
    const left = hunksOf(this.state).filter((hunk) => hunk.id !== id)
    this.take(left, now)
  }

  private go(id: string | null, now: number): void {
    const before = this.review
    this.state = this.state.update({ effects: setActive.of(id) }).state
    this.attention.changed(before, this.review, true, now)
  }

  press(now: number, inView = true): string {
    const pressed = this.attention.press(this.review, { inView, deciding: false }, now)
    const { active, resolved } = this.review
    if (pressed === 'decide') {
      this.decided.push(active!)
      const gone = hunksOf(this.state).find((hunk) => hunk.id === active)!
      const left = hunksOf(this.state).filter((hunk) => hunk !== gone)
      this.take(left, now)
      const next = following(left, gone)
      if (next) this.go(next.id, now)
    }
    if (pressed === 'go on')
      this.go(following(hunksOf(this.state), resolved!.hunk)?.id ?? null, now)
    return pressed
  }
}

describe('a press', () => {
  it('decides the change that is seen, and again the next one at once', () => {
    const ana = new Reviewer()
    expect([ana.press(1_000), ana.press(1_050)]).toEqual(['decide', 'decide'])
    expect(ana.decided).toEqual(['one', 'two'])
  })

  it('makes a change one that was visited, as going there does', () => {
    const ana = new Reviewer()
    expect(ana.attention.visited).toBeNull()
    ana.press(1_000, false)
    expect(ana.attention.visited).toBe('one')
    ana.press(1_500)
    expect(ana.attention.visited).toBe('two')
  })

  it('only shows a change that is out of view', () => {
    const ana = new Reviewer()
    expect([ana.press(1_000, false), ana.press(1_100)]).toEqual(['show', 'decide'])
  })

  it('decides nothing where somebody was faster, until they were told and went on', () => {
    const cy = new Reviewer()
    cy.loses('one', 1_000)
    expect(cy.review.active).toBe('one')
    expect([1_600, 2_200, 2_800].map((at) => cy.press(at))).toEqual(['tell', 'go on', 'decide'])
    expect(cy.decided).toEqual(['two'])
  })

  it('is told anew of a change that was taken back and decided once more', () => {
    const cy = new Reviewer()
    cy.loses('one', 1_000)
    expect(cy.press(2_000)).toBe('tell')
    cy.take(hunks(), 3_000)
    cy.loses('one', 4_000)
    expect(cy.press(5_000)).toBe('tell')
  })

  it('of somebody who keeps pressing is not taken for an answer', () => {
    const cy = new Reviewer()
    cy.loses('one', 1_000)
    expect([1_060, 1_200, 1_400, 1_700].map((at) => cy.press(at))).toEqual(
      new Array<string>(4).fill('tell'),
    )
    expect(cy.decided).toEqual([])
  })

  it('does not hit changes that have only just come', () => {
    const ana = new Reviewer()
    ana.loses('one', 500)
    ana.take([], 600)
    expect([ana.press(1_100), ana.press(1_600)]).toEqual(['tell', 'go on'])
    ana.take(hunks().slice(3), 2_000)
    expect(ana.press(2_100)).toBe('show')
    expect(ana.press(2_600)).toBe('decide')
  })

  it('right after writing decides nothing, for as long as one writes on', () => {
    const ana = new Reviewer()
    ana.attention.wrote(5_000)
    ana.attention.leftText(5_050)
    expect([5_100, 5_300, 5_550].map((at) => ana.press(at))).toEqual(['show', 'show', 'show'])
    expect(ana.press(6_000)).toBe('decide')
  })

  it('decides what one has just taken back oneself', () => {
    const ana = new Reviewer()
    ana.attention.expect(['two'])
    ana.take([], 900)
    ana.press(1_500)
    ana.press(2_000)
    ana.take(hunks().slice(1), 3_000)
    expect(ana.press(3_050)).toBe('decide')
  })

  it('long after writing decides', () => {
    const ana = new Reviewer()
    ana.attention.wrote(1_000)
    ana.attention.leftText(5_000)
    expect(ana.press(5_050)).toBe('decide')
  })
})

it('in 200 races decides no change that was not looked at', () => {
  for (let round = 0; round < 200; round++) {
    const cy = new Reviewer()
    const looksAt = cy.review.active!
    cy.loses(looksAt, 10_000)
    // Reads on, then presses what was meant for that change: once, or again when nothing happens.
    const at = 10_060 + ((round * 997) % 1_141)
    cy.press(at)
    if (round % 2 === 0) cy.press(at + 90)
    expect(cy.decided, `pressed ${at - 10_000} ms after the other`).toEqual([])
    expect(cy.review.active).toBe(looksAt)
  }
})
