/** `@canton-network/wallet-sdk`, unchanged. */
import type { RunningCluster } from 'quorumscan/testing'
import { WebSocket } from 'undici'
import { beforeAll, expect } from 'vitest'
import { it } from '../network.ts'
import { SDK } from '../unchanged-clients.mjs'

const COIN = '#quorumscan-coin:Coin:Coin'
const HOLDING = '#quorumscan-coin:Coin.Holding:Holding'

function connect(cluster: RunningCluster, token: string) {
  const auth = { method: 'static', token }
  return SDK.create({
    auth,
    ledgerClientUrl: cluster.urls.validator,
    logAdapter: { log() {} },
    events: { auth, websocketURL: cluster.urls.validator.replace('http', 'ws') },
  })
}

/** The first element with this member. */
async function first(elements: AsyncIterable<Record<string, never>>, member: string) {
  for await (const element of elements) {
    const found = Object.values(element)[0]?.[member] as { value: object } | undefined
    if (found !== undefined) return found.value
  }
  throw new Error(`the stream ended without a ${member}`)
}

export function describeWalletSdk(): void {
  beforeAll(() => {
    // Node 20 has no WebSocket; browsers have one.
    globalThis.WebSocket ??= WebSocket as never
  })

  it('submits, and follows updates and completions by WebSocket', async ({
    cluster,
    alice,
    tapRequest,
  }) => {
    const sdk = await connect(cluster, alice.token)
    const beginOffset = await sdk.ledger.ledgerEnd()
    const { commands, commandId, actAs, disclosedContracts } = tapRequest()
    const submitted = await sdk.ledger.internal.submit({
      commands,
      commandId,
      actAs,
      disclosedContracts,
    })
    const { updateId } = submitted
    const partyId = alice.party
    const ofTemplate = sdk.events.updates({ beginOffset, partyId, templateIds: [COIN] })
    expect(await first(ofTemplate, 'Transaction')).toMatchObject({ updateId, commandId })
    const ofInterface = sdk.events.updates({ beginOffset, partyId, interfaceIds: [HOLDING] })
    expect(await first(ofInterface, 'Transaction')).toMatchObject({
      updateId,
      events: [{ CreatedEvent: { interfaceViews: [{ viewStatus: { code: 0 } }] } }],
    })
    const completions = sdk.events.completions({ beginOffset, parties: [partyId] })
    expect(await first(completions, 'Completion')).toMatchObject({ updateId, commandId })
  })

  it('reads active contracts, and lists the parties that it may use', async ({
    cluster,
    alice,
  }) => {
    const sdk = await connect(cluster, alice.token)
    expect(await sdk.party.list()).toContain(alice.party)
    const coins = await sdk.ledger.acs.read({
      parties: [alice.party],
      templateIds: [COIN],
      filterByParty: true,
    })
    expect(coins.length).toBeGreaterThan(0)
    for (const { createArgument } of coins)
      expect(createArgument).toMatchObject({ owner: alice.party })
  })

  it('administers users and parties', async ({ cluster, alice }) => {
    const sdk = await connect(cluster, await cluster.token())
    const primaryParty = await sdk.party.internal.allocate({ partyHint: 'wallet' })
    expect(await sdk.party.internal.allocate({ partyHint: 'wallet' })).toBe(primaryParty)
    const userRights = { actAs: [primaryParty] }
    const user = { userId: 'wallet', primaryParty, userRights }
    expect(await sdk.user.create(user)).toMatchObject({ id: 'wallet', primaryParty })
    expect(await sdk.user.create(user)).toMatchObject({ id: 'wallet' })
    expect((await sdk.user.list()).users.map(({ id }) => id)).toContain('wallet')
    // Only administrators see parties that are not their own.
    const more = {
      userId: 'wallet',
      userRights: { canReadAsAnyParty: true, participantAdmin: true },
    }
    await sdk.user.rights.grant(more)
    const own = await connect(cluster, await cluster.token('wallet'))
    const rights = async () => (await own.user.rights.list()).rights
    expect(await rights()).toContainEqual({ kind: { CanReadAsAnyParty: { value: {} } } })
    expect(await own.party.list()).toEqual(expect.arrayContaining([primaryParty, alice.party]))
    await sdk.user.rights.revoke(more)
    expect(await rights()).toEqual([{ kind: { CanActAs: { value: { party: primaryParty } } } }])
  })
}
