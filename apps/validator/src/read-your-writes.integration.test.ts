/** No answer of the scan proxy is older than what the validator has shown (D-39). */

import { once } from 'node:events'
import { createHttpClient } from '@quorumscan/testkit'
import type { FixturesOf } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { WebSocket } from 'ws'
import { genesisContracts } from './testing/genesis-contracts.ts'
import { failure } from './testing/test-validator.ts'
import { itWithPeople } from './testing/world-fixtures.ts'

const LOOKUP = '/v0/scan-proxy/ans-entries/by-name/dso.ns'

const it = itWithPeople
  /** The proxy must wait until the nodes reach the offset, and then answer. */
  .extend(
    'expectNotBefore',
    ({ world }) =>
      async (shown: number, release: () => void): Promise<void> => {
        const early = await world.anyone().get(LOOKUP)
        expect(failure(early)).toEqual({ status: 503, code: 'CONSENSUS_LAGGING' })
        expect(early.body['details']).toMatchObject({ reason: 'floor' })
        release()
        const answer = await world.until('an answer', async () => {
          const tried = await world.anyone().get(LOOKUP)
          return tried.status === 200 ? tried : undefined
        })
        expect(offsetOf(answer, 'x-quorum-offset')).toBeGreaterThanOrEqual(shown)
      },
  )
type Given = Pick<FixturesOf<typeof it>, 'alice'>

const offsetOf = (answer: { readonly headers: Headers }, name: string) =>
  Number(answer.headers.get(name) ?? Number.NaN)

it.for([
  [
    'a change of the wallet',
    ({ alice }: Given) => alice.client.post('/v0/wallet/tap', { amount: '1.0' }),
    200,
  ],
  ['a list of names', ({ alice }: Given) => alice.client.get('/v0/entry/all'), 200],
  [
    'a refusal',
    ({ alice }: Given) =>
      alice.client.post('/v0/entry/create', { name: 'dso.ns', url: '', description: '' }),
    400,
  ],
  ['the ledger interface', ({ alice }: Given) => alice.client.get('/v2/state/ledger-end'), 200],
] as const)(
  'no later answer is older than the state shown by %s',
  async ([_, show, status], { world, alice, expectNotBefore }) => {
    const release = world.network.holdNodes()
    try {
      // The validator reads this from the log, the nodes do not.
      await alice.client.post('/v0/wallet/tap', { amount: '1.0' })
      const answer = await show({ alice })
      expect(answer).toAnswer(status)
      const shown = offsetOf(answer, 'x-ledger-offset')
      expect(shown).toBeGreaterThan(0)
      await expectNotBefore(shown, release)
    } finally {
      release()
    }
  },
)

it('no later answer is older than the state shown by a stream, also after a restart', async ({
  world,
  alice,
  expectNotBefore,
}) => {
  const { rules, disclosedContracts } = await genesisContracts(world)
  const token = await world.network.token('alice')
  const ledger = createHttpClient(world.url, token)
  const protocols = ['daml.ws.auth', `jwt.token.${token}`]
  const socket = new WebSocket(`${world.url().replace('http', 'ws')}/v2/updates`, protocols)
  const tapped = new Promise<number>((resolve) => {
    socket.on('message', (data) => {
      const { update } = JSON.parse(String(data))
      if (update.Transaction !== undefined) resolve(update.Transaction.value.offset)
    })
  })
  await once(socket, 'open')
  const { offset: beginExclusive } = (await ledger.get('/v2/state/ledger-end')).body
  const filter = { filtersByParty: { [alice.party]: {} } }
  socket.send(JSON.stringify({ beginExclusive, filter }))
  let release = world.network.holdNodes()
  try {
    const command = {
      templateId: '#quorumscan-coin:Coin.Rules:CoinRules',
      contractId: rules['CoinRules'],
      choice: 'CoinRules_DevNet_Tap',
      choiceArgument: { receiver: alice.party, amount: '1' },
    }
    // The submission is answered before it is applied: only the stream has its outcome.
    const submitted = await alice.client.post('/v2/commands/async/submit', {
      commands: [{ ExerciseCommand: command }],
      commandId: 'seen-in-the-stream',
      actAs: [alice.party],
      disclosedContracts,
    })
    expect(submitted).toAnswer(200)
    const shown = await tapped
    expect(shown).toBeGreaterThan(offsetOf(submitted, 'x-ledger-offset'))
    socket.terminate()
    await expectNotBefore(shown, release)

    release = world.network.holdNodes()
    const { headers } = await alice.client.post('/v0/wallet/tap', { amount: '1.0' })
    await world.restart()
    await expectNotBefore(offsetOf({ headers }, 'x-ledger-offset'), release)
  } finally {
    release()
  }
})

it('options of the reader still count, and proxied answers have separate offsets', async ({
  world,
}) => {
  const ahead = await world.anyone().get(LOOKUP, { 'x-min-offset': '9007199254740991' })
  expect(failure(ahead)).toEqual({ status: 503, code: 'CONSENSUS_LAGGING' })
  const answer = await world.anyone().get(LOOKUP)
  expect(answer.headers.get('x-ledger-offset')).toBeNull()
  expect(offsetOf(answer, 'x-quorum-offset')).toBeGreaterThan(0)
})
