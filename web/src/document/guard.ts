/** Keeps what the server has not got, so that neither a crash nor a closed tab takes it away. */
import { useOpenDocument } from './useOpenDocument.ts'
import { openDocument } from './openDocument.ts'
import { suggestedIn } from './suggesting/field.ts'
import { arrived, isSuggested, newId, type UnsentEdit } from './unsent/unsentEdit.ts'
import {
  allKept,
  forget,
  holdPage,
  keep,
  keepAtOnce,
  type KeptEdits,
  PAGE,
} from './unsent/unsentStorage.ts'

const KEEP_EVERY_MS = 1_000

/** Documents of which this page has kept something. */
const stored = new Set<string>()

/** Stores in `localStorage` where IndexedDB cannot be written. */
function store(kept: KeptEdits): Promise<void> {
  if (kept.edits.length > 0) stored.add(kept.documentId)
  else stored.delete(kept.documentId)
  return keep(kept).catch(() => storeAtOnce(kept))
}

function storeAtOnce(kept: KeptEdits): void {
  try {
    keepAtOnce(localStorage, kept)
  } catch {
    // There is no room, or it is not allowed: the question before closing is left.
  }
}

/** Keeps what was typed in the last moment for the next visit, if it could not be sent. */
export function keepLastWords(
  documentId: string,
  unsent: UnsentEdit | null,
  sent: Promise<unknown> | null,
): void {
  const savedAt = Date.now()
  // Of no page: the next one to open the document is offered it.
  const keepIt = () =>
    unsent && keepAtOnce(localStorage, { documentId, page: newId(), savedAt, edits: [unsent] })
  if (!sent) return void keepIt()
  sent.catch(keepIt)
}

/** Takes what other visits left of a document, and has it kept by this page from now on. */
export async function takeKept(documentId: string): Promise<void> {
  const left = (await allKept(localStorage)).filter((kept) => kept.documentId === documentId)
  const edits = await notArrived(left.flatMap((kept) => kept.edits))
  const shown = useOpenDocument.getState()
  if (left.length === 0 || shown.id !== documentId) return
  const recovered = [...shown.recovered, ...edits]
  const taken: KeptEdits = { documentId, page: PAGE, savedAt: Date.now(), edits: recovered }
  // First kept under the name of this page, then forgotten under those of others.
  await store(taken)
  await forget(
    localStorage,
    left.filter(({ page }) => page !== PAGE),
  )
  useOpenDocument.setState(({ recovered: now }) => ({ recovered: [...now, ...edits] }))
}

/** Without those that the server has after all: its answer was not heard any more. */
async function notArrived(edits: readonly UnsentEdit[]): Promise<UnsentEdit[]> {
  const has = async (edit: UnsentEdit) => {
    if (edit.suggested) return isSuggested(edit, await suggestedText())
    const since = edit.base && (await openDocument()?.updatesSince(edit.base.version))
    return since ? arrived(edit, since) === 'all' : false
  }
  const known = await Promise.all(edits.map((edit) => has(edit).catch(() => false)))
  return edits.filter((_, index) => !known[index])
}

const LOOK_MS = 50
const MOST_LOOKS = 100

/** The text with one's suggestion, once it is there; without one it is not known. */
async function suggestedText(): Promise<string> {
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    const view = openDocument()?.view
    if (view && suggestedIn(view.state)) return view.state.doc.toString()
    if (useOpenDocument.getState().mode !== 'suggesting') break
    await new Promise((resume) => setTimeout(resume, LOOK_MS))
  }
  return ''
}

/**
 * While there is something that was not sent, it is kept on this device each second, and at once
 * when the page is hidden or left; and the browser asks before it closes the tab.
 */
export function guardUnsent(documentId: string, unsent: () => UnsentEdit | null): () => void {
  const held = (): UnsentEdit[] => {
    const typed = unsent()
    // What was offered back and not taken is still theirs.
    return [...(typed ? [typed] : []), ...useOpenDocument.getState().recovered]
  }
  const kept = (edits: readonly UnsentEdit[]): KeptEdits => ({
    documentId,
    page: PAGE,
    savedAt: Date.now(),
    edits,
  })
  const atOnce = (edits: readonly UnsentEdit[]) => storeAtOnce(kept(edits))
  let last = ''
  const eachSecond = () => {
    const edits = held()
    const now = JSON.stringify(edits)
    if (now === last) return
    last = now
    void store(kept(edits))
  }
  const warn = (event: BeforeUnloadEvent) => unsent() !== null && event.preventDefault()
  const leave = () => atOnce(held())
  const look = () => atOnce(document.hidden ? held() : [])
  let timer: ReturnType<typeof setInterval> | undefined
  const follow = () => {
    const { saved, recovered } = useOpenDocument.getState()
    const isUnsent = saved !== 'saved' || recovered.length > 0
    if (isUnsent) timer ??= setInterval(eachSecond, KEEP_EVERY_MS)
    else if (timer !== undefined) {
      clearInterval(timer)
      timer = undefined
      if (stored.has(documentId)) eachSecond()
      look()
    }
  }
  holdPage()
  const stop = useOpenDocument.subscribe(follow)
  follow()
  const listening = new AbortController()
  const { signal } = listening
  window.addEventListener('beforeunload', warn, { signal })
  window.addEventListener('pagehide', leave, { signal })
  document.addEventListener('visibilitychange', look, { signal })
  return () => {
    stop()
    listening.abort()
    clearInterval(timer)
    // What was typed goes out now, or is kept as of no page; the rest is for the next visit.
    const { recovered } = useOpenDocument.getState()
    if (stored.has(documentId) || recovered.length > 0) void store(kept(recovered))
  }
}
