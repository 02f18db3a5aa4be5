/** The input of a call, field by field, to be changed before it runs. */
import { useState } from 'react'
import type { ApprovalRequest } from '../wire/types.ts'
import { settle } from './settle.ts'
import { type Field, fieldsOf, inputOf } from './shown.ts'

export function EditInput({ request, onClose }: { request: ApprovalRequest; onClose: () => void }) {
  const [fields, setFields] = useState(() => fieldsOf(request.tool_input))
  const [problem, setProblem] = useState<string | null>(null)
  const change = (at: number, text: string) => setFields(fields.map((field, index) => (index === at ? { ...field, text } : field)))
  const send = () => {
    try {
      void settle(request, { decision: 'edit', updated_input: inputOf(fields) }).then((done) => done && onClose())
    } catch {
      setProblem('One of the fields is not valid JSON.')
    }
  }
  return (
    <form className="desk-form" onSubmit={(event) => { event.preventDefault(); send() }} onKeyDown={(event) => event.stopPropagation()}>
      {fields.map((field, index) => <Line key={field.name} field={field} onChange={(text) => change(index, text)} />)}
      {problem && <p className="warn-note" role="alert">{problem}</p>}
      <div className="hunk-actions">
        <button type="submit" className="button is-accept">Run as edited</button>
        <button type="button" className="button is-quiet" onClick={onClose}>Cancel</button>
      </div>
    </form>
  )
}

function Line({ field: { name, kind, text }, onChange }: { field: Field; onChange: (text: string) => void }) {
  if (kind === 'switch') {
    return (
      <label className="desk-switch">
        <input type="checkbox" checked={text === 'true'} onChange={(event) => onChange(String(event.currentTarget.checked))} /> {name}
      </label>
    )
  }
  const rows = Math.min(12, Math.max(1, text.split('\n').length))
  return (
    <label className="desk-field">
      <span>{name || 'input'}{kind === 'json' ? ' (JSON)' : ''}</span>
      <textarea className="field" rows={rows} spellCheck={false} value={text} onInput={(event) => onChange(event.currentTarget.value)} />
    </label>
  )
}
