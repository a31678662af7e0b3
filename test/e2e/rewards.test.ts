/**
 * A network on which users cannot create coin: the rewards of a super-validator pay for a name.
 *
 * @module-tag rest
 */
import { until } from '@quorumscan/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createUser, untilFound } from '../support/client.ts'
import {
  acceptOffer,
  createNetwork,
  type Network,
  rewardsOf,
  run,
  runCli,
  untilReady,
} from '../support/operators.ts'

/** A name costs 200 coin, and a round is a second long. */
const RULES = ['coin.tickMicros=1s', 'coin.rewardPerRound=1000']

let network: Network
beforeAll(async () => {
  network = await createNetwork({ ordering: 'redis', svCount: 1, devnet: false, rules: RULES })
  for (const operator of network.all) run(operator)
  for (const operator of network.all) await untilReady(operator)
})
afterAll(() => network?.[Symbol.asyncDispose]())

it('coin that an operator sends pays for a name, which is found and proven', async () => {
  const { client, validator, svs } = network
  const [sv] = svs
  if (sv === undefined) throw new Error('the network has a super-validator')
  const alice = await createUser(client, 'alice', null)
  const tapped = await alice.client.POST('/v0/wallet/tap', { body: { amount: '1.0' } })
  expect(tapped.error).toMatchObject({ code: 'DEVNET_ONLY' })

  await until('a reward', async () => Number((await rewardsOf(sv)).available) > 300 || undefined)
  await rewardsOf(sv, 'send', alice.party, '300')
  // Its answer was lost, and the operator types the command again.
  const again = rewardsOf(sv, 'send', alice.party, '300')
  await expect(again).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/nothing was sent now: the same transfer was sent/),
  })
  await acceptOffer(alice)
  expect((await alice.balance()).effective_unlocked_qty).toBe('300.0000000000')

  const name = 'alice.unverified.ns'
  await alice.pay(name)
  await untilFound(client, name)
  const genesis = ['--genesis', 'etc/genesis.json']
  const nodes = [...genesis, '--members', 'etc/members']
  await runCli(validator, 'resolve', name, ...nodes, '--receipt', 'var/receipt.json')
  const proven = await runCli(validator, 'verify', 'var/receipt.json', '--name', name, ...genesis)
  expect(proven).toContain(alice.party)
})
