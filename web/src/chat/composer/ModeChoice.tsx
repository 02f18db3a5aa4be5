/**
 * The choice of how calls of the next question are approved; absent when there is nothing to
 * choose.
 */
import type { PermissionMode } from '../../wire/generated.ts'
import { useSession } from '../../session/store.ts'
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
    <select
      className={`model mode is-${value.mode}`}
      aria-label="Approvals"
      title={value.what}
      value={value.mode}
      onChange={({ currentTarget }) =>
        chooseMode(currentTarget.value as PermissionMode, me.permission_mode)
      }
    >
      {offered.map(({ mode, name }) => (
        <option key={mode} value={mode}>
          {name}
        </option>
      ))}
    </select>
  )
}
