/** The fakes and the real client, one after the other, under the same expectations. */
import {
  createSignedState,
  createTestNetwork,
  scansBody,
  signAddress,
  simEntry,
  untilTrue,
} from '@quorumscan/testkit'
import type { Lookup } from '@quorumscan/verifier'
import {
  batchQuery,
  CERTIFIED_MEDIA_TYPE,
  entriesQuery,
  type HashedNetwork,
  nameQuery,
  partyQuery,
  sha256,
} from '@quorumscan/verifier/certified'
import nock from 'nock'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type FakeNames, fakeNames } from './fakes.ts'
import type { Metadata, NameChange } from './names/lookup-types.ts'
import type { Names } from './names/names-type.ts'
import { systemClock } from './platform/clock.ts'
import { createScan } from './scan.ts'

const PARTY = `alice::1220${'a'.repeat(64)}`
const OTHER = `other::1220${'b'.repeat(64)}`
const NAME = 'alice.unverified.ns'
const REGISTRY_URLS = 'splice.lfdecentralizedtrust.org/registry-urls'
const FAR_MICROS = 4_000_000_000_000_000

type Controlled = {
  readonly names: Names
  changeOwner(name: string, party: string): void
  setMetadata(name: string, metadata: Metadata): void
  remove(name: string): void
  expire(name: string): void
  /** No node answers from now on. */
  cutOff(): void
  close(): Promise<void>
}

const testNetwork = createTestNetwork()
const { genesis, genesisHash, scans: keys } = testNetwork
const network: HashedNetwork = { genesis, genesisHash, sha256 }
const urlOf = (name: string) => `https://${name}.scan.test`

/** `createScan` over nodes that prove their answers from entries in memory. */
function realNames(parties: Readonly<Record<string, string>>): Controlled {
  const entries = new Map<string, ReturnType<typeof simEntry>>()
  let offset = 7
  let recordTime = systemClock.nowMicros()
  const nextRecordTime = () => Math.max(recordTime + 1, systemClock.nowMicros())
  const put = (
    label: string,
    user: string,
    { expiresAt = FAR_MICROS, description = '', at = nextRecordTime() } = {},
  ) => {
    const name = `${label}.unverified.ns`
    entries.set(name, simEntry(name, { user, expiresAt, description }))
    state = createState(at)
  }
  const createState = (at = nextRecordTime()) => {
    offset++
    recordTime = at
    return createSignedState(testNetwork, { offset, recordTime, entries: [...entries.values()] })
  }
  let state = createState()
  for (const [label, party] of Object.entries(parties)) put(label, party)
  const questionOf = (uri: string, body: string) => {
    const page = { pageSize: 100, pageToken: null }
    if (uri.includes('name_prefix=')) return entriesQuery('al', page, network)
    if (uri.includes('by-party'))
      return partyQuery(decodeURIComponent(/by-party\/([^?]*)/.exec(uri)?.[1] ?? ''), network)
    if (body !== '') return batchQuery((JSON.parse(body) as { lookups: Lookup[] }).lookups, network)
    return nameQuery(decodeURIComponent(/by-name\/([^?]*)/.exec(uri)?.[1] ?? ''))
  }
  const reply = (uri: string, body: nock.Body): nock.ReplyFnResult =>
    uri.startsWith('/v0/certificate')
      ? [200, `{"certificate":${state.certificate()}}`, { 'content-type': 'application/json' }]
      : [
          200,
          state.document(questionOf(uri, typeof body === 'string' ? body : JSON.stringify(body))),
          { 'content-type': CERTIFIED_MEDIA_TYPE },
        ]
  const addresses = scansBody(
    keys.map((key, index) => {
      const name = `sv-${index + 1}`
      return signAddress(key, { genesisHash, name, url: urlOf(name), sequence: 1 })
    }),
  )
  for (const name of ['sv-1', 'sv-2', 'sv-3', 'sv-4'])
    nock(urlOf(name))
      .persist()
      .get('/v0/scans')
      .reply(200, addresses, { 'content-type': 'application/json' })
      .get(/^\/v0\/(?:certificate|ans-entries.*)$/)
      .reply(reply)
      .post('/v0/ans-entries/batch')
      .reply(reply)
  const scan = createScan({ seeds: [urlOf('sv-1')], genesis })
  return {
    names: scan.names,
    changeOwner: put,
    setMetadata: (label, meta) =>
      put(label, parties[label] ?? '', { description: JSON.stringify({ meta }) }),
    remove(label) {
      entries.delete(`${label}.unverified.ns`)
      state = createState()
    },
    // It lives at the record time of the state, and no longer.
    expire(label) {
      const at = nextRecordTime()
      put(label, parties[label] ?? '', { expiresAt: at + 1, at })
    },
    cutOff: () => nock.cleanAll(),
    close: () => scan.close(),
  }
}

function controlledFakes(parties: Readonly<Record<string, string>>): Controlled {
  const names = fakeNames(parties)
  const { changeOwner, setMetadata, remove, expire } = names
  const cutOff = () => names.fail('NETWORK_ERROR')
  return { names, changeOwner, setMetadata, remove, expire, cutOff, close: async () => {} }
}

beforeAll(() => nock.disableNetConnect())
afterEach(() => {
  nock.abortPendingRequests()
  nock.cleanAll()
})
afterAll(() => nock.enableNetConnect())

describe.each([
  ['fakeNames', controlledFakes],
  ['createScan', realNames],
])('names of %s', (_, create) => {
  it('resolve to their party, to null where they are absent, and back', async () => {
    const { names, close } = create({ alice: PARTY })
    expect(await names.resolve(' Alice')).toBe(PARTY)
    expect(await names.resolve('bob')).toBeNull()
    expect(await names.reverse(PARTY)).toMatchObject({ name: NAME, party: PARTY, changed: null })
    expect(await names.reverse(OTHER)).toBeNull()
    expect(await names.resolveMany(['alice', 'bob', 'ä'])).toMatchObject([
      { kind: 'proven', value: { party: PARTY } },
      { kind: 'proven', value: null },
      { kind: 'failed', error: { code: 'INVALID_NAME' }, facts: null },
    ])
    await close()
  })

  it('have the metadata of their party, and the URLs of its registry', async () => {
    const { names, setMetadata, close } = create({ alice: PARTY })
    const metadata = { [REGISTRY_URLS]: 'https://one.example', a: 'b' }
    setMetadata('alice', metadata)
    expect(await names.metadata(PARTY)).toEqual(metadata)
    expect(await names.registryUrls(PARTY)).toEqual(['https://one.example'])
    expect(await names.metadata(OTHER)).toBeNull()
    expect(await names.registryUrls(OTHER)).toEqual([])
    await close()
  })

  it('are listed by prefix', async () => {
    const { names, close } = create({ alice: PARTY, alan: PARTY, bob: OTHER })
    const found: string[] = []
    for await (const { name } of names.search('al')) found.push(name)
    expect(found).toEqual(['alan.unverified.ns', NAME])
    await close()
  })

  it('report a change of owner once it was seen, until it is accepted', async () => {
    const { names, changeOwner, close } = create({ alice: PARTY })
    await names.resolve('alice')
    changeOwner('alice', OTHER)
    // Reads of one client do not go back; until the state is newer than the last one, the old answer holds.
    await untilTrue('the new owner to be read', async () => {
      const read = await names.resolve('alice').catch(({ code }) => code)
      return read === 'NAME_CHANGED'
    })
    expect(await names.lookup('alice')).toMatchObject({
      kind: 'changed',
      value: { party: OTHER },
      previous: { previousParty: PARTY, party: OTHER },
    })
    expect(await names.resolve('alice', { acceptChange: () => true })).toBe(OTHER)
    expect(await names.resolve('alice')).toBe(OTHER)
    await close()
  })

  it('are absent after their entry is gone, and expired before nodes removed it', async () => {
    const { names, expire, remove, close } = create({ alice: PARTY, bob: OTHER })
    expire('alice')
    await untilTrue('the entry to end', async () => {
      const read = await names.resolve('alice').catch(({ code }) => code)
      return read === 'NAME_EXPIRED'
    })
    expect(await names.lookup('alice')).toMatchObject({
      kind: 'failed',
      error: { code: 'NAME_EXPIRED', details: { entry: { party: PARTY } } },
      facts: { basis: 'proof' },
    })
    remove('bob')
    await untilTrue('the entry to be gone', async () => (await names.resolve('bob')) === null)
    await close()
  })

  it('throw the error of a disconnected client', async () => {
    const { names, cutOff, close } = create({ alice: PARTY })
    cutOff()
    await expect(names.resolve('alice', { timeoutMs: 300 })).rejects.toMatchObject({
      name: 'QuorumscanError',
      code: 'NETWORK_ERROR',
      retryable: true,
    })
    await close()
  })

  it('refuse texts that are not names or parties', async () => {
    const { names, close } = create({ alice: PARTY })
    await expect(names.resolve('ä')).rejects.toMatchObject({ code: 'INVALID_NAME' })
    await expect(names.reverse('alice')).rejects.toMatchObject({ code: 'INVALID_PARTY' })
    await close()
  })
})

describe('failures of fakes', () => {
  it('are outcomes of lookups and errors of resolve, as they are of the real client', async () => {
    const names = fakeNames({ alice: PARTY })
    for (const code of ['CONSENSUS_DISPUTED', 'CONSENSUS_LAGGING', 'NOT_ENOUGH_NODES'] as const) {
      names.fail(code)
      const failed = { kind: 'failed', error: { code } }
      expect(await names.lookup('alice', { timeoutMs: 100 })).toMatchObject(failed)
      await expect(names.resolve('alice', { timeoutMs: 100 })).rejects.toMatchObject({ code })
    }
    names.fail(null)
    expect(await names.resolve('alice')).toBe(PARTY)
  })
})

it('a watch asks unreachable nodes once, and then pauses', async () => {
  const pauses = async (read: (names: FakeNames) => Promise<unknown>) => {
    const delays: number[] = []
    const delay = (ms: number, signal?: AbortSignal) => {
      delays.push(ms)
      return systemClock.delay(ms, signal)
    }
    const names = fakeNames({ alice: PARTY }, { clock: { ...systemClock, delay } })
    names.fail('NOT_ENOUGH_NODES')
    await read(names)
    return delays
  }
  const watched = await pauses(async (names) => {
    for await (const shown of names.watch('alice')) {
      expect(shown).toMatchObject({ kind: 'failed', error: { code: 'NOT_ENOUGH_NODES' } })
      break
    }
  })
  expect(watched).not.toContain(250)
})

it('failures are known at once, also under fake timers', async () => {
  vi.useFakeTimers()
  try {
    for (const code of ['CONSENSUS_DISPUTED', 'NOT_ENOUGH_NODES', 'CONSENSUS_LAGGING'] as const) {
      const names = fakeNames({ alice: PARTY })
      names.fail(code)
      await expect(names.resolve('alice')).rejects.toMatchObject({ code })
      expect(await names.lookup('alice')).toMatchObject({ kind: 'failed', error: { code } })
    }
  } finally {
    vi.useRealTimers()
  }
})

describe('changes of owner', () => {
  it('are announced once for each name and party', async () => {
    const announced: string[] = []
    const onChanged = ({ name, party }: NameChange) => announced.push(`${name} ${party}`)
    const names = fakeNames({ alice: PARTY, bob: PARTY }, { onChanged })
    await names.resolveMany(['alice', 'bob'])
    names.changeOwner('alice', OTHER)
    await names.lookup('alice')
    await names.lookup('alice')
    for await (const { name } of names.search('a')) expect(name).toBe(NAME)
    expect(announced).toEqual([`${NAME} ${OTHER}`])
    names.changeOwner('bob', OTHER)
    await names.resolveMany(['alice', 'bob'])
    await expect(names.acceptChange('alice', 'other')).rejects.toMatchObject({
      code: 'INVALID_PARTY',
    })
    await names.acceptChange('alice', OTHER)
    names.changeOwner('alice', PARTY)
    await names.lookup('alice')
    expect(announced).toEqual([
      `${NAME} ${OTHER}`,
      `bob.unverified.ns ${OTHER}`,
      `${NAME} ${PARTY}`,
    ])
  })
})
