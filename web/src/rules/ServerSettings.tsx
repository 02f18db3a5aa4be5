/** In the review settings, for owners: what holds in every document that says nothing itself. */
import { useState } from 'react'
import { MODES } from '../chat/modes.ts'
import { configureServer, timeLimits } from '../review/actions/settings.ts'
import { useSession } from '../session/store.ts'
import { Choice } from '../ui/Choice.tsx'
import { Problem } from '../ui/Problem.tsx'
import { Setting } from '../ui/Setting.tsx'
import type { SetSettings } from '../wire/generated.ts'

export function ServerSettings() {
  const me = useSession((session) => session.me)
  const online = useSession((session) => session.link === 'online')
  const [refusal, setRefusal] = useState<string | null>(null)
  if (me?.role !== 'owner') return null
  const { settings } = me
  const set = (wish: SetSettings) => void configureServer(wish).then(setRefusal)
  const modes = MODES.filter(({ mode }) => me.permission_modes.includes(mode))
  return (
    <fieldset disabled={!online}>
      <legend>Server defaults</legend>
      <Setting
        name="Require approval everywhere"
        what="If off, AI edits apply at once in every document, and at the desk. Everybody is told."
        checked={settings.approvals === 'on'}
        onChange={(on) => set({ approvals: on ? 'on' : 'off' })}
      />
      <label className="setting-row">
        <span>Time limit</span>
        <Choice
          value={settings.documentTimeoutSeconds}
          options={timeLimits(settings.documentTimeoutSeconds)}
          onChoose={(timeoutSeconds) => set({ timeoutSeconds })}
        />
      </label>
      {settings.documentTimeoutSeconds === 0 && settings.timeoutSeconds > 0 && (
        <p className="rule-note">
          Requests without a document, and those of outside programs, expire after{' '}
          {Math.ceil(settings.timeoutSeconds / 60)} minutes.
        </p>
      )}
      <label className="setting-row">
        <span>Default mode</span>
        <Choice
          value={settings.permission_mode}
          options={modes.map(({ mode, name }) => [mode, name] as const)}
          onChoose={(mode) => set({ permission_mode: mode })}
        />
      </label>
      <Problem words={refusal} />
    </fieldset>
  )
}
