/** Informs the server that a person is looking at a request, so that its countdown stands still. */
import { useEffect } from 'react'
import { useSession, wire } from '../../session/store.ts'

const BEAT_MS = 8_000
/** Time without any input after which a person does not count as looking any more. */
const AWAY_MS = 90_000

let lastSign = Date.now()
for (const event of ['pointermove', 'keydown', 'wheel', 'touchstart'])
  window.addEventListener(event, () => (lastSign = Date.now()), { passive: true })

export function useFocusHeartbeat(requestId: string | null, mayDecide: boolean): void {
  const online = useSession((session) => session.link === 'online')
  useEffect(() => {
    if (requestId === null || !mayDecide || !online) return
    const say = (on: boolean) =>
      void wire.call('approval:focus', { request_id: requestId, on }).catch(() => undefined)
    let looking = false
    const beat = () => {
      const here = document.visibilityState === 'visible' && Date.now() - lastSign < AWAY_MS
      if (here || looking) say(here)
      looking = here
    }
    beat()
    const timer = setInterval(beat, BEAT_MS)
    document.addEventListener('visibilitychange', beat)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', beat)
      if (looking && wire.connected) say(false)
    }
  }, [requestId, mayDecide, online])
}
