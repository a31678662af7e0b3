/**
 * The users of a validator share the bytes that it may add to the state in a day.
 *
 * @module-tag rest
 */
import { it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { genesisContracts } from './testing/genesis-contracts.ts'
import { startTestValidator } from './testing/test-validator.ts'

/** The least that a genesis may allow. */
const STATE_BYTES_PER_DAY = 65_536
/** What a tap adds at least. */
const TAP_BYTES = 256
const TAPS = 50

it.for([
  ['the wallet', '/v0/wallet/tap'],
  ['the ledger interface', '/v2/commands/submit-and-wait'],
] as const)(
  'a greedy user of %s is refused at its share, and others can still add',
  async ([, path], { resources }) => {
    const world = resources.opened(
      await startTestValidator({ stateBytesPerDay: STATE_BYTES_PER_DAY }),
    )
    const { tapCommand, tapRequest } = await genesisContracts(world)
    const greedy = await world.registered('greedy')
    const bodyOf = (party: string, taps: number) =>
      path === '/v0/wallet/tap'
        ? { amount: '1.0' }
        : tapRequest(party, { commands: Array(taps).fill(tapCommand(party)) })
    const perRequest = path === '/v0/wallet/tap' ? 1 : TAPS
    let added = 0
    for (;;) {
      const answer = await greedy.client.post(path, bodyOf(greedy.party, perRequest))
      if (answer.status !== 200) {
        expect(answer.text).toMatch(/the user has added its share of the bytes/)
        expect(answer.status).toBeLessThan(500)
        break
      }
      added += perRequest * TAP_BYTES
      expect(added).toBeLessThan(STATE_BYTES_PER_DAY / 2)
    }
    expect(added).toBeGreaterThan(0)

    const modest = await world.registered('modest')
    const tap = await modest.client.post(path, bodyOf(modest.party, 1))
    expect([tap.status, tap.text]).toEqual([200, expect.any(String)])
  },
)
