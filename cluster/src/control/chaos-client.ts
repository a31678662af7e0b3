/** Starting a chaos run through the control plane and following it to its verdict. */
import type { Clock } from '@quorumscan/base'
import type { ChaosOptions } from '../chaos/options.ts'
import type { RunState } from '../chaos/runs.ts'
import { type ControlClient, call } from './client.ts'

const POLL_MS = 250

/** Returns when the run is over, whatever its verdict. @throws {CommandError} If it cannot start. */
export async function runChaosOn(
  client: ControlClient,
  options: ChaosOptions & { readonly clock: Clock },
): Promise<RunState> {
  const started = await call(
    'scenario' in options
      ? client.chaos.replay.mutate(options.scenario)
      : client.chaos.start.mutate({
          seed: options.seed,
          durationMs: options.durationMs,
          budget: options.budget ?? 'f',
          allowsUnexercised: options.allowsUnexercised ?? false,
        }),
  )
  for (let sentence = ''; ; ) {
    const state = await call(client.chaos.get.query({ id: started.id }))
    if (state.state !== 'running') return state
    if (state.sentence !== sentence) options.onProgress?.(state.sentence)
    sentence = state.sentence
    await options.clock.delay(POLL_MS)
  }
}
