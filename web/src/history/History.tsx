/** Version history: the steps that made the text, each to look at and to go back to. */
import { useEffect, useState } from 'react'
import { Button } from '../ui/Button.tsx'
import { useOpenDocument } from '../document/useOpenDocument.ts'
import { attempt } from '../session/attempt.ts'
import { useSession, wire } from '../session/store.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { namesIn, type Step, titleOf, wordsIn } from './steps.ts'
import { useHistory } from './readHistory.ts'
import { canWrite } from '../session/roles.ts'
import { Version } from './Version.tsx'
import { timeOf, restore } from './restore.ts'
import './History.css'

export function History({ id, onClose }: { id: string; onClose: () => void }) {
  const { steps, isMore, problem, readMore } = useHistory(id)
  const [chosen, setChosen] = useState<number | null>(null)
  const step = steps.find(({ to }) => to === chosen) ?? steps[0]
  const newest = steps[0]?.to
  return (
    <Dialog
      title="Version history"
      onClose={onClose}
      className={step ? 'history' : ''}
      foot={step && <Foot id={id} step={step} isNow={step.to === newest} onClose={onClose} />}
    >
      {problem && <p className="warn-note">{problem}</p>}
      {!problem && steps.length === 0 && <p>Nothing has changed since the document was created.</p>}
      {step && (
        <div className="history-body">
          <ol className="steps" aria-label="Versions">
            {steps.map((one) => (
              <li key={one.to}>
                <StepLine
                  id={id}
                  step={one}
                  isNow={one.to === newest}
                  isChosen={one === step}
                  onChoose={() => setChosen(one.to)}
                />
              </li>
            ))}
            {isMore && (
              <li>
                <Button onClick={readMore}>Earlier versions</Button>
              </li>
            )}
          </ol>
          <Version id={id} step={step} isNow={step.to === newest} />
        </div>
      )}
    </Dialog>
  )
}

interface LineProps {
  id: string
  step: Step
  isNow: boolean
  isChosen: boolean
  onChoose: () => void
}

function StepLine({ id, step, isNow, isChosen, onChoose }: LineProps) {
  const changed = useChanged(id, step)
  return (
    <button
      type="button"
      className={`step is-${step.act}`}
      aria-current={isChosen ? 'true' : undefined}
      onClick={onChoose}
    >
      <b>{isNow ? `Now · ${timeOf(step)}` : timeOf(step)}</b>
      <span>{titleOf(step)}</span>
      <span className="step-who">{[namesIn(step), changed].filter(Boolean).join(' · ')}</span>
    </button>
  )
}

/** "+29 −25 words", once it is known. */
function useChanged(id: string, step: Step): string {
  const [changed, setChanged] = useState('')
  const { from, to } = step
  useEffect(() => {
    let gone = false
    const compared = wire.call('document:compare', { documentId: id, from, to })
    void attempt(compared, () => undefined).then((found) => {
      if (gone || !found) return
      const { added, removed } = wordsIn(found.parts)
      const counts = [added > 0 && `+${added}`, removed > 0 && `−${removed}`].filter(Boolean)
      setChanged(
        counts.length === 0
          ? ''
          : `${counts.join(' ')} ${added + removed === 1 ? 'word' : 'words'}`,
      )
    })
    return () => void (gone = true)
  }, [id, from, to])
  return changed
}

interface Props {
  id: string
  step: Step
  isNow: boolean
  onClose: () => void
}

function Foot({ id, step, isNow, onClose }: Props) {
  const role = useOpenDocument((document) => document.role)
  const online = useSession((session) => session.link === 'online')
  return (
    <>
      {canWrite(role) && (
        <Button
          look="primary"
          disabled={isNow || !online}
          onClick={() => void restore(id, step).then((done) => done && onClose())}
        >
          Restore this version
        </Button>
      )}
      <Button onClick={onClose}>Close</Button>
    </>
  )
}
