/**
 * The operations that upstream's ledger interface 3.5.14 has in addition to those of `updates` and `commands`.
 *
 * @module-tag rest
 */
import { once } from 'node:events'
import { refusedLedgerOperations } from '@quorumscan/api'
import { sha256Hex } from '@quorumscan/base'
import type { HttpAnswer } from '@quorumscan/testkit'
import { describe, expect } from 'vitest'
import { WebSocket } from 'ws'
import { itWithPeople } from '../testing/world-fixtures.ts'

const PAGE = '/v2/updates/get-updates-page'
const NO_PARTY = `nobody::1220${'0'.repeat(64)}`

const outcome = ({ status, type, body }: HttpAnswer) =>
  type === 'text/plain' ? `${status} ${body}` : `${status} ${body.code ?? ''}`.trim()

const format = (...parties: string[]) => ({
  includeTransactions: {
    eventFormat: { filtersByParty: Object.fromEntries(parties.map((party) => [party, {}])) },
    transactionShape: 'TRANSACTION_SHAPE_LEDGER_EFFECTS',
  },
})

const it = itWithPeople
  .extend(
    'ledgerEnd',
    ({ client }) =>
      async (): Promise<number> =>
        (await client.get('/v2/state/ledger-end')).body.offset,
  )
  .extend('tap', ({ client, contracts, alice }) => async (more: object = {}) => {
    const request = contracts.tapRequest(alice.party, more)
    const answer = await client.post('/v2/commands/submit-and-wait', request)
    expect(answer).toAnswer(200)
    return answer.body as { updateId: string; completionOffset: number }
  })
  .extend('reader', { scope: 'file' }, async ({ admin, world }) => {
    const rights = [{ kind: { CanReadAsAnyParty: { value: {} } } }]
    expect(await admin.post('/v2/users', { user: { id: 'any-reader' }, rights })).toAnswer(200)
    return await world.clientOf('any-reader')
  })
  .extend('firstFrame', ({ world }) => async (path: string, request: object) => {
    const protocols = [`jwt.token.${await world.network.token('alice')}`, 'daml.ws.auth']
    const socket = new WebSocket(`${world.url().replace('http', 'ws')}${path}`, protocols)
    await once(socket, 'open')
    socket.send(JSON.stringify(request))
    const [data] = await once(socket, 'message')
    socket.close()
    return JSON.parse(String(data))
  })

describe('pages of updates', () => {
  it('refuse in the order of updates', async ({ client, alice, bob, ledgerEnd }) => {
    const own = format(alice.party)
    const end = await ledgerEnd()
    const answers = await Promise.all(
      [
        {},
        { updateFormat: format(bob.party), maxPageSize: 0 },
        { updateFormat: own, maxPageSize: 0, beginOffsetExclusive: -1 },
        { updateFormat: own, maxPageSize: 1001 },
        { updateFormat: own, beginOffsetExclusive: -1 },
        { updateFormat: own, endOffsetInclusive: 0 },
        { updateFormat: own, beginOffsetExclusive: end + 1_000_000 },
        { updateFormat: own, endOffsetInclusive: end + 1_000_000 },
        { updateFormat: own, beginOffsetExclusive: 2, endOffsetInclusive: 1 },
        { updateFormat: {}, beginOffsetExclusive: 'x' },
      ].map(async (body) => outcome(await client.post(PAGE, body))),
    )
    expect(answers).toEqual([
      '400 MISSING_FIELD',
      '403 NA',
      '400 INVALID_ARGUMENT',
      '400 INVALID_ARGUMENT',
      '400 NEGATIVE_OFFSET',
      '400 NON_POSITIVE_OFFSET',
      '400 OFFSET_AFTER_LEDGER_END',
      '400 OFFSET_AFTER_LEDGER_END',
      '400 OFFSET_OUT_OF_RANGE',
      '400 body.beginOffsetExclusive: must be an integer',
    ])
  })

  it('follow the ledger: a walk without end always has a token, which finds what is new', async ({
    client,
    alice,
    tap,
    ledgerEnd,
  }) => {
    const beginOffsetExclusive = await ledgerEnd()
    const request = { beginOffsetExclusive, updateFormat: format(alice.party) }
    const first = await client.post(PAGE, request)
    expect(first.body.updates).toEqual([])
    const { updateId } = await tap()
    const next = await client.post(PAGE, { ...request, pageToken: first.body.nextPageToken })
    const ids = next.body.updates.map((one: Wire) => one.update.Transaction.value.updateId)
    expect(ids).toEqual([updateId])
    expect(next.body.nextPageToken).not.toBeNull()
    expect(next.body.lowestPageOffsetExclusive).toBe(first.body.highestPageOffsetInclusive)
  })

  it('are continued only by their own token', async ({ client, alice, ledgerEnd }) => {
    const updateFormat = format(alice.party)
    const end = await ledgerEnd()
    const tokenOf = (text: string) => Buffer.from(text).toString('base64url')
    const walk = async (pageToken: string, more: object = {}) =>
      outcome(await client.post(PAGE, { updateFormat, pageToken, ...more }))
    expect(await walk(tokenOf(`asc:0:${end}:0`), { endOffsetInclusive: end })).toBe('200')
    for (const token of ['x', tokenOf(`asc:5::1`), tokenOf(`asc:0:1:2`), tokenOf('desc:0::1')])
      expect(await walk(token)).toBe('400 INVALID_ARGUMENT')
    expect(await walk(tokenOf(`asc:0:${end}:0`))).toBe('400 INVALID_ARGUMENT')
    expect(await walk(tokenOf('asc:1::1'), { beginOffsetExclusive: 2 })).toBe(
      '400 INVALID_ARGUMENT',
    )
    expect(await walk(tokenOf('asc:0::0'), { descendingOrder: true })).toBe('400 INVALID_ARGUMENT')
    expect(await walk(tokenOf(`asc:0::${end + 1_000_000}`))).toBe('400 OFFSET_AFTER_LEDGER_END')
  })
})

type Wire = { readonly update: { readonly Transaction: { readonly value: { updateId: string } } } }

describe('single transactions', () => {
  it('are the same by offset and by id, as lists and as trees', async ({ client, alice, tap }) => {
    const { updateId, completionOffset: offset } = await tap()
    const of = { requestingParties: [alice.party] }
    const byId = await client.post('/v2/updates/transaction-by-id', { updateId, ...of })
    expect(byId.body.transaction).toMatchObject({ updateId, offset })
    expect(
      (await client.post('/v2/updates/transaction-by-offset', { offset, ...of })).body,
    ).toEqual(byId.body)
    const query = `?parties=${encodeURIComponent(alice.party)}`
    const treeById = await client.get(`/v2/updates/transaction-tree-by-id/${updateId}${query}`)
    const tree = await client.get(`/v2/updates/transaction-tree-by-offset/${offset}${query}`)
    expect(treeById).toAnswer(200)
    expect(tree.body).toEqual(treeById.body)
    const list = await client.post('/v2/updates/trees', {
      beginExclusive: offset - 1,
      endInclusive: offset,
      filter: { filtersByParty: { [alice.party]: {} } },
    })
    expect(tree.body.transaction).toEqual(list.body[0].update.TransactionTree.value)
  })

  it('are shown to parties that the user may read as', async ({ client, alice, bob, tap }) => {
    const { completionOffset: offset } = await tap()
    const treeOf = async (at: string | number, party: string) =>
      outcome(await client.get(`/v2/updates/transaction-tree-by-offset/${at}?parties=${party}`))
    expect(await treeOf(offset, encodeURIComponent(bob.party))).toBe('403 NA')
    const own = encodeURIComponent(alice.party)
    expect(await treeOf('0', own)).toBe('400 NON_POSITIVE_OFFSET')
    expect(await treeOf('x', own)).toBe('400 path parameter offset: must be an integer')
    expect(await treeOf('9223372036854775807', own)).toBe('404 UPDATE_NOT_FOUND')
    const none = await client.get(`/v2/updates/transaction-tree-by-offset/${offset}`)
    expect(outcome(none)).toBe('400 MISSING_FIELD')
    const many = Array.from({ length: 201 }, () => 'parties=a').join('&')
    const tooMany = await client.get(`/v2/updates/transaction-tree-by-offset/${offset}?${many}`)
    expect(outcome(tooMany)).toBe('400 INVALID_ARGUMENT')
  })

  it('are returned as a tree by the submission itself', async ({ client, contracts, alice }) => {
    const path = '/v2/commands/submit-and-wait-for-transaction-tree'
    const { status, body } = await client.post(path, contracts.tapRequest(alice.party))
    expect(status).toBe(200)
    const { offset, eventsById } = body.transactionTree
    const query = `?parties=${encodeURIComponent(alice.party)}`
    const tree = await client.get(`/v2/updates/transaction-tree-by-offset/${offset}${query}`)
    expect(tree.body.transaction).toEqual(body.transactionTree)
    expect(Object.keys(eventsById)).not.toEqual([])
  })

  it('arrive on the WebSockets of flats and trees', async ({ firstFrame, alice, tap }) => {
    const { updateId, completionOffset: offset } = await tap()
    const filter = { filtersByParty: { [alice.party]: {} } }
    const range = { beginExclusive: offset - 1, endInclusive: offset, filter }
    const flat = await firstFrame('/v2/updates/flats', range)
    expect(flat.update.Transaction.value.updateId).toBe(updateId)
    const tree = await firstFrame('/v2/updates/trees', range)
    expect(tree.update.TransactionTree.value.updateId).toBe(updateId)
    const mixed = { beginExclusive: 0, updateFormat: format(alice.party) }
    expect((await firstFrame('/v2/updates/trees', mixed)).code).toBe('INVALID_ARGUMENT')
  })
})

describe('contracts by id', () => {
  it('are shown to their stakeholders, also once archived', async ({
    client,
    alice,
    bob,
    reader,
    tap,
  }) => {
    const byId = async (contractId: string, queryingParties: readonly string[], by = client) =>
      await by.post('/v2/contracts/contract-by-id', { contractId, queryingParties })
    const { completionOffset: offset } = await tap()
    const update = await client.post('/v2/updates/transaction-by-offset', {
      offset,
      requestingParties: [alice.party],
    })
    const { contractId } = update.body.transaction.events[0].CreatedEvent
    const found = await byId(contractId, [alice.party])
    expect(found.body.createdEvent).toMatchObject({ contractId, witnessParties: [alice.party] })
    expect(outcome(await byId(contractId, [bob.party]))).toBe('403 NA')
    expect(outcome(await byId(contractId, []))).toBe('403 NA')
    expect(outcome(await byId(contractId, [bob.party], bob.client))).toBe(
      '404 CONTRACT_PAYLOAD_NOT_FOUND',
    )
    const ofAny = await byId(contractId, [], reader)
    expect(ofAny.body.createdEvent.witnessParties).toContain(alice.party)
    expect(outcome(await byId('', [alice.party]))).toBe('400 MISSING_FIELD')
    const tooMany = Array.from({ length: 201 }, () => alice.party)
    expect(outcome(await byId(contractId, tooMany))).toBe('400 INVALID_ARGUMENT')
  })
})

describe('completions of commands', () => {
  const PATH = '/v2/commands/command-completions'

  it('are those of any user who submitted for the parties', async ({
    client,
    admin,
    world,
    alice,
    bob,
    reader,
    contracts,
    ledgerEnd,
    firstFrame,
  }) => {
    const beginExclusive = await ledgerEnd()
    const kind = { CanActAs: { value: { party: alice.party } } }
    await admin.post('/v2/users', { user: { id: 'second' }, rights: [{ kind }] })
    const second = await world.clientOf('second')
    const request = contracts.tapRequest(alice.party)
    expect(await second.post('/v2/commands/submit-and-wait', request)).toAnswer(200)
    const of = async (parties: readonly string[], by = client) => {
      const answer = await by.post(`${PATH}?limit=1`, { parties, beginExclusive })
      if (answer.status !== 200) return outcome(answer)
      return answer.body[0].completionResponse.Completion?.value.userId
    }
    expect(await of([alice.party])).toBe('second')
    expect(await of([], reader)).toBe('second')
    expect(await of([bob.party])).toBe('403 NA')
    expect(await of([])).toBe('403 NA')
    // Of one user there is none.
    const own = await client.post('/v2/commands/completions?limit=1&stream_idle_timeout_ms=0', {
      parties: [alice.party],
      beginExclusive,
    })
    expect(own.body).toEqual([])
    const frame = await firstFrame(PATH, { parties: [alice.party], beginExclusive })
    expect(frame.completionResponse.Completion.value.userId).toBe('second')
  })
})

describe('packages', () => {
  it('have contents whose hash is their id', async ({ client, world }) => {
    const { packageIds } = (await client.get('/v2/packages')).body
    for (const id of packageIds) {
      const { status, type, text } = await client.get(`/v2/packages/${id}`)
      expect([status, type]).toEqual([200, 'application/octet-stream'])
      expect(sha256Hex(text)).toBe(id)
      expect((await client.get(`/v2/packages/${id}/status`)).body).toEqual({
        packageStatus: 'PACKAGE_STATUS_REGISTERED',
      })
    }
    const unknown = `/v2/packages/${'0'.repeat(64)}`
    expect(outcome(await client.get(unknown))).toBe('404 PACKAGE_NOT_FOUND')
    expect((await client.get(`${unknown}/status`)).body).toEqual({
      packageStatus: 'PACKAGE_STATUS_UNSPECIFIED',
    })
    expect(world.network.genesis.protocolVersion).toBeGreaterThan(0)
  })

  it('are listed as far as they are in force, and filtered', async ({ client, world }) => {
    const listed = async (body: object) => {
      const answer = await client.post('/v2/package-vetting/list', body)
      if (answer.status !== 200) return outcome(answer)
      const [own, ...others] = answer.body.vettedPackages
      expect(others).toEqual([])
      return own?.packages.map((one: { packageName: string }) => one.packageName) ?? []
    }
    const all = ['coin', 'dso', 'name-service', 'wallet'].map((name) => `quorumscan-${name}`)
    expect(await listed({})).toEqual(all)
    const { synchronizerId } = world.network.genesis
    const here = { topologyStateFilter: { synchronizerIds: [synchronizerId] } }
    expect(await listed(here)).toEqual(all)
    expect(await listed({ topologyStateFilter: { participantIds: ['another'] } })).toEqual([])
    const coin = { packageMetadataFilter: { packageNamePrefixes: ['quorumscan-c'] } }
    expect(await listed(coin)).toEqual(['quorumscan-coin'])
    expect(await listed({ pageSize: 101 })).toBe('400 INVALID_ARGUMENT')
    expect(await listed({ pageToken: 'x' })).toBe('400 INVALID_ARGUMENT')
  })

  it('are preferred where all parties are known', async ({ client, alice }) => {
    const preferred = async (query: string) => {
      const path = '/v2/interactive-submission/preferred-package-version'
      const { status, body } = await client.get(`${path}?${query}`)
      return status === 200
        ? (body.packagePreference?.packageReference.packageName ?? null)
        : body.code
    }
    const own = `parties=${encodeURIComponent(alice.party)}`
    expect(await preferred(`package-name=quorumscan-coin&${own}`)).toBe('quorumscan-coin')
    expect(await preferred('package-name=quorumscan-coin')).toBe('quorumscan-coin')
    expect(await preferred(`package-name=quorumscan-coin&parties=${NO_PARTY}`)).toBeNull()
    expect(await preferred(`package-name=another&${own}`)).toBeNull()
    expect(await preferred(own)).toBe('MISSING_FIELD')

    const all = async (...packageVettingRequirements: object[]) => {
      const path = '/v2/interactive-submission/preferred-packages'
      const answer = await client.post(path, { packageVettingRequirements })
      if (answer.status !== 200) return outcome(answer)
      return answer.body.packageReferences.map((one: { packageName: string }) => one.packageName)
    }
    const of = (packageName: string, ...parties: string[]) => ({ packageName, parties })
    const both = [of('quorumscan-wallet', alice.party), of('quorumscan-coin', alice.party)]
    expect(await all(...both)).toEqual(['quorumscan-wallet', 'quorumscan-coin'])
    expect(await all()).toBe('400 MISSING_FIELD')
    expect(await all(of('quorumscan-coin'))).toBe('400 MISSING_FIELD')
    expect(await all(of('another', alice.party))).toBe('400 NO_PREFERRED_PACKAGES_FOUND')
    expect(await all(of('quorumscan-coin', NO_PARTY))).toBe('400 NO_PREFERRED_PACKAGES_FOUND')
    const twice = [of('quorumscan-coin', alice.party), of('quorumscan-coin', alice.party)]
    expect(await all(...twice)).toBe('400 INVALID_ARGUMENT')
    const many = Array.from({ length: 201 }, (_, index) => `p-${index}`)
    expect(await all(of('quorumscan-coin', ...many))).toBe('400 INVALID_ARGUMENT')
  })
})

it('the one issuer is listed to administrators, and its id means the default', async ({
  admin,
  client,
}) => {
  const { identityProviderConfigs } = (await admin.get('/v2/idps')).body
  expect(identityProviderConfigs).toMatchObject([{ identityProviderId: 'default', jwksUrl: '' }])
  expect((await admin.get('/v2/idps/default')).body).toEqual({
    identityProviderConfig: identityProviderConfigs[0],
  })
  expect(outcome(await admin.get('/v2/idps/another'))).toBe('404 IDP_CONFIG_NOT_FOUND')
  expect(outcome(await client.get('/v2/idps'))).toBe('403 NA')
  expect(outcome(await client.get('/v2/authenticated-user?identity-provider-id=default'))).toBe(
    '200',
  )
})

it('what has no meaning here is answered 501, once the token is checked', async ({
  client,
  world,
}) => {
  for (const operation of refusedLedgerOperations) {
    const [method = '', path = ''] = operation.split(' ')
    const url = path.replace('{idpId}', 'default')
    const answer = await client.send(method, url, Buffer.alloc(300 * 1024))
    expect(answer.status, operation).toBe(501)
    expect(answer.body).toMatchObject({ code: 'NA', grpcCodeValue: 12 })
    const unknown = await fetch(`${world.url()}${url}`, { method })
    expect(unknown.status, operation).toBe(401)
  }
})

it('a walk fails if what it has not read is pruned', async ({
  client,
  admin,
  alice,
  tap,
  ledgerEnd,
}) => {
  for (let made = 0; made < 3; made++) await tap()
  for (const descendingOrder of [false, true]) {
    await tap()
    const request = { updateFormat: format(alice.party), maxPageSize: 1, descendingOrder }
    const { body } = await client.post(PAGE, request)
    expect(body.updates).toHaveLength(1)
    const pruneUpTo = (await ledgerEnd()) - 1
    expect(await admin.post('/v2/participant/prune', { pruneUpTo })).toAnswer(200)
    const next = await client.post(PAGE, { ...request, pageToken: body.nextPageToken })
    expect(outcome(next)).toBe('400 PARTICIPANT_PRUNED_DATA_ACCESSED')
    const again = await client.post(PAGE, request)
    expect(again).toAnswer(200)
  }
})
