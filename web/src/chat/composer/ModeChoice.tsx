/**
 * The choice of how calls of the next question are approved; absent when there is nothing to
 * choose.
 */
import { useSession } from '../../session/store.ts'
import { Choice } from '../../ui/Choice.tsx'
import { chooseMode, MODES, useMode } from '../modes.ts'

export function ModeChoice() {
  const me = useSession((session) => session.me)
  const chosen = useMode((mode) => mode.chosen)
  const offered = MODES.filter(({ mode }) => me?.permission_modes.includes(mode))
  if (me === null || offered.length < 2) return null
  const value =
    offered.find(({ mode }) => mode === chosen) ??
    offered.find(({ mode }) => mode === me.permission_mode) ??
    offered[0]!
  return (
    <Choice
      className={`model mode is-${value.mode}`}
      label="Approvals"
      title={value.what}
      value={value.mode}
      options={offered.map(({ mode, name }) => [mode, name] as const)}
      onChoose={(mode) => chooseMode(mode, me.permission_mode)}
    />
  )
}
