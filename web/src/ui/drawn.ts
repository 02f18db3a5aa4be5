/** Widgets in the text. */
import { WidgetType } from '@codemirror/view'

/** Widget that is drawn anew when one of the values that it shows differs. */
export abstract class Drawn<Shows extends object> extends WidgetType {
  constructor(readonly shows: Shows) {
    super()
  }

  override eq({ shows }: Drawn<Shows>): boolean {
    return Object.entries(this.shows).every(([name, value]) => shows[name as keyof Shows] === value)
  }
}
