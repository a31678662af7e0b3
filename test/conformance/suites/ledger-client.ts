/** `@canton-network/core-ledger-client`, unchanged. */
import { randomUUID } from 'node:crypto'
import type { RunningCluster } from 'quorumscan/testing'
import { expect } from 'vitest'
import { it } from '../network.ts'
import { awaitCompletion, isJsCantonError, LedgerClient } from '../unchanged-clients.mjs'

const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet }

async function connect(cluster: RunningCluster, token: string): Promise<LedgerClient> {
  const client = new LedgerClient({
    baseUrl: new URL(cluster.urls.validator),
    logger: quiet,
    accessTokenProvider: { getAccessToken: async () => token },
  })
  await client.init()
  return client
}

const ledgerEnd = async (client: LedgerClient) =>
  Number((await client.get('/v2/state/ledger-end'))['offset'])

export function describeLedgerClient(): void {
  it('connects, and reads the version and its user', async ({ cluster, alice }) => {
    const client = await connect(cluster, alice.token)
    expect(client.getCurrentClientVersion()).toBe('3.5')
    const answer = await client.get('/v2/authenticated-user')
    expect(answer['user']).toMatchObject({
      id: 'alice',
      primaryParty: alice.party,
      isDeactivated: false,
    })
  })

  it('submits a command, waits for it, and reads the update', async ({
    cluster,
    alice,
    tapRequest,
  }) => {
    const client = await connect(cluster, alice.token)
    const beginExclusive = await ledgerEnd(client)
    const submitted = await client.post('/v2/commands/submit-and-wait', tapRequest())
    const updates = await client.post(
      '/v2/updates',
      {
        beginExclusive,
        endInclusive: submitted['completionOffset'],
        verbose: false,
        updateFormat: {
          includeTransactions: {
            eventFormat: { filtersByParty: { [alice.party]: {} }, verbose: false },
            transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA',
          },
        },
      },
      { query: { limit: 200, stream_idle_timeout_ms: 1000 } },
    )
    expect(updates).toMatchObject([
      { update: { Transaction: { value: { updateId: submitted['updateId'] } } } },
    ])
  })

  it('submits a command, and finds its completion or its error', async ({
    cluster,
    alice,
    tapRequest,
  }) => {
    const client = await connect(cluster, alice.token)
    const offset = await ledgerEnd(client)
    const request = tapRequest({ userId: 'alice', readAs: [] })
    expect(await client.post('/v2/commands/async/submit', request)).toEqual({})
    const found = awaitCompletion(client, offset, alice.party, 'alice', request.commandId)
    expect(await found).toMatchObject({ status: { code: 0 }, actAs: [alice.party] })
    const again = { ...request, submissionId: randomUUID() }
    await client.post('/v2/commands/async/submit', again)
    const refused = awaitCompletion(client, offset, alice.party, 'alice', again.submissionId)
    await expect(refused).rejects.toMatchObject({
      code: 6,
      errorInfo: {
        reason: 'DUPLICATE_COMMAND',
        metadata: { existingSubmissionId: expect.any(String) },
      },
    })
  })

  it('recognizes our errors', async ({ cluster, alice, tapRequest }) => {
    const client = await connect(cluster, alice.token)
    const refused = await client
      .post('/v2/commands/async/submit', tapRequest({ commands: [] }))
      .catch((error: unknown) => error)
    expect(isJsCantonError(refused)).toBe(true)
    expect(refused).toMatchObject({ code: 'MISSING_FIELD', errorCategory: 8 })
  })

  it('administers users and parties', async ({ cluster }) => {
    const client = await connect(cluster, await cluster.token())
    const { partyDetails } = await client.post('/v2/parties', { partyIdHint: 'conformance' })
    const party = String(partyDetails?.['party'])
    expect(await client.checkIfPartyExists(party)).toBe(true)
    expect(await client.createUser('conformance', party)).toMatchObject({
      id: 'conformance',
      primaryParty: party,
    })
    await client.waitForPartyAndGrantUserRights('conformance', party)
    await client.grantMasterUserRights('conformance', true, true)
    const answer = await client.get('/v2/users/{user-id}/rights', {
      path: { 'user-id': 'conformance' },
    })
    expect(answer['rights']).toContainEqual({ kind: { CanReadAsAnyParty: { value: {} } } })
    expect(answer['rights']).toContainEqual({ kind: { CanActAs: { value: { party } } } })
  })
}
