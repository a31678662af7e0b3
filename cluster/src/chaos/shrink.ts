/** Makes a failing schedule smaller while it still fails. */
import type { Step } from './schedule.ts'

/**
 * Removes halves, then quarters, down to single steps, and keeps each smaller schedule that still fails.
 *
 * @param options.runsMax - Each attempt is a whole run.
 * @returns The smallest failing schedule found; the given one if no smaller one fails.
 */
export async function shrink(
  steps: readonly Step[],
  options: {
    readonly fails: (steps: readonly Step[]) => Promise<boolean>
    readonly runsMax: number
  },
): Promise<readonly Step[]> {
  let smallest = steps
  let runs = 0
  for (let size = Math.ceil(steps.length / 2); size >= 1; ) {
    let hasShrunk = false
    for (let from = 0; from < smallest.length && runs < options.runsMax; from += size) {
      const rest = smallest.filter((_, index) => index < from || index >= from + size)
      runs += 1
      if (!(await options.fails(rest))) continue
      smallest = rest
      hasShrunk = true
      break
    }
    if (runs >= options.runsMax) break
    if (!hasShrunk) size = size === 1 ? 0 : Math.ceil(size / 2)
  }
  return smallest
}
