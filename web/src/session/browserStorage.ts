/** Small values that this browser keeps. It may refuse, by its settings or for lack of room. */

/** Returns a kept value; `null` if there is none, or nothing can be read. */
export function readKept(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

/** Keeps a value; `null` removes it. Where that is refused, it lasts as long as the page. */
export function keep(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key)
    else localStorage.setItem(key, value)
  } catch {
    // The page goes on with what it has.
  }
}
