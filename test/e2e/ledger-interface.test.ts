/** The ledger interface of a real validator, as wallets use it, while the validator is killed and restarted. */

import { randomUUID } from 'node:crypto'
import { send, until } from '@quorumscan/testkit'
import type { RunningCluster } from 'quorumscan/testing'
import { WebSocket } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startCluster } from '../support/clusters.ts'
import { createUser } from './client.ts'
import { awaitCompletion, isJsCantonError, LedgerClient, SDK } from './unchanged-clients.mjs'

let cluster: RunningCluster
let alice: Awaited<ReturnType<typeof createUser>>
let coinRules: { contract_id: string; created_event_blob: string }

beforeAll(async () => {
  cluster = await startCluster({ nodes: 1 })
  alice = await createUser(cluster, 'alice')
  const dso = await send(`${cluster.urls.nodes['sv-1']}/v0/dso`)
  coinRules = dso.body.coin_rules.contract
})
afterAll(() => cluster?.down())

type Answer = {
  readonly status: number
  readonly code: string
  readonly context: Record<string, string>
}

/** Returns null if the validator is unreachable or does not answer. */
async function post(path: string, body: object): Promise<Answer | null> {
  try {
    const answer = await send(`${cluster.urls.validator}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${alice.token}` },
      body: JSON.stringify(body),
    })
    const { code = '', context = {} } = answer.body
    return { status: answer.status, code, context }
  } catch {
    return null
  }
}

const tapRequest = (more: object = {}) => ({
  commands: [
    {
      ExerciseCommand: {
        templateId: '#quorumscan-coin:Coin.Rules:CoinRules',
        contractId: coinRules.contract_id,
        choice: 'CoinRules_DevNet_Tap',
        choiceArgument: { receiver: alice.party, amount: '1.0' },
      },
    },
  ],
  commandId: randomUUID(),
  actAs: [alice.party],
  disclosedContracts: [{ createdEventBlob: coinRules.created_event_blob }],
  ...more,
})

const coinOf = async () => Number((await alice.balance()).effective_unlocked_qty)

async function restartValidator() {
  await cluster.restart('validator')
  await until('the validator to be ready', async () =>
    (await fetch(`${cluster.urls.validator}/readyz`).catch(() => null))?.status === 200
      ? true
      : undefined,
  )
}

describe('the same change', () => {
  it('submitted from 50 connections, with the validator killed in between, takes effect once', async () => {
    const before = await coinOf()
    const request = tapRequest()
    const answers: (Answer | null)[] = []
    const submitAll = () =>
      Promise.all(
        Array.from({ length: 50 }, async (_, index) => {
          const submissionId = `s-${index}-${randomUUID()}`
          const answer = await post('/v2/commands/async/submit', { ...request, submissionId })
          answers.push(answer)
        }),
      )
    for (let round = 0; round < 2; round++) {
      const sent = submitAll()
      // Waits for the first acknowledgement, or until all requests have ended.
      await Promise.race([
        sent,
        until('an answer', async () => (answers.some((one) => one !== null) ? true : undefined)),
      ])
      await cluster.kill('validator')
      await sent
      await restartValidator()
    }
    await submitAll()
    const codes = answers.flatMap((one) =>
      one === null ? [] : [`${one.status} ${one.code}`.trim()],
    )
    expect(new Set(codes)).toEqual(new Set(['200', '409 SUBMISSION_ALREADY_IN_FLIGHT']))
    const again = await until('the change to be refused as a duplicate', async () => {
      const answer = await post('/v2/commands/submit-and-wait', request)
      return answer?.code === 'DUPLICATE_COMMAND' ? answer : undefined
    })
    expect(again).toAnswer(409)
    expect(again.context).toMatchObject({ definite_answer: 'true', accepted: 'true' })
    expect(Number(again.context['completion_offset'])).toBeGreaterThan(0)
    expect((await coinOf()) - before).toBeCloseTo(1, 9)
  })
})

describe('a submission with a least ledger time', () => {
  it('is not lost when the validator is killed before its time', async () => {
    const before = await coinOf()
    const request = tapRequest({ minLedgerTimeRel: { seconds: 5 } })
    expect(await post('/v2/commands/async/submit', request)).toAnswer(200)
    await cluster.kill('validator')
    await restartValidator()
    await until('the coin to be there', async () =>
      (await coinOf()) - before > 0.5 ? true : undefined,
    )
  })
})

describe('pruning', () => {
  it('of a node makes reads below the offset return OFFSET_PRUNED, also after a restart', async () => {
    const url = cluster.urls.nodes['sv-1']
    const read = (offset: number) =>
      send(`${url}/v0/ans-entries/by-name/dso.ns`, {
        headers: { 'x-read-at-offset': String(offset) },
      })
    const head = Number((await send(`${url}/v0/dso`)).headers.get('x-ledger-head'))
    expect(await read(head - 1)).toAnswer(200)
    await expect(cluster.prune('sv-1', head + 1_000_000)).rejects.toThrow('has reached offset')
    await expect(cluster.prune('synchronizer', 1)).rejects.toThrow('is not a scan node')
    expect(await cluster.prune('sv-1', head)).toBe(head)
    expect(await cluster.prune('sv-1', 1)).toBe(head)
    const check = async () => {
      const refused = await read(head - 1)
      expect([refused.status, refused.body.code]).toEqual([410, 'OFFSET_PRUNED'])
      expect(await read(head)).toAnswer(200)
    }
    await check()
    await cluster.restart('sv-1')
    await check()
  })

  it('of the validator makes reads below the offset return PARTICIPANT_PRUNED_DATA_ACCESSED', async () => {
    const { body } = await send(`${cluster.urls.validator}/v2/state/ledger-end`, {
      headers: { authorization: `Bearer ${alice.token}` },
    })
    expect(await cluster.prune('validator', body.offset)).toBe(body.offset)
    const read = { beginExclusive: 0, filter: { filtersByParty: { [alice.party]: {} } } }
    expect(await post('/v2/updates', read)).toMatchObject({
      status: 400,
      code: 'PARTICIPANT_PRUNED_DATA_ACCESSED',
      context: { earliest_offset: String(body.offset) },
    })
    await expect(cluster.prune('validator', body.offset + 1_000_000)).rejects.toThrow(
      'is after ledger end',
    )
  })
})

describe('@canton-network/core-ledger-client, unchanged,', () => {
  const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet }
  const connect = async (token: string) => {
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

  it('connects, and reads the version and its user', async () => {
    const client = await connect(alice.token)
    expect(client.getCurrentClientVersion()).toBe('3.5')
    const answer = await client.get('/v2/authenticated-user')
    expect(answer['user']).toMatchObject({
      id: 'alice',
      primaryParty: alice.party,
      isDeactivated: false,
    })
  })

  it('submits a command, waits for it, and reads the update', async () => {
    const client = await connect(alice.token)
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

  it('submits a command, and finds its completion or its error', async () => {
    const client = await connect(alice.token)
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

  it('recognizes our errors', async () => {
    const client = await connect(alice.token)
    const refused = await client
      .post('/v2/commands/async/submit', tapRequest({ commands: [] }))
      .catch((error: unknown) => error)
    expect(isJsCantonError(refused)).toBe(true)
    expect(refused).toMatchObject({ code: 'MISSING_FIELD', errorCategory: 8 })
  })

  it('administers users and parties', async () => {
    const client = await connect(await cluster.token())
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
})

describe('@canton-network/wallet-sdk, unchanged,', () => {
  const connect = (token: string) => {
    const auth = { method: 'static', token }
    return SDK.create({
      auth,
      ledgerClientUrl: cluster.urls.validator,
      logAdapter: { log() {} },
      events: { auth, websocketURL: cluster.urls.validator.replace('http', 'ws') },
    })
  }
  const COIN = '#quorumscan-coin:Coin:Coin'
  const HOLDING = '#quorumscan-coin:Coin.Holding:Holding'

  /** The first element with this member. */
  async function first(elements: AsyncIterable<Record<string, never>>, member: string) {
    for await (const element of elements) {
      const found = Object.values(element)[0]?.[member] as { value: object } | undefined
      if (found !== undefined) return found.value
    }
    throw new Error(`the stream ended without a ${member}`)
  }

  beforeAll(() => {
    // Node 20 has no WebSocket; browsers have one.
    globalThis.WebSocket ??= WebSocket as never
  })

  it('submits, and follows updates and completions by WebSocket', async () => {
    const sdk = await connect(alice.token)
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

  it('reads active contracts, and lists the parties that it may use', async () => {
    const sdk = await connect(alice.token)
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

  it('administers users and parties', async () => {
    const sdk = await connect(await cluster.token())
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
    const own = await connect(await cluster.token('wallet'))
    const rights = async () => (await own.user.rights.list()).rights
    expect(await rights()).toContainEqual({ kind: { CanReadAsAnyParty: { value: {} } } })
    expect(await own.party.list()).toEqual(expect.arrayContaining([primaryParty, alice.party]))
    await sdk.user.rights.revoke(more)
    expect(await rights()).toEqual([{ kind: { CanActAs: { value: { party: primaryParty } } } }])
  })
})
