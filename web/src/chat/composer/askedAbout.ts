/**
 * Passages that the questions of this tab were about, by run: for asking once more, also after a
 * reload.
 */
import type { AskSelection } from '../../wire/generated.ts'

type Selection = Required<AskSelection>

const KEY = 'copydesk:asked-about'
/** Older questions are not asked once more. */
const MOST = 10

let known: [string, Selection][] | null = null

const all = (): [string, Selection][] => (known ??= stored())

function stored(): [string, Selection][] {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '[]')
    return Array.isArray(found) ? (found as [string, Selection][]) : []
  } catch {
    return []
  }
}

export function rememberAsked(run: string, selection: Selection): void {
  known = [...all(), [run, selection] as [string, Selection]].slice(-MOST)
  try {
    sessionStorage.setItem(KEY, JSON.stringify(known))
  } catch {
    // Too long to keep, or nothing may be kept: it lasts until the page is left.
  }
}

export const askedAbout = (run: string): Selection | undefined =>
  all().find(([id]) => id === run)?.[1]
