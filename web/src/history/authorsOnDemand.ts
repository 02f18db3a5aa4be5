/** Fetches and draws the authors of the text once a person asks for them. */
import { StateEffect } from '@codemirror/state'
import { ViewPlugin } from '@codemirror/view'
import { toast } from '../ui/toasts.ts'
import { useAuthors } from './store.ts'

export const authorsOnDemand = ViewPlugin.define((view) => {
  let state: 'missing' | 'fetched' | 'gone' = 'missing'
  const look = () => {
    if (state !== 'missing' || !useAuthors.getState().on) return
    state = 'fetched'
    void import('./authors.ts').then(
      ({ authors }) =>
        state !== 'gone' && view.dispatch({ effects: StateEffect.appendConfig.of(authors) }),
      () => {
        state = 'missing'
        useAuthors.setState({ on: false })
        toast('Who wrote this could not be loaded. Try again once you are online.')
      },
    )
  }
  const stop = useAuthors.subscribe(look)
  // The document was loaded anew while it was shown.
  look()
  return {
    destroy() {
      state = 'gone'
      stop()
    },
  }
})
