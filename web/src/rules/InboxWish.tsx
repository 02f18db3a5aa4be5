/** A rule for calls without a document. */
import { type Wishing, Frame } from './RememberFrame.tsx'
import { patternsFor, sizesInInbox } from './wording.ts'
import { Choice } from '../ui/Choice.tsx'
import { useState } from 'react'
import type { Remember } from '../wire/generated.ts'
import { useFocusOnce } from '../ui/useFocusOnce.ts'
import { toolEffect } from '../wire/tools.ts'

/** Every file; another pattern. */
const [EVERY, OTHER] = ['every', 'other']

/**
 * A rule about what belongs to no document holds for the session that asked; owners make wider
 * rules below the cards.
 */
export function InboxWish(props: Wishing) {
  const { request } = props
  const units = request.units ?? 0
  const patterns = toolEffect(request.tool_name) === 'creates' ? [] : patternsFor(request.file_path)
  const [size, setSize] = useState(sizesInInbox(units)[0])
  const [chosen, setChosen] = useState(patterns[0]?.pattern ?? EVERY)
  const [own, setOwn] = useState('')
  const path = chosen === EVERY ? '' : chosen === OTHER ? own.trim() : chosen
  const wish: Remember = {
    scope: 'session',
    ...(path && { path }),
    ...(size !== undefined && { max_units: size }),
  }
  return (
    <Frame
      {...props}
      wish={wish}
      done="approved"
      lacking={chosen === OTHER && path === ''}
      more="Each is shown here with your rule on it. Commands, hidden files and whatever has a warning still wait for people. You can revoke this under “Rules”, below the requests."
    >
      {patterns.length > 0 && (
        <label>
          Files:{' '}
          <Choice
            value={chosen}
            options={[
              ...patterns.map(({ pattern, words }) => [pattern, words] as const),
              [EVERY, 'every file'],
              [OTHER, 'files like…'],
            ]}
            onChoose={setChosen}
          />
        </label>
      )}
      {chosen === OTHER && <Pattern text={own} onChange={setOwn} />}
      <label>
        Changes of{' '}
        <Choice
          value={size ?? 0}
          options={sizesInInbox(units).map((choice = 0) => [
            choice,
            choice === 0 ? 'any size' : `up to ${choice} characters`,
          ])}
          onChoose={(choice) => setSize(choice || undefined)}
        />
      </label>
      <p>Deleted and added characters count together. This one changes {units}.</p>
    </Frame>
  )
}

function Pattern({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const field = useFocusOnce<HTMLInputElement>()
  return (
    <label>
      Pattern:{' '}
      <input
        className="field"
        size={18}
        ref={field}
        spellCheck={false}
        autoCapitalize="off"
        placeholder="notes/**/*.md"
        value={text}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  )
}
