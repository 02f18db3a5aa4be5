/**
 * The form in which an owner denies, wants to be asked, or allows: by tool, files, size and person,
 * with the meaning of that.
 */
import { useEffect, useState } from 'react'
import { useSession } from '../session/store.ts'
import { Button } from '../ui/Button.tsx'
import { Checkbox, Form } from '../ui/Form.tsx'
import { Problem } from '../ui/Problem.tsx'
import { Choice } from '../ui/Choice.tsx'
import { addRule, peopleWhoAsk } from './store.ts'
import { offered, type RuledTool } from './tools.ts'
import type { Person } from '../wire/generated.ts'
import { type Choice as RuleChoice, flawOf, meaning, ruleOf } from './wording.ts'
import './RuleForm.css'

const EFFECTS = [
  ['deny', 'Deny'],
  ['ask', 'Always ask about'],
  ['allow', 'Allow'],
] as const
const NEW: RuleChoice = { effect: 'ask', tool: '', path: '', size: '', author: '', unmarked: false }

interface Props {
  /** The document, or `desk`. */ place: string
  tools: readonly RuledTool[]
  onAdded?: () => void
}

export function RuleForm({ place, tools, onAdded }: Props) {
  const offline = useSession((session) => session.link !== 'online')
  const [choice, setChoice] = useState(NEW)
  const [refusal, setRefusal] = useState<string | null>(null)
  const [people, setPeople] = useState<readonly Person[]>([])
  useEffect(() => void peopleWhoAsk().then(setPeople), [])
  const choices = offered(tools, choice.effect)
  const chosen = tools.find(({ tool }) => tool === choice.tool)
  const withFiles = chosen ? chosen.files : tools.some(({ files }) => files)
  const change = (more: Partial<RuleChoice>) => {
    setRefusal(null)
    setChoice((before) => {
      const next = { ...before, ...more }
      // What cannot be chosen any more is not sent either.
      const known = offered(tools, next.effect).find(({ tool }) => tool === next.tool)
      return { ...next, tool: known?.tool ?? '', path: known && !known.files ? '' : next.path }
    })
  }
  const add = async () => {
    const rule = ruleOf(place, choice)
    if (rule === null) return setRefusal(flawOf(choice))
    const said = await addRule(rule)
    setRefusal(said)
    if (said !== null) return
    setChoice(NEW)
    onAdded?.()
  }
  return (
    <Form className="rule-add" aria-label="New rule" onSubmit={() => void add()}>
      <Choice
        label="What the rule does"
        value={choice.effect}
        options={EFFECTS}
        onChoose={(effect) => change({ effect })}
      />
      <Choice
        label="Tool"
        value={choice.tool}
        options={[
          ['', choice.effect === 'allow' ? 'Choose a tool' : 'every tool'],
          ...choices.map(({ tool, name }) => [tool, name] as const),
        ]}
        onChoose={(tool) => change({ tool })}
      />
      {withFiles && (
        <label>
          in files like{' '}
          <input
            className="field"
            size={14}
            spellCheck={false}
            autoCapitalize="off"
            placeholder="any, or notes/**"
            value={choice.path}
            onInput={(event) => change({ path: event.currentTarget.value })}
          />
        </label>
      )}
      <label>
        {choice.effect === 'allow' ? 'up to' : 'above'}{' '}
        <input
          className="field"
          inputMode="numeric"
          size={7}
          placeholder="any"
          value={choice.size}
          onInput={(event) => change({ size: event.currentTarget.value })}
        />{' '}
        characters
      </label>
      {people.length > 0 && (
        <label>
          asked for by{' '}
          <Choice
            value={choice.author}
            options={[['', 'anybody'], ...people.map(({ id, name }) => [id, name] as const)]}
            onChoose={(author) => change({ author })}
          />
        </label>
      )}
      {choice.effect === 'allow' && place !== 'desk' && (
        <Checkbox checked={choice.unmarked} onChange={(unmarked) => change({ unmarked })}>
          only changes that keep the meaning
        </Checkbox>
      )}
      <Button type="submit" disabled={offline}>
        Add rule
      </Button>
      <p className="rule-note">{meaning(choice, tools)}</p>
      <Problem words={refusal} />
    </Form>
  )
}
