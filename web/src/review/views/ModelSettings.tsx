/** In the review settings: which models may see the text of this document. */
import { useState } from 'react'
import { useSession } from '../../session/store.ts'
import { Problem } from '../../ui/Problem.tsx'
import { Setting } from '../../ui/Setting.tsx'
import type { ModelAccess } from '../../wire/generated.ts'
import { configure, MODEL_ACCESS } from '../actions/settings.ts'

export function ModelSettings({ access, fixed }: { access: ModelAccess; fixed: boolean }) {
  const models = useSession((session) => session.me?.models) ?? []
  const [refusal, setRefusal] = useState<string | null>(null)
  const put = (modelAccess: ModelAccess) => void configure({ modelAccess }).then(setRefusal)
  const named = access.allow === 'named' ? (access.names ?? []) : []
  // What is allowed and not offered just now can still be taken away.
  const offered = [...new Set([...models, ...named])]
  const [first] = models
  return (
    <fieldset disabled={fixed}>
      <legend>Which models may see the text</legend>
      {MODEL_ACCESS.map(({ allow, name, what }) => (
        <Setting
          key={allow}
          group="model-access"
          name={name}
          what={what}
          checked={access.allow === allow}
          onChange={() => {
            if (allow !== 'named') put({ allow })
            else if (first !== undefined) put({ allow, names: [first] })
          }}
        />
      ))}
      {access.allow === 'named' &&
        offered.map((name) => (
          <Setting
            key={name}
            name={name}
            checked={named.includes(name)}
            disabled={named.length === 1 && named.includes(name)}
            onChange={(on) =>
              put({
                allow: 'named',
                names: on ? [...named, name] : named.filter((other) => other !== name),
              })
            }
          />
        ))}
      <Problem words={refusal} />
    </fieldset>
  )
}
