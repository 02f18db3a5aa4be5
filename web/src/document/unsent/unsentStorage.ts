/**
 * Keeps unsent words on this device until they are offered back: in IndexedDB while the page lives,
 * in `localStorage` in the moment in which it goes, when nothing else is written any more.
 */
import { newId, type UnsentEdit, withoutPlace } from './unsentEdit.ts'

/** The unsent edits of one document that one page holds. */
export interface KeptEdits {
  documentId: string
  page: string
  /** Time in milliseconds since 1970. */
  savedAt: number
  edits: readonly UnsentEdit[]
}

const KEY = 'copydesk:unsent:'
/** Separates a document from the page that holds its words. */
const OF_PAGE = '#'

/** This page, until it is loaded anew. */
export const PAGE = newId()

const keyOf = ({ documentId, page }: Pick<KeptEdits, 'documentId' | 'page'>): string =>
  `${KEY}${documentId}${OF_PAGE}${page}`

/** Keeps what a page holds, in the place of what it kept before. Works while the page goes. */
export function keepAtOnce(storage: Storage, kept: KeptEdits): void {
  if (kept.edits.length === 0) storage.removeItem(keyOf(kept))
  else storage.setItem(keyOf(kept), JSON.stringify(kept))
}

/** The entries of `localStorage`, of all documents. */
export function keptAtOnce(storage: Storage): KeptEdits[] {
  const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '')
  return keys
    .filter((key) => key.startsWith(KEY))
    .flatMap((key) => read(storage.getItem(key), key.slice(KEY.length)))
}

/** Older pages kept the words alone. */
function read(json: string | null, name: string): KeptEdits[] {
  const [documentId = '', page = ''] = name.split(OF_PAGE)
  try {
    const found: unknown = JSON.parse(json ?? '')
    if (Array.isArray(found)) {
      const words = found.filter((it) => typeof it === 'string')
      const edits = words.map((text, index) => withoutPlace(text, `${name} ${index}`))
      return edits.length > 0 ? [{ documentId, page, savedAt: 0, edits }] : []
    }
    return isKept(found) ? [found] : []
  } catch {
    return []
  }
}

function isKept(found: unknown): found is KeptEdits {
  const { documentId, page, savedAt, edits } = (found ?? {}) as Partial<KeptEdits>
  return (
    typeof documentId === 'string' &&
    typeof page === 'string' &&
    typeof savedAt === 'number' &&
    Array.isArray(edits) &&
    edits.every(
      (edit: Partial<UnsentEdit> | null) =>
        typeof edit?.id === 'string' && Array.isArray(edit.places),
    )
  )
}

/** Of what is kept twice the newer, and each edit once. Pure. */
export function merged(all: readonly KeptEdits[]): KeptEdits[] {
  const newest = new Map<string, KeptEdits>()
  for (const kept of all.toSorted((a, b) => a.savedAt - b.savedAt)) newest.set(keyOf(kept), kept)
  const seen = new Set<string>()
  const isNew = ({ id }: UnsentEdit) => !seen.has(id) && seen.add(id) !== undefined
  return [...newest.values()].map((kept) => ({ ...kept, edits: kept.edits.filter(isNew) }))
}

const STORE = 'unsent'
let opened: Promise<IDBDatabase> | undefined

function database(): Promise<IDBDatabase> {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open('copydesk', 1)
    request.onupgradeneeded = () => request.result.createObjectStore(STORE)
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error ?? new Error('IndexedDB cannot be opened'))
  })
  opened.catch(() => (opened = undefined))
  return opened
}

/** One transaction; done once it is on disk. */
async function inStore(
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => { result: unknown },
): Promise<unknown> {
  const transaction = (await database()).transaction(STORE, mode)
  const request = act(transaction.objectStore(STORE))
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(request.result)
    transaction.onabort = () => reject(transaction.error ?? new Error('IndexedDB gave up'))
  })
}

/** Keeps what a page holds, in the place of what it kept before. */
export async function keep(kept: KeptEdits): Promise<void> {
  await inStore('readwrite', (store) =>
    kept.edits.length === 0 ? store.delete(keyOf(kept)) : store.put(kept, keyOf(kept)),
  )
}

/** Pages that live: what they hold they send themselves. */
async function livePages(): Promise<ReadonlySet<string>> {
  // Browsers have no locks on a page that came over plain HTTP from another machine.
  const locks = navigator.locks as LockManager | undefined
  const { held = [] } = (await locks?.query()) ?? {}
  return new Set(held.map(({ name }) => name ?? ''))
}

let isHeld = false

/** Says to other pages that this one lives, until it is gone. */
export function holdPage(): void {
  if (isHeld) return
  isHeld = true
  const locks = navigator.locks as LockManager | undefined
  void locks?.request(KEY + PAGE, () => new Promise(() => undefined)).catch(() => undefined)
}

/** All that is kept and that no other living page holds. */
export async function allKept(storage: Storage): Promise<KeptEdits[]> {
  const stored = await inStore('readonly', (store) => store.getAll()).catch(() => [])
  const live = await livePages().catch(() => new Set<string>())
  return merged([...(stored as unknown[]).filter(isKept), ...keptAtOnce(storage)]).filter(
    ({ page }) => page === PAGE || !live.has(KEY + page),
  )
}

/** Forgets it: it was taken, or thrown away. */
export async function forget(storage: Storage, all: readonly KeptEdits[]): Promise<void> {
  for (const kept of all) {
    storage.removeItem(keyOf(kept))
    if (!kept.page) storage.removeItem(KEY + kept.documentId)
    await keep({ ...kept, edits: [] }).catch(() => undefined)
  }
}
