/** The input of a call, field by field, to be changed before it runs. */
import { useState } from 'react'
import { Form } from '../ui/Form.tsx'
import { Button } from '../ui/Button.tsx'
import { useBusy } from '../review/stores/busy.ts'
import { useInboxDrafts, writeDraft } from '../review/stores/drafts.ts'
import { feedbackOnEdit } from '../review/state/modelFeedback.ts'
import { ModelFeedback } from '../review/views/cards/ModelFeedback.tsx'
import { useSession } from '../session/store.ts'
import type { CardProps } from './cardProps.ts'
import { decideRequest } from './state/decide.ts'
import { type Field, fieldsOf, inputOf } from '../ui/visibleText.ts'
import { draftOf } from '../review/state/drafts.ts'
import { Line } from './InputLine.tsx'
import './EditInput.css'

export function EditInput({ request, scope, onClose }: CardProps & { onClose: () => void }) {
  const written = useInboxDrafts((drafts) => drafts.written)
  // Switches hold no words that could be lost.
  const [flipped, setFlipped] = useState<Readonly<Record<string, string>>>({})
  const busy = useBusy(({ ids }) => ids.has(request.request_id))
  const offline = useSession((session) => session.link !== 'online')
  const proposed = fieldsOf(request.tool_input)
  const nameOf = (field: Field) => draftOf(request.request_id, 'input', field.name)
  const fields = proposed.map((field) => ({
    ...field,
    text: (field.kind === 'switch' ? flipped[field.name] : written[nameOf(field)]) ?? field.text,
  }))
  const input = parsed(fields)
  const change = (field: Field, text: string) => {
    if (field.kind === 'switch') setFlipped({ ...flipped, [field.name]: text })
    else
      writeDraft(
        nameOf(field),
        proposed.some((as) => as.name === field.name && as.text === text) ? null : text,
        useInboxDrafts,
      )
  }
  const forget = () => {
    proposed.forEach((field) => writeDraft(nameOf(field), null, useInboxDrafts))
    onClose()
  }
  const decision = { decision: 'edit' as const, updated_input: input }
  const off = busy || offline || input === undefined
  const send = () => {
    if (!off) void decideRequest(request, decision).then((done) => done && forget())
  }
  return (
    <Form
      className="inbox-form"
      onSubmit={send}
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send()
        if (event.key !== 'Escape') return
        // The desk stays open; the words are there when one comes back.
        event.preventDefault()
        onClose()
      }}
    >
      {fields.map((field, index) => (
        <Line
          key={field.name}
          field={field}
          first={index === 0}
          onChange={(text) => change(field, text)}
        />
      ))}
      {input === undefined ? (
        <p className="warn-note" role="alert">
          One of the fields is not valid JSON.
        </p>
      ) : (
        <ModelFeedback
          response={{ request_id: request.request_id, ...decision }}
          otherwise={feedbackOnEdit(input)}
        />
      )}
      <div className="hunk-actions">
        <Button
          look="accept"
          data-decides=""
          type="submit"
          disabled={off}
          aria-label={`Run as edited: ${scope}`}
        >
          Run as edited
        </Button>
        <Button look="quiet" onClick={forget}>
          Cancel
        </Button>
      </div>
    </Form>
  )
}

/** `undefined`: a field is not JSON. */
function parsed(fields: readonly Field[]): unknown {
  try {
    return inputOf(fields)
  } catch {
    return undefined
  }
}
