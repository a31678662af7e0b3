import type { Genesis } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { createReaderBase, WAITING_MAX } from './reader-base.ts'

it('a call is refused while as many reads wait as may', async () => {
  const genesis = { nodes: [{ name: 'sv-1' }] } as unknown as Genesis
  // A check of a call needs no clock and no transport.
  const options = {
    genesis,
    genesisHash: 'ef'.repeat(32),
    seeds: [],
  } as unknown as Parameters<typeof createReaderBase>[0]
  const { checkCall } = createReaderBase(options, { onAddress: () => {} })
  await expect(checkCall({}, WAITING_MAX - 1)).resolves.toMatchObject({ threshold: 1 })
  await expect(checkCall({}, WAITING_MAX)).rejects.toMatchObject({ code: 'OVERLOADED' })
})
