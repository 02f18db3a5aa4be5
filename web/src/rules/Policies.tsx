/** In the review settings: stricter policies for some tools, sizes and changes of meaning. */
import { useState } from 'react'
import { MARK_KINDS, type MarkKind } from '../review/state/marks.ts'
import { severalOf } from '../review/state/markWords.ts'
import { DOCUMENT_TOOLS, toolName } from '../chat/tools.ts'
import { configure, POLICIES } from '../review/actions/settings.ts'
import { Button } from '../ui/Button.tsx'
import { Choice } from '../ui/Choice.tsx'
import { Checkbox, Form } from '../ui/Form.tsx'
import { Problem } from '../ui/Problem.tsx'
import type { ToolPolicy } from '../wire/generated.ts'
import { type PolicyChoice, policyWords, withPolicy } from './policies.ts'
import './Policies.css'

const NEW: PolicyChoice = { tool: '', over: '', marks: [], policy: 'owner' }
const TOOLS = [
  ['', 'every tool'],
  ...DOCUMENT_TOOLS.map((tool) => [tool, toolName(tool)] as const),
] as const
const STRICTER = POLICIES.filter(({ policy }) => policy !== 'any').map(
  ({ policy, name }) => [policy, name] as const,
)

export function Policies({ policies, fixed }: { policies: readonly ToolPolicy[]; fixed: boolean }) {
  const [choice, setChoice] = useState(NEW)
  const [refusal, setRefusal] = useState<string | null>(null)
  const more = withPolicy(policies, choice)
  const change = (part: Partial<PolicyChoice>) => setChoice({ ...choice, ...part })
  const put = async (wanted: ToolPolicy[]) => {
    const said = await configure({ policies: wanted })
    setRefusal(said)
    return said === null
  }
  return (
    <section>
      <h3>Stricter for some changes</h3>
      {policies.length === 0 && (
        <p className="card-note">
          No stricter rules yet. Every rule that matches a change applies and is shown on it.
        </p>
      )}
      <ul className="passages" aria-label="Stricter policies">
        {policies.map((policy) => (
          <li key={policyWords(policy)}>
            <span className="policy-words">{policyWords(policy)}</span>
            {!fixed && (
              <Button
                aria-label={`Remove: ${policyWords(policy)}`}
                onClick={() => void put(policies.filter((other) => other !== policy))}
              >
                Remove
              </Button>
            )}
          </li>
        ))}
      </ul>
      {!fixed && (
        <Form
          className="policy-add"
          aria-label="New policy"
          onSubmit={() => {
            if (more) void put(more).then((done) => done && setChoice(NEW))
          }}
        >
          <Kinds chosen={choice.marks} onChoose={(marks) => change({ marks })} />
          <Choice
            label="Tool"
            value={choice.tool}
            options={TOOLS}
            onChoose={(tool) => change({ tool })}
          />
          <label>
            above{' '}
            <input
              className="field"
              inputMode="numeric"
              size={7}
              placeholder="any"
              value={choice.over}
              onChange={(event) => change({ over: event.currentTarget.value })}
            />{' '}
            characters:
          </label>
          <Choice
            label="Who decides"
            value={choice.policy}
            options={STRICTER}
            onChoose={(policy) => change({ policy })}
          />
          <Button type="submit" disabled={more === null}>
            Add
          </Button>
          <Problem words={refusal} />
        </Form>
      )}
    </section>
  )
}

interface KindsProps {
  chosen: readonly MarkKind[]
  onChoose: (chosen: MarkKind[]) => void
}

/** The changes of meaning that a policy is about; none: it is about every change. */
function Kinds({ chosen, onChoose }: KindsProps) {
  return (
    <fieldset className="policy-kinds">
      <legend>Only for changes of</legend>
      {MARK_KINDS.map((kind) => (
        <Checkbox
          key={kind}
          checked={chosen.includes(kind)}
          onChange={(checked) =>
            onChoose([...chosen.filter((other) => other !== kind), ...(checked ? [kind] : [])])
          }
        >
          {severalOf(kind)}
        </Checkbox>
      ))}
    </fieldset>
  )
}
