/** Fetches and draws the authors of the text once a person asks for them. */
import { StateEffect } from '@codemirror/state'
import { type EditorView, ViewPlugin } from '@codemirror/view'
import { toast } from '../ui/toasts.ts'
import { useAuthors } from './store.ts'

class OnDemand {
  private state: 'missing' | 'fetched' | 'gone' = 'missing'
  private readonly stop: () => void

  constructor(private readonly view: EditorView) {
    this.stop = useAuthors.subscribe(() => this.look())
    // The document was loaded anew while it was shown.
    this.look()
  }

  destroy(): void {
    this.state = 'gone'
    this.stop()
  }

  private look(): void {
    if (this.state !== 'missing' || !useAuthors.getState().on) return
    this.state = 'fetched'
    void import('./authors.ts').then(
      ({ authors }) =>
        this.state !== 'gone' &&
        this.view.dispatch({ effects: StateEffect.appendConfig.of(authors) }),
      () => {
        this.state = 'missing'
        useAuthors.setState({ on: false })
        toast('Who wrote this could not be loaded. Try again once you are online.')
      },
    )
  }
}

export const authorsOnDemand = ViewPlugin.fromClass(OnDemand)
