/** A lookup at the nodes themselves, as an application makes it that knows nothing but the genesis: by a proof. */
import { type ResolveOptions, resolve } from '@quorumscan/cli'
import type { AtNodes } from '../rig/status.ts'

/** Never throws: no answer is an outcome. */
export async function lookUpAtNodes(options: Omit<ResolveOptions, 'quorum'>): Promise<AtNodes> {
  const { clock } = options
  const startedMs = clock.monotonicMs()
  const { outcome, asked } = await resolve({ ...options, quorum: 'weak' })
  const { kind, threshold: needed, agreed: signers } = outcome
  return { kind, needed, signers, asked, latencyMs: clock.monotonicMs() - startedMs }
}
