/** The name of the tab and its icon: they say how many changes wait, and for whom. */
import { useEffect } from 'react'
import { useMentionCount } from '../session/mentions.ts'

export interface Waiting {
  /** Number of changes that we may decide, and have not approved yet. */
  mine: number
  all: number
}

/** "7", or "3 of 7" where the others wait for other people. */
const count = ({ mine, all }: Waiting): string => (mine === all ? `${all}` : `${mine} of ${all}`)

/** "(7) Name", and "(7, @2) Name" with two mentions of us that we have not read. */
export const tabTitle = (name: string, waiting: Waiting, mentions = 0): string => {
  const whole = name === '' ? 'Copydesk' : `${name} · Copydesk`
  const counts = [
    ...(waiting.all > 0 ? [count(waiting)] : []),
    ...(mentions > 0 ? [`@${mentions}`] : []),
  ]
  return counts.length > 0 ? `(${counts.join(', ')}) ${whole}` : whole
}

/** "7 to review", "3 of 7 to review", "7 for others to review". */
export function waitingWords({ mine, all }: Waiting): string {
  return mine === 0 ? `${all} for others to review` : `${count({ mine, all })} to review`
}

/** The icon of the tab: full while something waits for us, pale while it waits for others. */
export const tabIcon = ({ mine, all }: Waiting): string =>
  mine > 0 ? '/favicon-waiting.svg' : all > 0 ? '/favicon-others.svg' : '/favicon.svg'

/** `name` is empty for a page that is not about one document. */
export function useTabTitle(name: string, { mine, all }: Waiting): void {
  const mentions = useMentionCount()
  useEffect(() => {
    document.title = tabTitle(name, { mine, all }, mentions)
    const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')
    const wanted = tabIcon({ mine, all })
    if (icon && icon.getAttribute('href') !== wanted) icon.setAttribute('href', wanted)
  }, [name, mine, all, mentions])
}
