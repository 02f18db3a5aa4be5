/** Times as people say them. */
const MINUTE = 60_000

/** "just now", "5 min ago", "14:02", "3 Nov". */
export function timeAgo(at: string, now: number): string {
  const then = Date.parse(at)
  if (Number.isNaN(then)) return ''
  const passed = now - then
  if (passed < MINUTE) return 'just now'
  if (passed < 60 * MINUTE) return `${Math.floor(passed / MINUTE)} min ago`
  const date = new Date(then)
  if (date.toDateString() === new Date(now).toDateString())
    return date.toLocaleTimeString([], { hour: 'numeric', minute: '2-digit' })
  return date.toLocaleDateString([], { day: 'numeric', month: 'short' })
}

/** "14:02", or with the day if it was another one. */
export function clockTime(at: string, now = Date.now()): string {
  const date = new Date(at)
  const time = date.toLocaleTimeString([], { hour: 'numeric', minute: '2-digit' })
  if (date.toDateString() === new Date(now).toDateString()) return time
  return `${time} on ${date.toLocaleDateString([], { day: 'numeric', month: 'short' })}`
}

/** "4 min", "0:42". */
export function timeSpan(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  if (seconds > 90) return `${Math.round(seconds / 60)} min`
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** "4 min left", "0:42 left". */
export function timeLeft(ms: number): string {
  return `${timeSpan(ms)} left`
}

/** "1 change", "7 changes". */
export function plural(count: number, noun: string, several = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : several}`
}

/** "numbers, names or links" */
export function listed(words: readonly string[], last: 'and' | 'or'): string {
  return [words.slice(0, -1).join(', '), words.at(-1)].filter(Boolean).join(` ${last} `)
}
