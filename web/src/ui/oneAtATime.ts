/**
 * Returns an action that does nothing while it is under way: of a button that is pressed twice
 * before the server has answered, the first press counts.
 */
export function oneAtATime<A extends readonly unknown[]>(
  action: (...given: A) => Promise<void>,
): (...given: A) => Promise<void> {
  let isUnderWay = false
  return async (...given) => {
    if (isUnderWay) return
    isUnderWay = true
    try {
      await action(...given)
    } finally {
      isUnderWay = false
    }
  }
}
