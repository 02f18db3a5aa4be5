/** Changes of meaning that were accepted fast, each with the way back. */
import { Dialog } from '../../ui/Dialog.tsx'
import type { Accept } from '../state/streak.ts'
import type { Hunk } from '../../wire/generated.ts'
import { usePanel } from '../stores/panel.ts'
import { useRequests } from '../stores/requests.ts'
import { DecidedHunkRow } from './cards/DecidedHunks.tsx'

const close = () => usePanel.setState({ again: null })

/** `of`: the changes as they were when they were accepted. */
export function LookAgainDialog({ of }: { of: readonly Accept[] }) {
  const requests = useRequests((state) => state.requests)
  const now = ({ id, request_id }: Hunk) =>
    requests[request_id]?.hunks.find((hunk) => hunk.id === id)
  return (
    <Dialog title="Accepted changes of meaning" onClose={close}>
      <ol aria-label="Accepted changes of meaning">
        {of.map(({ hunk, pieces }) => (
          <DecidedHunkRow key={hunk.id} hunk={now(hunk) ?? hunk} pieces={pieces} single />
        ))}
      </ol>
    </Dialog>
  )
}
