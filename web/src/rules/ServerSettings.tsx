/** In the review settings, for owners: what holds in every document that says nothing itself. */
import { useEffect, useState } from 'react'
import { timeLimits } from '../review/settings.ts'
import { useSession, wire } from '../session/store.ts'
import { CallError } from '../wire/socket.ts'
import type { ServerSettings as Settings } from '../wire/types.ts'

export function ServerSettings() {
  const online = useSession((session) => session.link === 'online')
  const [settings, setSettings] = useState<Settings | null>(null)
  const [refusal, setRefusal] = useState<string | null>(null)
  const take = async (asked: Promise<{ settings: Settings }>) => {
    try {
      setSettings((await asked).settings)
      setRefusal(null)
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      setRefusal(error.message)
    }
  }
  useEffect(() => {
    if (online) void take(wire.call('settings:get', {}))
  }, [online])
  const set = (wish: Partial<Pick<Settings, 'approvals' | 'timeoutSeconds'>>) => void take(wire.call('settings:set', wish))
  if (!settings) return refusal ? <p className="warn-note" role="alert">{refusal}</p> : null
  return (
    <fieldset disabled={!online}>
      <legend>On this server, where a document says nothing itself</legend>
      <label className="setting">
        <input type="checkbox" checked={settings.approvals === 'on'} onChange={(event) => set({ approvals: event.currentTarget.checked ? 'on' : 'off' })} />
        <span><b>Ask people first, everywhere</b><span>Off: what the AI proposes in any document, and at the desk, is applied at once.</span></span>
      </label>
      <label className="setting-row">
        <span>Time to decide, everywhere</span>
        <select className="field" value={settings.timeoutSeconds} onChange={(event) => set({ timeoutSeconds: Number(event.currentTarget.value) })}>
          {timeLimits(settings.timeoutSeconds).map(({ seconds, name }) => <option key={seconds} value={seconds}>{name}</option>)}
        </select>
      </label>
      <p className="setting-row"><span>New runs start in mode</span> <code>{settings.permission_mode}</code></p>
      {refusal && <p className="warn-note" role="alert">{refusal}</p>}
    </fieldset>
  )
}
