/** How a chaos run is asked for. */
import type { Scenario } from './schedule.ts'

export type ChaosOptions = (
  | {
      readonly seed: string
      readonly durationMs: number
      /** `f` (default): at most f nodes faulty at once. `beyond-f`: up to 2f. */
      readonly budget?: Scenario['budget']
      /** Whether a verdict may rest on rules that nothing put to the test. Default: no, it is inconclusive. */
      readonly allowsUnexercised?: boolean
    }
  | { readonly scenario: Scenario }
) & {
  /** Told what it does, when that changes. */
  readonly onProgress?: (sentence: string) => void
}
