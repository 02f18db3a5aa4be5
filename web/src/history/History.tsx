/** Version history: the steps that made the text, each to look at and to go back to. */
import { useEffect, useState } from 'react'
import { useOpenDocument } from '../document/useOpenDocument.ts'
import { useSession, wire } from '../session/store.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { toast } from '../ui/toasts.ts'
import { CallError } from '../wire/socket.ts'
import { namesIn, type VersionPiece, type Step, titleOf, wordsIn, woven } from './steps.ts'
import { moment } from './wording.ts'
import { useHistory } from './readHistory.ts'
import { canWrite } from '../session/roles.ts'

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
                <Line
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
                <button type="button" className="button" onClick={readMore}>
                  Earlier versions
                </button>
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

function Line({ id, step, isNow, isChosen, onChoose }: LineProps) {
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

/** The time at which a step ended. */
const timeOf = ({ at }: Step): string =>
  at === undefined ? 'First version' : moment(at, Date.now())

/** "+29 −25 words", once it is known. */
function useChanged(id: string, step: Step): string {
  const [changed, setChanged] = useState('')
  const { from, to } = step
  useEffect(() => {
    let gone = false
    wire.call('document:compare', { documentId: id, from, to }).then(({ parts }) => {
      if (gone) return
      const { added, removed } = wordsIn(parts)
      const counts = [added > 0 && `+${added}`, removed > 0 && `−${removed}`].filter(Boolean)
      setChanged(
        counts.length === 0
          ? ''
          : `${counts.join(' ')} ${added + removed === 1 ? 'word' : 'words'}`,
      )
    }, ignoreCall)
    return () => void (gone = true)
  }, [id, from, to])
  return changed
}

type Against = 'now' | 'before'

function Version({ id, step, isNow }: { id: string; step: Step; isNow: boolean }) {
  const [wanted, setAgainst] = useState<Against>('now')
  const against = isNow ? 'before' : wanted
  const pieces = useText(id, step, against)
  return (
    <section className="version" aria-label={`Version ${step.to}`}>
      <div className="version-head" role="group" aria-label="Differences">
        <button
          type="button"
          className="chip"
          aria-pressed={against === 'now'}
          disabled={isNow}
          onClick={() => setAgainst('now')}
        >
          Compare with now
        </button>
        <button
          type="button"
          className="chip"
          aria-pressed={against === 'before'}
          onClick={() => setAgainst('before')}
        >
          What this step changed
        </button>
        <span className="version-key">
          <del>removed</del> <ins>added</ins>
        </span>
      </div>
      <div
        className="version-text"
        tabIndex={0}
        role="document"
        aria-label={`Text of version ${step.to}`}
      >
        {pieces === null
          ? 'Loading…'
          : pieces.map(({ text, is }, at) =>
              is === 'same' ? (
                text
              ) : is === 'gone' ? (
                <del key={at}>{text}</del>
              ) : (
                <ins key={at}>{text}</ins>
              ),
            )}
      </div>
    </section>
  )
}

/** An old text with what is different: in the text now, or as the step found it and left it. */
function useText(id: string, { from, to }: Step, against: Against): readonly VersionPiece[] | null {
  const [pieces, setPieces] = useState<readonly VersionPiece[] | null>(null)
  useEffect(() => {
    let gone = false
    setPieces(null)
    const [base, other] = against === 'now' ? [to, undefined] : [from, to]
    const text = wire.call('document:at', { documentId: id, version: base })
    const compared = wire.call('document:compare', {
      documentId: id,
      from: base,
      ...(other !== undefined && { to: other }),
    })
    Promise.all([text, compared]).then(
      ([{ text }, { parts }]) => !gone && setPieces(woven(text, parts)),
      ignoreCall,
    )
    return () => void (gone = true)
  }, [id, from, to, against])
  return pieces
}

function Foot({
  id,
  step,
  isNow,
  onClose,
}: {
  id: string
  step: Step
  isNow: boolean
  onClose: () => void
}) {
  const role = useOpenDocument((document) => document.role)
  const online = useSession((session) => session.link === 'online')
  return (
    <>
      {canWrite(role) && (
        <button
          type="button"
          className="button is-primary"
          disabled={isNow || !online}
          onClick={() => void restore(id, step).then((done) => done && onClose())}
        >
          Restore this version
        </button>
      )}
      <button type="button" className="button" onClick={onClose}>
        Close
      </button>
    </>
  )
}

/** One update, which is taken back as long as nobody has written since. */
async function restore(documentId: string, step: Step): Promise<boolean> {
  const version = await restoreVersion({ documentId, version: step.to })
  if (version === null) return false
  const what = step.at === undefined ? 'original text' : `version of ${timeOf(step)}`
  const undo = { documentId, version: version - 1, onlyAt: version }
  toast(`Restored the ${what}`, {
    about: 'restored',
    action: { label: 'Undo', run: () => void restoreVersion(undo) },
  })
  return true
}

/** Returns the version that was made, or `null` if people were told why there is none. */
async function restoreVersion(
  payload: Parameters<typeof wire.call<'document:restore'>>[1],
): Promise<number | null> {
  try {
    return (await wire.call('document:restore', payload)).version
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    toast(
      error.code === 'resync'
        ? 'Somebody has written since; the history has every version.'
        : error.message,
      { about: 'restored' },
    )
    return null
  }
}

/** What cannot be asked just now is not shown. */
function ignoreCall(error: unknown): void {
  if (!(error instanceof CallError)) throw error
}
