/** Waiting until the server has everything that was typed: only then its positions are ours. */
import { openDocument } from './openDocument.ts'

const SETTLE_MS = 3_000

/** `false`: not in time. */
export async function allSent(): Promise<boolean> {
  const until = Date.now() + SETTLE_MS
  while (openDocument()?.settled === false && Date.now() < until)
    await new Promise((resume) => setTimeout(resume, 30))
  return openDocument()?.settled ?? false
}
