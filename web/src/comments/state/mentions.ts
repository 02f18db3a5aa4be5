/** Names of people in comments: completed after an `@`, and shown as chips. Pure. */
import type { CommentThread, Peer, Person } from '../../wire/generated.ts'

/** Most names that are offered at once. */
const MOST_OFFERED = 6

/** The AI, as one whom a comment can mention: it answers in the thread. */
export const AI: Person = { id: 'ai', name: 'AI' }

/** People who are here, or have written a comment; each once, the person who writes left out. */
export function knownPeople(
  peers: readonly Pick<Peer, 'user' | 'name'>[],
  threads: readonly CommentThread[],
  others: readonly Person[],
  me: string | undefined,
): Person[] {
  const comments = threads.flatMap(({ comments }) => comments)
  const authors = comments.flatMap(({ author }) => (author.ai ? [] : [author]))
  const here = peers.map(({ user, name }) => ({ id: user, name }))
  const all = [...here, ...authors, ...others].filter(({ id, name }) => id !== me && name !== '')
  return [...new Map(all.toReversed().map((person) => [person.id, person])).values()].toSorted(
    (a, b) => a.name.localeCompare(b.name),
  )
}

export interface Completion {
  /** Position of the `@`. */
  from: number
  people: Person[]
}

/** The people whose names go on as the word before the caret does, after an `@`. */
export function complete(
  text: string,
  caret: number,
  people: readonly Person[],
): Completion | null {
  const from = text.lastIndexOf('@', caret - 1)
  if (from < 0 || caret <= from || /[\p{L}\p{N}]/u.test(text[from - 1] ?? ' ')) return null
  const typed = text.slice(from + 1, caret).toLowerCase()
  if (typed.includes('\n') || typed.length > 60) return null
  const goesOn = ({ name }: Person) =>
    name.toLowerCase().startsWith(typed) ||
    name
      .toLowerCase()
      .split(' ')
      .some((part) => typed !== '' && part.startsWith(typed))
  const found = people.filter(goesOn).slice(0, MOST_OFFERED)
  const isWhole = found.length === 1 && found[0]!.name.toLowerCase() === typed
  return found.length > 0 && !isWhole ? { from, people: found } : null
}

export interface Piece {
  text: string
  /** Set for a mention. */
  person?: Person
}

/** A text in pieces, with the names of people after an `@` as pieces of their own. */
export function pieces(text: string, people: readonly Person[]): Piece[] {
  const longest = people.toSorted((a, b) => b.name.length - a.name.length)
  const found: Piece[] = []
  let plain = ''
  for (let at = 0; at < text.length;) {
    const person =
      text[at] === '@' && !/[\p{L}\p{N}]/u.test(text[at - 1] ?? ' ')
        ? longest.find((one) => isNamed(text, at + 1, one))
        : undefined
    if (person) {
      if (plain !== '') found.push({ text: plain })
      plain = ''
      found.push({ text: text.slice(at, at + 1 + person.name.length), person })
    } else plain += text[at]
    at += person ? person.name.length + 1 : 1
  }
  return plain === '' ? found : [...found, { text: plain }]
}

/** The name stands there, and no longer word; that of the AI in small letters, too. */
function isNamed(text: string, at: number, { id, name }: Person): boolean {
  const there = text.slice(at, at + name.length)
  const isName = there === name || (id === AI.id && there.toUpperCase() === name)
  return isName && !/[\p{L}\p{N}]/u.test(text[at + name.length] ?? ' ')
}

/**
 * The people whom a text names: of several with one name those who were picked, and none where
 * that is not known.
 */
export function mentionsIn(
  text: string,
  people: readonly Person[],
  picked: readonly string[],
): string[] {
  const names = new Set(pieces(text, people).flatMap(({ person }) => person?.name ?? []))
  return [...names].flatMap((name) => {
    const same = people.filter((person) => person.name === name).map(({ id }) => id)
    return same.length === 1 ? same : same.filter((id) => picked.includes(id))
  })
}
