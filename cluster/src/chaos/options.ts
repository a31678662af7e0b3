/** How a chaos run is asked for. */
import type { Scenario } from './schedule.ts'

export type ChaosOptions = (
  | {
      readonly seed: string
      readonly durationMs: number
      /** `f` (default): at most f nodes faulty at once. `beyond-f`: up to 2f. */
      readonly budget?: 'f' | 'beyond-f'
    }
  | { readonly scenario: Scenario }
) & {
  /** Told what it does, when that changes. */
  readonly onProgress?: (sentence: string) => void
}
