/** Completes names of people while a comment is written. */
import { type KeyboardEvent, type RefObject, useState } from 'react'
import type { Person } from '../../wire/generated.ts'
import { readPeople } from '../actions/people.ts'
import { complete, type Completion } from '../state/mentions.ts'

export interface Names {
  found: Completion | null
  /** Index of the name that Enter takes. */
  at: number
  pick: (person: Person) => void
  /** Looks at what stands before the caret. */
  look: () => void
  close: () => void
  /** Returns whether a key was for the list. */
  press: (event: KeyboardEvent) => boolean
  attributes: (id: string) => Record<string, string | undefined>
}

export const optionId = (id: string, at: number): string => `${id}-${at}`

export function useMentions(
  field: RefObject<HTMLTextAreaElement | null>,
  people: readonly Person[],
  onPick: (text: string, person: string) => void,
): Names {
  const [found, setFound] = useState<Completion | null>(null)
  const [at, setAt] = useState(0)
  const close = () => setFound(null)
  const pick = ({ id, name }: Person) => {
    const box = field.current
    if (!box || !found) return
    const start = `${box.value.slice(0, found.from)}@${name} `
    const text = start + box.value.slice(box.selectionStart)
    // Not by drawing: the caret stays behind the name.
    box.value = text
    box.setSelectionRange(start.length, start.length)
    close()
    onPick(text, id)
  }
  const press = ({ key, ctrlKey, metaKey }: KeyboardEvent): boolean => {
    if (!found || ctrlKey || metaKey) return false
    const { length } = found.people
    if (key === 'ArrowDown') setAt((at + 1) % length)
    else if (key === 'ArrowUp') setAt((at + length - 1) % length)
    else if (key === 'Enter' || key === 'Tab') pick(found.people[at]!)
    else if (key === 'Escape') close()
    else return false
    return true
  }
  return {
    found,
    at,
    pick,
    close,
    press,
    look: () => {
      const box = field.current
      if (box?.value.includes('@')) void readPeople()
      setAt(0)
      setFound(box && complete(box.value, box.selectionStart, people))
    },
    attributes: (id) => ({
      'aria-controls': found ? id : undefined,
      'aria-activedescendant': found ? optionId(id, at) : undefined,
    }),
  }
}
