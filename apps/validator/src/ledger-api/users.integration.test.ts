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
      metadata: { resourceVersion: '', annotations: { 'a/b': 'ü' } },
      identityProviderId: '',
    }
    const rights = [right('CanActAs', { party }), right('CanReadAsAnyParty')]
    expect(await admin.post('/v2/users', { user, rights })).toMatchObject({
      status: 200,
      body: { user },
    })
    expect((await admin.get('/v2/users/made')).body).toEqual({ user })
    expect((await admin.get('/v2/users/made/rights')).body).toEqual({ rights })
    expect((await (await clientOf('made')).get('/v2/authenticated-user')).body).toEqual({ user })
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
      localMetadata: { resourceVersion: '', annotations: { note: 'x' } },
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
      version: '3.5.10',
      features: { userManagement: { supported: true, maxRightsPerUser: 1000 } },
    })
  })
})
