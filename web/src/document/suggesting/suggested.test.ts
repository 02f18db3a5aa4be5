import { ChangeSet, Text } from '@codemirror/state'
import { expect, it } from 'vitest'
import { hunkFrom, hunkTo, isOpen, rebaseHunk } from '../../review/state/hunk.ts'
import type { Hunk } from '../../wire/generated.ts'
import {
  changesOf,
  follow,
  type Followed,
  nothingSuggested,
  sending,
  shownHunk,
  type Suggested,
  wholeSuggestion,
  withoutSuggestion,
  withTyped,
} from './suggested.ts'

const text = (words: string): Text => Text.of(words.split('\n'))
const BASE = text('The lamp was burning.\nNobody saw it.')

const hunk = (id: string, from: number, base: string, insert: string): Hunk =>
  ({
    id,
    request_id: 'own',
    status: 'pending',
    parts: [{ from, to: from + base.length, base, insert }],
  }) as unknown as Hunk

/** The text that is shown. */
const shown = (now: Suggested): string => wholeSuggestion(now).apply(now.doc).toString()

const typing = (now: Suggested, from: number, to: number, insert: string): Suggested =>
  withTyped(now, ChangeSet.of({ from, to, insert }, wholeSuggestion(now).newLength))

/** The hunks that a server makes of a change: one of each place. */
function cut(changes: ChangeSet, doc: Text, name = 'h'): Hunk[] {
  const hunks: Hunk[] = []
  changes.iterChanges((from, to, _fromB, _toB, inserted) =>
    hunks.push(hunk(`${name}${hunks.length}`, from, doc.sliceString(from, to), `${inserted}`)),
  )
  return hunks
}

/** Checks that the change of what is shown leads to what is shown. */
function checked(before: Suggested, { next, changes }: Followed): Suggested {
  expect(changes.apply(text(shown(before))).toString()).toBe(shown(next))
  return next
}

it('knows what was sent by its words, and changes nothing that is shown', () => {
  const typed = typing(nothingSuggested(BASE), 4, 8, 'lantern')
  const sent = typing(sending(typed), 0, 3, 'A')
  const { next, changes } = follow(sent, [], [hunk('h', 4, 'lamp', 'lantern')])
  expect([changes.empty, next.sent, next.typed.length]).toEqual([true, null, 1])
  expect(shown(next)).toBe('A lantern was burning.\nNobody saw it.')
})

it('leaves the caret where it is when the same words are put in beside a place', () => {
  const sent = sending(typing(nothingSuggested(BASE), 8, 8, ' a'))
  const { next, changes } = follow(sent, [], [hunk('h', 9, '', 'a ')])
  expect([changes.empty, shown(next)]).toEqual([true, 'The lamp a was burning.\nNobody saw it.'])
})

it('waits with what may be its own until the answer is there', () => {
  const sent = sending(typing(nothingSuggested(BASE), 4, 8, 'lantern'))
  const other = [hunk('h', 4, 'lamp', 'lantern'), hunk('i', 0, 'The', 'A')]
  expect(follow(sent, [], other).next).toBe(sent)
  const next = checked(sent, follow(sent, [], other, 'taken'))
  expect(shown(next)).toBe('A lantern was burning.\nNobody saw it.')
})

it('changes nothing that is shown when words are accepted', () => {
  const own = [hunk('h', 4, 'lamp', 'lantern'), hunk('i', 22, 'Nobody', 'No one')]
  const now = follow(nothingSuggested(BASE), [], own).next
  const accepted = changesOf([own[0]!], BASE)
  const rest = [hunk('i', 25, 'Nobody', 'No one')]
  const { next, changes } = follow(now, [accepted], rest)
  expect(changes.empty).toBe(true)
  expect(next.doc.toString()).toBe('The lantern was burning.\nNobody saw it.')
})

it('takes rejected words out, and leaves what is typed beside them', () => {
  const own = [hunk('h', 4, 'lamp', 'lantern')]
  const now = typing(follow(nothingSuggested(BASE), [], own).next, 11, 11, ' there')
  const next = checked(now, follow(now, [], []))
  expect(shown(next)).toBe('The lamp there was burning.\nNobody saw it.')
})

it('takes one of several new sentences out of their middle', () => {
  const own = ['One. ', 'Two. ', 'Six. '].map((words, at) => hunk(`h${at}`, 22, '', words))
  const now = follow(nothingSuggested(BASE), [], own).next
  const { changes } = follow(now, [], [own[0]!, own[2]!])
  const gone: unknown[] = []
  changes.iterChanges((from, to) => gone.push([from, to]))
  expect(gone).toEqual([[27, 32]])
})

it('shows hunks of others where they are, whatever is suggested over them', () => {
  const now = typing(nothingSuggested(BASE), 0, 9, '')
  const other = hunk('ai', 4, 'lamp', 'light')
  const moved = shownHunk(other, [now.own, ...now.typed])
  expect([moved.status, moved.parts[0]!.from, moved.parts[0]!.to]).toEqual(['pending', 0, 0])
})

it('goes away without a trace', () => {
  const now = typing(follow(nothingSuggested(BASE), [], [hunk('h', 0, '', 'So: ')]).next, 0, 0, 'x')
  expect(
    withoutSuggestion(now)
      .apply(text(shown(now)))
      .eq(BASE),
  ).toBe(true)
})

/** A generator of numbers below a limit. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** A sign of its own for each number, which nothing can come between. */
const sign = (number: number): string => String.fromCharCode(0x4e00 + number)
const signsIn = (words: string): string[] => words.match(/[\u4e00-\u9fff]/g) ?? []

type Message = { revision: number } & (
  { update: ChangeSet | null; hunks: Hunk[] } | { answer: 'taken' | 'not taken' }
)

/** A server with one suggestion, whose messages are on their way for a while. */
class Server {
  doc = BASE
  hunks: Hunk[] = []
  revision = 0
  /** Words that were rejected, lost their place, or were deleted. */
  readonly gone = new Set<string>()
  readonly log: ChangeSet[] = []
  readonly messages: Message[] = []

  commit(update: ChangeSet | null, hunks: Hunk[]): void {
    if (update) {
      this.doc = update.apply(this.doc)
      this.log.push(update)
      const moved = hunks.map((one) => rebaseHunk(one, update, this.doc))
      hunks = moved.filter(({ status }) => isOpen(status))
      this.forget(moved.filter((one) => !hunks.includes(one)))
    }
    this.hunks = hunks
    this.messages.push({ update, hunks, revision: this.revision })
  }

  /** Words of hunks that go. */
  forget(hunks: readonly Hunk[]): void {
    for (const part of hunks.flatMap(({ parts }) => parts))
      signsIn(part.insert).forEach((word) => this.gone.add(word))
  }

  take(version: number, revision: number, changes: ChangeSet): void {
    if (revision !== this.revision)
      return void this.messages.push({ answer: 'not taken', revision: this.revision })
    const now = this.log.slice(version).reduce((mine, update) => mine.map(update), changes)
    this.revision += 1
    const stays = this.hunks.filter(
      (one) => one.status === 'conflict' && !now.touchesRange(hunkFrom(one), hunkTo(one)),
    )
    // In conflict, they make place for what is typed there.
    this.forget(this.hunks.filter((one) => one.status === 'conflict' && !stays.includes(one)))
    this.commit(null, [...stays, ...cut(now, this.doc, `r${this.revision}-`)])
    this.messages.push({ answer: 'taken', revision: this.revision })
  }

  decide(at: number, accepts: boolean): void {
    const one = this.hunks[at]
    if (!one || (accepts && one.status !== 'pending')) return
    this.revision += 1
    if (!accepts) this.forget([one])
    const rest = this.hunks.filter((other) => other !== one)
    this.commit(accepts ? changesOf([one], this.doc) : null, rest)
  }
}

it.each(Array.from({ length: 60 }, (_, seed) => seed))(
  'loses and doubles no words, whatever happens (%i)',
  (seed) => {
    const random = numbers(seed + 1)
    const server = new Server()
    let now = nothingSuggested(BASE)
    let asks = false
    let [hunks, version, revision, count]: [Hunk[], number, number, number] = [[], 0, 0, 0]
    const word = () => sign((count += 1))
    const hear = () => {
      const message = server.messages.shift()
      if (!message) return
      revision = message.revision
      if ('answer' in message) {
        asks = false
        now = checked(now, follow(now, [], hunks, message.answer))
      } else {
        hunks = message.hunks
        if (message.update) version += 1
        now = checked(now, follow(now, message.update ? [message.update] : [], hunks))
      }
    }
    const type = () => {
      const length = wholeSuggestion(now).newLength
      const at = random(length + 1)
      const deletes = random(4) === 0
      const before = shown(now)
      now = typing(now, at, deletes ? Math.min(length, at + random(6)) : at, deletes ? '' : word())
      const left = signsIn(shown(now))
      signsIn(before).forEach((one) => left.includes(one) || server.gone.add(one))
    }
    const write = () => {
      const at = random(server.doc.length + 1)
      const to = Math.min(server.doc.length, at + random(3))
      const before = signsIn(server.doc.toString())
      server.commit(ChangeSet.of({ from: at, to, insert: '~' }, server.doc.length), server.hunks)
      const left = signsIn(server.doc.toString())
      before.forEach((one) => left.includes(one) || server.gone.add(one))
    }
    const send = () => {
      if (asks || now.typed.length === 0) return
      asks = true
      now = sending(now)
      server.take(version, revision, now.sent!)
    }
    const decide = () => server.decide(random(server.hunks.length + 1), random(2) > 0)
    const acts = [hear, hear, hear, type, type, write, send, decide]
    for (let step = 0; step < 200; step += 1) acts[random(acts.length)]!()
    while (server.messages.length > 0 || now.typed.length > 0) {
      if (server.messages.length > 0) hear()
      else send()
    }

    expect(now.doc.toString()).toBe(server.doc.toString())
    expect(shown(now)).toBe(changesOf(server.hunks, server.doc).apply(server.doc).toString())
    const left = signsIn(shown(now))
    expect(new Set(left).size).toBe(left.length)
    const all = Array.from({ length: count }, (_, at) => sign(at + 1))
    // Those in conflict wait beside the text.
    server.forget(server.hunks.filter(({ status }) => status === 'conflict'))
    expect(all.filter((one) => !left.includes(one) && !server.gone.has(one))).toEqual([])
  },
)
