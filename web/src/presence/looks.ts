/**
 * One look for each person, the same wherever they are shown, after a restart of the server and
 * after a reload of the page. Pure, but for what is kept on this device.
 */

export interface KnownPerson {
  id: string
  name: string
}

/** Numbers of people who can be drawn differently, and of colours. */
const LOOKS = 8
const COLOURS = 4
/** So many people are kept on this device. */
const MOST_KEPT = 200
const KEY = 'copydesk:looks'

/** Two people may share an account: then their names tell them apart. */
export const keyOfPerson = ({ id, name }: KnownPerson): string => `${id} ${name}`

/** FNV-1a of an id: the look of a person wherever no other person has it. */
function preferred(id: string): number {
  const hash = [...id].reduce(
    (sum, sign) => Math.imul(sum ^ sign.codePointAt(0)!, 0x01000193) >>> 0,
    0x811c9dc5,
  )
  return hash % LOOKS
}

/**
 * The looks of people who are shown together. Who has been seen before keeps theirs; of the others
 * each has the one of their id, or the next one in a colour that is free.
 */
export function assignLooks(
  people: readonly KnownPerson[],
  known: ReadonlyMap<string, number>,
): Map<string, number> {
  const looks = new Map<string, number>()
  const order = (person: KnownPerson) => (known.has(keyOfPerson(person)) ? 0 : 1)
  const sorted = people.toSorted(
    (a, b) => order(a) - order(b) || (keyOfPerson(a) < keyOfPerson(b) ? -1 : 1),
  )
  for (const person of sorted) {
    const key = keyOfPerson(person)
    if (looks.has(key)) continue
    const wanted = known.get(key) ?? preferred(person.id)
    const all = Array.from({ length: LOOKS }, (_, step) => (wanted + step) % LOOKS)
    const taken = [...looks.values()]
    const free =
      all.find((look) => taken.every((other) => colourOf(other) !== colourOf(look))) ??
      all.find((look) => !taken.includes(look))
    looks.set(key, free ?? wanted)
  }
  return looks
}

export const colourOf = (look: number): number => look % COLOURS

/** Of people who are shown together; kept on this device. */
export function looksOf(
  people: readonly KnownPerson[],
  storage = localStorage,
): Map<string, number> {
  const known = read(storage)
  const looks = assignLooks(people, known)
  if ([...looks].some(([key, look]) => known.get(key) !== look)) {
    const kept = [...new Map([...known, ...looks])].slice(-MOST_KEPT)
    try {
      storage.setItem(KEY, JSON.stringify(kept))
    } catch {
      // Without room they are worked out anew each time.
    }
  }
  return looks
}

function read(storage: Storage): Map<string, number> {
  try {
    const found: unknown = JSON.parse(storage.getItem(KEY) ?? '[]')
    const isPair = (it: unknown): it is [string, number] =>
      Array.isArray(it) && typeof it[0] === 'string' && Number.isInteger(it[1])
    return new Map(Array.isArray(found) ? found.filter(isPair) : [])
  } catch {
    return new Map()
  }
}
