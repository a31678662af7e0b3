import type { HttpAnswer } from '@quorumscan/testkit'
import { describe, expect } from 'vitest'
import { itInWorld } from '../testing/world-fixtures.ts'

const it = itInWorld
  .extend(
    'here',
    { scope: 'file' },
    async ({ admin }) =>
      (await admin.get('/v2/parties/participant-id')).body.participantId.split('::')[1] as string,
  )
  .extend(
    'clientOf',
    ({ world }) =>
      async (user: string) =>
        await world.clientOf(user),
  )
  .extend('allocate', ({ admin }) => async (partyIdHint: string): Promise<string> => {
    return (await admin.post('/v2/parties', { partyIdHint })).body.partyDetails.party
  })

const right = (kind: string, value: object = {}) => ({ kind: { [kind]: { value } } })
const outcome = ({ status, body }: HttpAnswer) => `${status} ${body.code ?? ''}`.trim()

describe('users', () => {
  it('are created with rights by administrators', async ({ allocate, admin, clientOf }) => {
    const party = await allocate('made')
    const user = {
      id: 'made',
      primaryParty: party,
      isDeactivated: false,
      metadata: { annotations: { 'a/b': 'ü' } },
      identityProviderId: '',
    }
    const shown = { ...user, metadata: { resourceVersion: '0', ...user.metadata } }
    const rights = [right('CanActAs', { party }), right('CanReadAsAnyParty')]
    expect(await admin.post('/v2/users', { user, rights })).toMatchObject({
      status: 200,
      body: { user: shown },
    })
    expect((await admin.get('/v2/users/made')).body).toEqual({ user: shown })
    expect((await admin.get('/v2/users/made/rights')).body).toEqual({ rights })
    expect((await (await clientOf('made')).get('/v2/authenticated-user')).body).toEqual({
      user: shown,
    })
    const again = await admin.post('/v2/users', { user: { id: 'made' } })
    expect(outcome(again)).toBe('409 USER_ALREADY_EXISTS')
  })

  it('may read their own record, and no other', async ({ admin, clientOf }) => {
    await admin.post('/v2/users', { user: { id: 'curious' } })
    const curious = await clientOf('curious')
    expect(outcome(await curious.get('/v2/users/curious'))).toBe('200')
    expect((await curious.get('/v2/users/curious/rights')).body).toEqual({ rights: [] })
    expect(outcome(await curious.get('/v2/users/participant_admin'))).toBe('403 NA')
    expect(outcome(await curious.get('/v2/users/participant_admin/rights'))).toBe('403 NA')
  })

  it('are administered by administrators only', async ({ admin, clientOf }) => {
    await admin.post('/v2/users', { user: { id: 'plain' } })
    const plain = await clientOf('plain')
    const calls: readonly (readonly [string, string, object?])[] = [
      ['GET', '/v2/users'],
      ['POST', '/v2/users', { user: { id: 'x' } }],
      ['PATCH', '/v2/users/plain', { user: {}, updateMask: { paths: ['is_deactivated'] } }],
      ['POST', '/v2/users/plain/rights', { rights: [right('ParticipantAdmin')] }],
      ['PATCH', '/v2/users/plain/rights', { rights: [] }],
      ['POST', '/v2/parties', { partyIdHint: 'x' }],
      ['GET', '/v2/parties'],
    ]
    for (const [method, path, body] of calls)
      expect(outcome(await plain.send(method, path, body)), `${method} ${path}`).toBe('403 NA')
    expect((await plain.get('/v2/users/plain/rights')).body).toEqual({ rights: [] })
  })

  it('get and lose rights; the answer lists the changed ones', async ({ allocate, admin }) => {
    const party = await allocate('acting')
    await admin.post('/v2/users', {
      user: { id: 'acting' },
      rights: [right('CanReadAs', { party })],
    })
    const both = [right('CanReadAs', { party }), right('CanActAs', { party })]
    const change = (method: string, rights: object[]) =>
      admin.send(method, '/v2/users/acting/rights', { userId: 'acting', rights })
    expect((await change('POST', both)).body).toEqual({ newlyGrantedRights: [both[1]] })
    expect((await change('POST', both)).body).toEqual({ newlyGrantedRights: [] })
    expect((await change('PATCH', [both[0] ?? {}])).body).toEqual({ newlyRevokedRights: [both[0]] })
    expect((await change('PATCH', [both[0] ?? {}])).body).toEqual({ newlyRevokedRights: [] })
    expect((await admin.get('/v2/users/acting/rights')).body).toEqual({ rights: [both[1]] })
  })

  it('keep annotations that an update does not name, and the version tells who was first', async ({
    admin,
  }) => {
    const annotations = { a: '1', b: '2' }
    await admin.post('/v2/users', { user: { id: 'noted', metadata: { annotations } } })
    const patch = (metadata: object, paths = ['metadata.annotations'], more: object = {}) =>
      admin.patch('/v2/users/noted', { user: { metadata, ...more }, updateMask: { paths } })
    const first = await patch({ annotations: { c: '3' } })
    expect(first.body.user.metadata.annotations).toEqual({ a: '1', b: '2', c: '3' })
    const second = await patch({ annotations: { a: '', b: '4', unknown: '' } }, ['metadata'])
    expect(second.body.user.metadata.annotations).toEqual({ b: '4', c: '3' })
    const versions = [first, second].map(({ body }) => body.user.metadata.resourceVersion)
    expect(new Set(['', '0', ...versions]).size).toBe(4)
    // The version is checked whatever the mask selects.
    for (const paths of [['metadata.annotations'], ['is_deactivated'], ['primary_party']]) {
      const stale = await patch({ annotations: { d: '5' }, resourceVersion: versions[0] }, paths)
      expect(outcome(stale)).toBe('409 CONCURRENT_USER_UPDATE_DETECTED')
    }
    expect((await admin.get('/v2/users/noted')).body).toEqual(second.body)
    const right = await patch({ annotations: { d: '5' }, resourceVersion: versions[1] })
    expect(right.body.user.metadata.annotations).toEqual({ b: '4', c: '3', d: '5' })
    expect(outcome(await patch({ resourceVersion: 'first' }))).toBe('400 INVALID_FIELD')
    // Paths that find the user change nothing.
    const found = ['id', 'metadata.resource_version', 'identity_provider_id']
    expect((await patch({ annotations: { e: '6' } }, found)).body).toEqual(right.body)
    const both = await patch({ annotations: {} }, ['is_deactivated', 'primary_party'], {
      isDeactivated: true,
    })
    expect(both.body.user).toMatchObject({ isDeactivated: true, primaryParty: '' })
    expect(both.body.user.metadata.annotations).toEqual({ b: '4', c: '3', d: '5' })
  })

  it.for([
    [[], '400 MISSING_FIELD'],
    [[''], '400 INVALID_ARGUMENT'],
    [['name'], '400 INVALID_ARGUMENT'],
    [['metadata.annotation'], '400 INVALID_ARGUMENT'],
    [['metadata.annotations.a'], '400 INVALID_ARGUMENT'],
    [['primaryParty'], '400 INVALID_ARGUMENT'],
    [['metadata', 'metadata'], '400 INVALID_ARGUMENT'],
  ] as const)('are not changed with the mask %j', async ([paths, want], { admin }) => {
    await admin.post('/v2/users', { user: { id: 'masked' } })
    const answer = await admin.patch('/v2/users/masked', {
      user: { metadata: { annotations: { a: '1' } } },
      updateMask: { paths },
    })
    expect(outcome(answer)).toBe(want)
  })

  it.for([
    '',
    '/',
    'a/',
    '/a',
    'a/b/c',
    '-a',
    'a-',
    '.a',
    'a b',
    'ä',
    'x'.repeat(64),
    'a..b/c',
    '-a/b',
    'a_b/c',
    `${'x'.repeat(254)}/a`,
  ])('have no annotation %j, at creation or later', async (key, { admin }) => {
    const metadata = { annotations: { [key]: 'x' } }
    await admin.post('/v2/users', { user: { id: 'keys' } })
    const created = await admin.post('/v2/users', { user: { id: 'bad-keys', metadata } })
    const updateMask = { paths: ['metadata'] }
    const changed = await admin.patch('/v2/users/keys', { user: { metadata }, updateMask })
    expect([created, changed].map(outcome)).toEqual(Array(2).fill('400 INVALID_ARGUMENT'))
    expect(outcome(await admin.get('/v2/users/bad-keys'))).toBe('404 USER_NOT_FOUND')
  })

  it('are created with annotations of all well-formed keys, without empty values or versions', async ({
    admin,
  }) => {
    const annotations = Object.fromEntries(
      ['a', 'A9', 'a.b_c-d', 'x'.repeat(63), 'splice.example.com/a_b', 'A/b'].map((key) => [
        key,
        ' ',
      ]),
    )
    const create = (metadata: object) =>
      admin.post('/v2/users', { user: { id: 'well-noted', metadata } })
    expect(outcome(await create({ annotations: { a: '' } }))).toBe('400 INVALID_ARGUMENT')
    expect(outcome(await create({ resourceVersion: '0' }))).toBe('400 INVALID_FIELD')
    expect((await create({ annotations })).body.user.metadata.annotations).toEqual(annotations)
  })

  it('are refused while they are deactivated', async ({ admin, clientOf }) => {
    await admin.post('/v2/users', { user: { id: 'resting' } })
    const resting = await clientOf('resting')
    const set = (isDeactivated: boolean) =>
      admin.patch('/v2/users/resting', {
        user: { id: 'resting', isDeactivated },
        updateMask: { paths: ['is_deactivated'] },
      })
    expect((await set(true)).body.user).toMatchObject({ id: 'resting', isDeactivated: true })
    const refused = await resting.get('/v2/authenticated-user')
    expect(refused).toMatchObject({
      status: 403,
      body: { code: 'NA', context: { ledger_api_error: 'invalid token' } },
    })
    await set(false)
    expect(outcome(await resting.get('/v2/authenticated-user'))).toBe('200')
  })

  it.for([
    [{ user: {} }, '400 MISSING_FIELD'],
    [{ user: { id: 'ä' } }, '400 INVALID_FIELD'],
    [{ user: { id: 'x'.repeat(129) } }, '400 INVALID_FIELD'],
    [{ user: { id: 'x', primaryParty: 'alice' } }, '400 INVALID_FIELD'],
    [{ user: { id: 'x', identityProviderId: 'idp' } }, '400 INVALID_ARGUMENT'],
    [{ user: { id: 'x' }, rights: [{ kind: { Empty: {} } }] }, '400 MISSING_FIELD'],
    [{ user: { id: 'x' }, rights: [right('CanActAs')] }, '400 MISSING_FIELD'],
    [
      { user: { id: 'x' }, rights: [right('CanActAs', { party: 'alice' })] },
      '400 INVALID_ARGUMENT',
    ],
    [{ user: { id: 'x' }, rights: [right('IdentityProviderAdmin')] }, '400 INVALID_ARGUMENT'],
    [
      { user: { id: 'x', metadata: { annotations: { a: 'x'.repeat(20_000) } } } },
      '400 INVALID_ARGUMENT',
    ],
  ] as const)('%j is refused', async ([body, want], { admin }) => {
    expect(outcome(await admin.post('/v2/users', body))).toBe(want)
    expect(outcome(await admin.get('/v2/users/x'))).toBe('404 USER_NOT_FOUND')
  })

  it('that are unknown are named in the error', async ({ admin, clientOf }) => {
    for (const [method, body] of [
      ['POST', { rights: [] }],
      ['PATCH', { rights: [] }],
      ['GET'],
    ] as const)
      expect(outcome(await admin.send(method, '/v2/users/unknown/rights', body)), method).toBe(
        '404 USER_NOT_FOUND',
      )
    expect(outcome(await (await clientOf('unknown')).get('/v2/authenticated-user'))).toBe('403 NA')
  })

  it('are listed page by page', async ({ admin }) => {
    const ids: string[] = []
    let token = ''
    do {
      const { body } = await admin.get(`/v2/users?pageSize=2&pageToken=${token}`)
      expect(body.users.length).toBeLessThanOrEqual(2)
      ids.push(...body.users.map((user: { id: string }) => user.id))
      token = body.nextPageToken
    } while (token !== '')
    expect(ids).toEqual([...ids].sort())
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toContain('participant_admin')
    expect(outcome(await admin.get('/v2/users?pageSize=-1'))).toBe('400 INVALID_ARGUMENT')
    expect(outcome(await admin.get('/v2/users?pageToken=%2A'))).toBe('400 INVALID_ARGUMENT')
    expect((await admin.get('/v2/users?pageSize=x')).type).toBe('text/plain')
  })

  it('lose rights permanently, also the first administrator after a restart', async ({
    admin,
    clientOf,
    world,
  }) => {
    const admins = [right('ParticipantAdmin')]
    await admin.post('/v2/users', { user: { id: 'successor' }, rights: admins })
    const successor = await clientOf('successor')
    const path = '/v2/users/participant_admin/rights'
    expect((await successor.patch(path, { rights: admins })).body).toEqual({
      newlyRevokedRights: admins,
    })
    await world.restart()
    expect(outcome(await admin.get('/v2/users'))).toBe('403 NA')
    expect((await successor.post(path, { rights: admins })).body).toEqual({
      newlyGrantedRights: admins,
    })
    expect(outcome(await admin.get('/v2/users'))).toBe('200')
  })
})

describe('parties', () => {
  it('are allocated with annotations for a user', async ({ admin, here }) => {
    await admin.post('/v2/users', { user: { id: 'holder' } })
    const answer = await admin.post('/v2/parties', {
      partyIdHint: 'held',
      userId: 'holder',
      localMetadata: { annotations: { note: 'x' } },
    })
    const partyDetails = {
      party: `held::${here}`,
      isLocal: true,
      localMetadata: { resourceVersion: '1', annotations: { note: 'x' } },
      identityProviderId: '',
    }
    expect(answer.body).toEqual({ partyDetails })
    expect((await admin.get('/v2/users/holder/rights')).body).toEqual({
      rights: [right('CanActAs', { party: partyDetails.party })],
    })
    expect((await admin.get(`/v2/parties/held::${here}`)).body).toEqual({
      partyDetails: [partyDetails],
    })
    expect((await admin.get(`/v2/parties/other::${here}`)).body).toEqual({ partyDetails: [] })
    expect(outcome(await admin.post('/v2/parties', { partyIdHint: 'held' }))).toBe(
      '400 INVALID_ARGUMENT',
    )
  })

  it('keep annotations that an update does not name, and the version tells who was first', async ({
    admin,
    allocate,
    here,
  }) => {
    const party = await allocate('noted')
    const patch = (details: object, paths = ['local_metadata.annotations']) =>
      admin.patch(`/v2/parties/${party}`, { partyDetails: details, updateMask: { paths } })
    const noted = (annotations: object, resourceVersion = '') => ({
      localMetadata: { annotations, resourceVersion },
    })
    const first = await patch(noted({ a: '1', b: '2' }))
    const second = await patch(noted({ a: '', c: '3' }), ['local_metadata'])
    const { annotations, resourceVersion } = second.body.partyDetails.localMetadata
    expect(annotations).toEqual({ b: '2', c: '3' })
    const stale = first.body.partyDetails.localMetadata.resourceVersion
    expect(stale).not.toBe(resourceVersion)
    expect(outcome(await patch(noted({ d: '4' }, stale)))).toBe(
      '409 CONCURRENT_PARTY_DETAILS_UPDATE_DETECTED',
    )
    expect(outcome(await patch(noted({}, 'x')))).toBe('400 INVALID_FIELD')
    expect(outcome(await patch(noted({ '-': 'x' })))).toBe('400 INVALID_ARGUMENT')
    for (const paths of [['local_metadatas'], ['is_local'], ['party', 'party']])
      expect(outcome(await patch(noted({ d: '4' }), paths))).toBe('400 INVALID_ARGUMENT')
    expect(outcome(await patch(noted({}), []))).toBe('400 MISSING_FIELD')
    const found = await patch({ ...noted({ d: '4' }), isLocal: true }, ['party', 'is_local'])
    expect(found.body).toEqual(second.body)
    const created = { partyIdHint: 'badly-noted', localMetadata: { annotations: { '-': 'x' } } }
    expect(outcome(await admin.post('/v2/parties', created))).toBe('400 INVALID_ARGUMENT')
    const unknown = await admin.get(`/v2/parties/badly-noted::${here}`)
    expect(unknown.body).toEqual({ partyDetails: [] })
  })

  it('are listed by the start of their ids, page by page', async ({ admin, allocate }) => {
    const parties: string[] = []
    for (const hint of ['listed-b', 'listed', 'listed-a', 'liste', 'listee'])
      parties.push(await allocate(hint))
    const list = async (prefix: string, pageSize = 0) => {
      const found: string[] = []
      let pageToken = ''
      do {
        const query = new URLSearchParams({
          'filter-party': prefix,
          pageToken,
          pageSize: String(pageSize),
        })
        const { status, body } = await admin.get(`/v2/parties?${query}`)
        expect(status).toBe(200)
        found.push(...body.partyDetails.map(({ party }: { party: string }) => party))
        pageToken = body.nextPageToken
      } while (pageToken !== '')
      return found
    }
    const wanted = parties.filter((party) => party.startsWith('listed')).sort()
    expect(await list('listed')).toEqual(wanted)
    expect(await list('listed', 1)).toEqual(wanted)
    expect(await list('listed', 2)).toEqual(wanted)
    expect(await list(parties[1] ?? '')).toEqual([parties[1]])
    for (const none of ['nosuch', 'listed-c', 'LISTED', 'ä', '\x7f', ' listed'])
      expect(await list(none)).toEqual([])
    expect(await list('')).toEqual(expect.arrayContaining(parties))
  })

  it('get a unique name without a hint', async ({ allocate }) => {
    expect(await allocate('')).toMatch(/^party-[0-9a-f]{32}::1220/)
  })

  it('allocated by an administrator are not given to users who register later', async ({
    allocate,
    world,
  }) => {
    const party = await allocate('latecomer')
    const latecomer = await world.clientOf('latecomer')
    const { party_id: own } = (await latecomer.post('/v0/register')).body
    expect(own).toBe(party.replace('::', '_n2::'))
  })

  it.for([
    [{ partyIdHint: 'a::b' }],
    [{ partyIdHint: 'x'.repeat(186) }],
    [{ partyIdHint: 'x', identityProviderId: 'idp' }],
    [{ partyIdHint: 'x', synchronizerId: `other::1220${'0'.repeat(64)}` }],
  ] as const)('%j is refused', async ([body], { admin }) => {
    expect(outcome(await admin.post('/v2/parties', body))).toBe('400 INVALID_ARGUMENT')
  })

  it('are listed page by page, also those of other participants', async ({ admin, here }) => {
    const all: { party: string; isLocal: boolean }[] = []
    let token = ''
    do {
      const { body } = await admin.get(`/v2/parties?pageSize=3&pageToken=${token}`)
      all.push(...body.partyDetails)
      token = body.nextPageToken
    } while (token !== '')
    const parties = all.map(({ party }) => party)
    expect(parties).toEqual([...parties].sort())
    expect(all.every(({ party, isLocal }) => isLocal === party.endsWith(here))).toBe(true)
    expect(all.some(({ isLocal }) => !isLocal)).toBe(true)
  })
})

describe('the version', () => {
  it('can be read without a token', async ({ world }) => {
    const { status, body } = await world.anyone().get('/v2/version')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      version: '3.5.14',
      features: { userManagement: { supported: true, maxRightsPerUser: 1000 } },
    })
  })
})
