/** The text of one version, with its differences. */
import { type Step, type VersionPiece, woven } from './steps.ts'
import { useState, useEffect } from 'react'
import { wire } from '../session/store.ts'
import { attempt } from '../session/attempt.ts'
import './Version.css'

type Against = 'now' | 'before'

export function Version({ id, step, isNow }: { id: string; step: Step; isNow: boolean }) {
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
    void attempt(Promise.all([text, compared]), () => undefined).then(
      (both) => both && !gone && setPieces(woven(both[0].text, both[1].parts)),
    )
    return () => void (gone = true)
  }, [id, from, to, against])
  return pieces
}
