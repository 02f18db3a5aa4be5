/** Which model is asked. */
import { create } from 'zustand'
import { useSession } from '../../session/store.ts'
import type { ModelAccess } from '../../wire/generated.ts'

const KEY = 'copydesk:model'

/** The model of this tab; null for the server's default. */
export const useModel = create<{ chosen: string | null }>()(() => ({
  chosen: sessionStorage.getItem(KEY),
}))

export function choose(name: string | null): void {
  if (name === null) sessionStorage.removeItem(KEY)
  else sessionStorage.setItem(KEY, name)
  useModel.setState({ chosen: name })
}

/**
 * The model to send along with a question: nothing if the default is meant, or if the server has no
 * such model any more.
 */
export function chosenModel(): string | undefined {
  const { chosen } = useModel.getState()
  return chosen !== null && useSession.getState().me?.models.includes(chosen) ? chosen : undefined
}

/** Returns whether a document may be shown to a model; the server has the last word. */
export function maySee(
  name: string,
  access: ModelAccess | undefined,
  local: readonly string[],
): boolean {
  switch (access?.allow) {
    case 'local':
      return local.includes(name)
    case 'named':
      return access.names?.includes(name) ?? false
    default:
      return true
  }
}
