/** Does something soon, and once for many reasons that come close together. */
export class Debouncer {
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(
    private readonly pause_ms: number,
    private readonly act: () => void,
  ) {}

  want(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined
      this.act()
    }, this.pause_ms)
  }

  stop(): void {
    clearTimeout(this.timer)
    this.timer = undefined
  }
}
