/** Starts a chaos run through the control plane, and waits for its verdict. */
import { type Clock, waitFor } from '@quorumscan/base'
import type { RunState } from '../chaos/runs.ts'
import type { Scenario } from '../chaos/schedule.ts'
import { type ControlClient, call } from './client.ts'

const POLL_MS = 250

/** The options of a chaos run. */
export type ChaosOptions = (
  | Parameters<ControlClient['chaos']['start']['mutate']>[0]
  | { readonly scenario: Scenario }
) & {
  /** Receives each step. */
  readonly onProgress?: (sentence: string) => void
}

/** Returns when the run is over, whatever its verdict. @throws {CommandError} If it cannot start. */
export async function runChaosOn(
  client: ControlClient,
  options: ChaosOptions & { readonly clock: Clock },
): Promise<RunState> {
  const { onProgress, clock, ...asked } = options
  const started = await call(
    'scenario' in asked
      ? client.chaos.replay.mutate(asked.scenario)
      : client.chaos.start.mutate(asked),
  )
  let sentence = ''
  const look = async () => {
    const state = await call(client.chaos.get.query({ id: started.id }))
    if (state.state !== 'running') return state
    if (state.sentence !== sentence) onProgress?.(state.sentence)
    sentence = state.sentence
  }
  const timeoutMs = Number.POSITIVE_INFINITY // A run has an end of its own.
  return await waitFor(look, { clock, timeoutMs, intervalMs: POLL_MS, what: 'the chaos run' })
}
