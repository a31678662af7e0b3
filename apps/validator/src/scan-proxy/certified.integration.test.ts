/**
 * Certified reads through the proxy, answered from the local replica of the validator.
 *
 * @module-tag rest
 */

import { sha256 } from '@quorumscan/base'
import { createLogger } from '@quorumscan/runtime'
import {
  createHttpClient,
  type HttpAnswer,
  send,
  startRestartable,
  until,
  untilTrue,
} from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { type CanonicalRequest, createPlatformCrypto, requestOfLookup } from '@quorumscan/verifier'
import {
  CERTIFIED_MEDIA_TYPE,
  createCertifiedVerifier,
  queryOf,
} from '@quorumscan/verifier/certified'
import { expect } from 'vitest'
import { startValidator } from '../server.ts'
import { startNetwork } from '../testing/network.ts'

const LOOKUP = '/v0/scan-proxy/ans-entries/by-name'
const NAME = 'alice.unverified.ns'
const CERTIFIED = { 'x-quorum': 'certified' }
const logger = createLogger({ name: 'validator', level: 'silent' })

const it = base
  .extend('network', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startNetwork(4)),
  )
  .extend('validator', { scope: 'file' }, async ({ network, fileResources }) => {
    const config = { ...network.config, nodes: network.peers }
    const open = () => startValidator(config, { logger, clock: network.clock })
    return fileResources.opened(await startRestartable(open))
  })
  .extend('client', { scope: 'file' }, ({ validator }) =>
    createHttpClient(() => validator.url, null),
  )
  /** The local replica has a certificate of all members, at the offset or after it. */
  .extend('untilOwn', ({ client }) => async (offset: number): Promise<void> => {
    await until(`own certificates from ${offset} on`, async () => {
      const [, own] = /certified_offset (\d+)/.exec((await client.get('/metrics')).text) ?? []
      return Number(own ?? -1) >= offset ? true : undefined
    })
  })
  /** Nodes announce their addresses after their start. Until all have, two reads may be of two states. */
  .extend(
    'untilAnnounced',
    ({ network }) =>
      async (ask: () => Promise<{ readonly text: string }>): Promise<void> => {
        await until('the certified addresses of all nodes', async () => {
          const { text } = await ask()
          return network.genesis.nodes.every(({ name }) => text.includes(`"svName":"${name}"`))
            ? true
            : undefined
        })
      },
  )
  /** At the newest offset that a node certifies. */
  .extend(
    'readNewest',
    ({ network, client }) =>
      async (paths: readonly string[]): Promise<HttpAnswer[]> => {
        const { certificate } = (await send(`${network.peers[0]?.url}/v0/certificate`)).body
        const floor = { 'x-min-offset': String(certificate.offset) }
        return await Promise.all(paths.map((path) => client.get(path, { ...CERTIFIED, ...floor })))
      },
  )

it.for<[string, string, { readonly body?: object }]>([
  ['a name', `${LOOKUP}/dso.ns`, {}],
  ['no name', `${LOOKUP}/unknown.unverified.ns`, {}],
  ['a party', '/v0/scan-proxy/ans-entries/by-party/DSO', {}],
  ['names', '/v0/scan-proxy/ans-entries?page_size=3', {}],
  ['names of a party', '/v0/scan-proxy/ans-entries/by-party/DSO/all?page_size=3', {}],
  ['addresses', '/v0/scan-proxy/scans', {}],
  ['the operator', '/v0/scan-proxy/dso', {}],
  ['rules', '/v0/scan-proxy/ans-rules', { body: {} }],
  ['a batch', '/v0/scan-proxy/ans-entries/batch', { body: { lookups: [{ name: 'dso.ns' }] } }],
])(
  '%s: the voted answer equals the certified one',
  async ([_, path, { body }], { network, client, untilAnnounced }) => {
    const url = path.replace('DSO', encodeURIComponent(network.genesis.dso))
    const ask = (headers: Record<string, string>) =>
      client.send(body === undefined ? 'GET' : 'POST', url, body, headers)
    if (path.endsWith('/scans')) await untilAnnounced(() => ask(CERTIFIED))
    const [voted, certified] = [await ask({}), await ask(CERTIFIED)]
    expect(certified).toAnswer(voted.status)
    expect(withoutOffsets(certified.body)).toEqual(withoutOffsets(voted.body))
    expect(certified.headers.get('x-quorum-outcome')).toBe(voted.headers.get('x-quorum-outcome'))
  },
)

it.for<[string, string, (dso: string) => CanonicalRequest]>([
  ['a name', `${LOOKUP}/dso.ns`, () => requestOfLookup({ name: 'dso.ns' })],
  ['no name', `${LOOKUP}/unknown`, () => requestOfLookup({ name: 'unknown' })],
  ['a party', '/v0/scan-proxy/ans-entries/by-party/DSO', (dso) => requestOfLookup({ party: dso })],
  [
    'no party',
    '/v0/scan-proxy/ans-entries/by-party/xDSO',
    (dso) => requestOfLookup({ party: `x${dso}` }),
  ],
  [
    'a page',
    '/v0/scan-proxy/ans-entries?page_size=2',
    () => ({
      operation: 'listEntries',
      parameters: { name_prefix: '', page_size: 2, page_token: null },
    }),
  ],
  [
    'names of a party',
    '/v0/scan-proxy/ans-entries/by-party/DSO/all?page_size=2',
    (party) => ({
      operation: 'listEntriesByParty',
      parameters: { party, page_size: 2, page_token: null },
    }),
  ],
  [
    'a batch',
    '/v0/scan-proxy/ans-entries/batch',
    (party) => ({
      operation: 'lookupEntries',
      parameters: { lookups: [{ name: 'sv-1.sv.ns' }, { party }] },
    }),
  ],
  [
    'rules',
    '/v0/scan-proxy/ans-rules',
    () => ({
      operation: 'getAnsRules',
      parameters: { cached_ans_rules_contract_id: null, cached_ans_rules_domain_id: null },
    }),
  ],
  [
    'the operator',
    '/v0/scan-proxy/dso',
    () => ({ operation: 'getDso', parameters: { shared: true } }),
  ],
  ['addresses', '/v0/scan-proxy/scans', () => ({ operation: 'listScans', parameters: {} })],
])(
  '%s: the document proves the answer to a client that does not trust the validator',
  async ([title, path, requestOf], { network: { genesis, genesisHash }, client }) => {
    const hashed = { genesis, genesisHash, sha256, crypto: createPlatformCrypto() }
    const verifier = createCertifiedVerifier(hashed)
    const url = path.replace('DSO', encodeURIComponent(genesis.dso))
    const request = requestOf(genesis.dso)
    const isPost = /batch$|rules$/.test(path)
    for (const [quorum, signers] of [
      ['weak', 2],
      ['strong', 3],
      ['all', 4],
    ] as const) {
      const reply = await until(`a document that ${signers} members signed`, async () => {
        const headers = { accept: CERTIFIED_MEDIA_TYPE, 'x-quorum': quorum }
        const body = isPost ? request.parameters : undefined
        const reply = await client.send(isPost ? 'POST' : 'GET', url, body, headers)
        return reply.status === 503 ? undefined : reply
      })
      expect([reply.status, reply.type]).toEqual([200, CERTIFIED_MEDIA_TYPE])
      const proven = await verifier.verify(reply.text, queryOf(request, hashed), signers)
      expect(proven.answer === null).toBe(title.startsWith('no '))
      expect(reply.headers.get('x-quorum-offset')).toBe(String(proven.offset))
      expect(reply.headers.get('x-quorum-agreed')).toBe(proven.signers.join())
    }
  },
)

it('thresholds, floors and ages that cannot be met are refused', async ({ client }) => {
  const ask = async (headers: Record<string, string>, path = `${LOOKUP}/dso.ns`) => {
    const { status, body } = await client.get(path, headers)
    return [status, body.code]
  }
  // Also for a cached answer.
  expect(await ask(CERTIFIED)).toEqual([200, undefined])
  expect(await ask({ ...CERTIFIED, 'x-min-offset': '1000000' })).toEqual([503, 'CONSENSUS_LAGGING'])
  expect(await ask({ ...CERTIFIED, 'x-max-age-ms': '0' })).toEqual([503, 'CONSENSUS_LAGGING'])
  expect(await ask({ accept: CERTIFIED_MEDIA_TYPE, 'x-quorum': '5' })).toEqual([
    400,
    'INVALID_QUORUM',
  ])
  expect(await ask(CERTIFIED, '/v0/scan-proxy/dso-party-id')).toEqual([400, 'INVALID_QUORUM'])
})

it('a request has the same answer until another state is certified', async ({
  untilOwn,
  client,
  network,
}) => {
  // Answers from a node are not cached.
  await untilOwn(0)
  const path = `${LOOKUP}/late.unverified.ns`
  const ask = async (headers: Record<string, string>) => {
    const reply = await client.get(path, headers)
    return [reply.status, reply.type, reply.headers.get('x-quorum-threshold')]
  }
  const json = 'application/json'
  for (let time = 0; time < 2; time++) {
    expect(await ask({ 'x-quorum': 'certified-strong' })).toEqual([404, json, '3'])
    const accept = CERTIFIED_MEDIA_TYPE
    expect(await ask({ ...CERTIFIED, accept })).toEqual([200, accept, '2'])
    expect(await ask(CERTIFIED)).toEqual([404, json, '2'])
  }
  const wallet = await network.createWallet('late')
  await wallet.pay({ name: 'late.unverified.ns' })
  // The validator is asked once: an answer that it fetched from a node would already be at that offset.
  const offset = await until('a node to certify the name', async () => {
    const node = `${network.peers[0]?.url}/v0/ans-entries/by-name/late.unverified.ns`
    const reply = await send(node, { headers: { accept: CERTIFIED_MEDIA_TYPE } })
    return reply.text.includes(wallet.party) ? JSON.parse(reply.text).certificate.offset : undefined
  })
  await untilOwn(offset)
  expect(await ask(CERTIFIED)).toEqual([200, json, '2'])
})

it('if the local replica lags, all operations are answered from a node', async ({
  network,
  readNewest,
  client,
  untilOwn,
}) => {
  const wallet = await network.createWallet('alice')
  const release = network.holdValidator()
  let offset = 0
  try {
    await wallet.pay({ name: NAME, description: 'true' })
    await until('the nodes to certify the name', async () => {
      const reply = await send(`${network.peers[0]?.url}/v0/ans-entries/by-name/${NAME}`, {
        headers: { accept: CERTIFIED_MEDIA_TYPE },
      })
      return reply.text.includes(wallet.party) ? true : undefined
    })
    const party = encodeURIComponent(wallet.party)
    const [byName, byParty, list, ofParty, dso, scans] = await readNewest([
      `${LOOKUP}/${NAME}`,
      `/v0/scan-proxy/ans-entries/by-party/${party}`,
      '/v0/scan-proxy/ans-entries?page_size=2&name_prefix=',
      `/v0/scan-proxy/ans-entries/by-party/${party}/all?page_size=2`,
      '/v0/scan-proxy/dso',
      '/v0/scan-proxy/scans',
    ])
    for (const reply of [byName, byParty])
      expect(reply?.body['entry']).toMatchObject({ user: wallet.party })
    expect(byName?.headers.get('x-quorum-outcome')).toBe('verified')
    offset = Number(byName?.headers.get('x-quorum-offset'))
    expect(list?.body['entries']).toHaveLength(2)
    expect(ofParty?.body['entries']).toMatchObject([{ name: NAME }])
    expect(dso?.body['dso_party_id']).toBe(network.genesis.dso)
    expect(JSON.stringify(scans?.body['scans'])).toContain('sv-4')
    const rules = await client.send(
      'POST',
      '/v0/scan-proxy/ans-rules',
      {},
      {
        ...CERTIFIED,
        'x-min-offset': String(offset),
      },
    )
    expect(rules.body['ans_rules_update']).toMatchObject({ contract: { payload: {} } })
    // The answer is not below the read floor, although the caller names no offset.
    expect(await client.get(`${LOOKUP}/${NAME}`, CERTIFIED)).toAnswer(200)
  } finally {
    release()
  }
  await untilOwn(offset)
})

it.for([
  ['the local replica proved', false],
  ['a node proved, also after a restart', true],
] as const)(
  'no voted answer is older than the state that %s',
  async ([_, isOwnHeld], { untilOwn, client, network, validator }) => {
    await untilOwn(0)
    const vote = () => client.get(`${LOOKUP}/dso.ns`, { 'x-quorum': 'strong' })
    const offsetOf = ({ headers }: HttpAnswer) => Number(headers.get('x-quorum-offset'))
    // From here on two nodes stall, and cannot vote on states that the other two certify.
    const releases = [network.holdNodes([2, 3]), ...(isOwnHeld ? [network.holdValidator()] : [])]
    const release = () => {
      for (const one of releases) one()
    }
    let shown = 0
    try {
      const wallet = await network.createWallet(`payer-${isOwnHeld}`)
      await wallet.pay({ name: `payer-${isOwnHeld}.unverified.ns` })
      shown = await until('a certified answer with the coin of the payer', async () => {
        const { certificate } = (await send(`${network.peers[0]?.url}/v0/certificate`)).body
        const body = { page_size: 10, sort_order: 'desc', min_offset: certificate.offset }
        const reply = await client.post('/v0/scan-proxy/activities', body, CERTIFIED)
        return reply.text.includes(wallet.party) ? offsetOf(reply) : undefined
      })
      if (isOwnHeld) {
        await validator.stop()
        await validator.start()
      }
      const early = await until('the replies of the nodes', async () => {
        const reply = await vote()
        return reply.body.code === 'NOT_ENOUGH_NODES' ? undefined : reply
      })
      expect([early.status, early.body.code]).toEqual([503, 'CONSENSUS_LAGGING'])
    } finally {
      release()
    }
    await until('an answer', async () => (offsetOf(await vote()) >= shown ? true : undefined))
  },
)

it('a value that was changed in the Redis of the validator is never served as certified', async ({
  network,
  validator,
  client,
}) => {
  const redis = network.redis.connect()
  const versions = (await redis.hgetBuffer('{replica}:names', NAME)) as Buffer
  const forged = Buffer.from(versions.toString('latin1').replace('true', 'lies'), 'latin1')
  await redis.hset('{replica}:names', NAME, forged)
  await validator.stop()
  await validator.start()
  await untilTrue('the validator to report it', async () => {
    const { code } = (await client.get('/api/validator/readyz')).body ?? {}
    return code === 'STATE_DIVERGED'
  })
  const reply = await client.get(`${LOOKUP}/${NAME}`, CERTIFIED)
  expect(reply.body['entry']).toMatchObject({ description: 'true' })
  // The replica stays marked as damaged even if the value is restored, so the test deletes it.
  await validator.stop()
  await redis.del(await redis.keys('{replica}:*'))
  redis.disconnect()
  await validator.start()
})

it('no node is requested if the local replica is up to date', async ({
  untilOwn,
  network,
  client,
}) => {
  await untilOwn(0)
  await Promise.all(network.scans.map(({ stop }) => stop()))
  expect((await client.get(`${LOOKUP}/dso.ns`)).status).not.toBe(200)
  expect(await client.get(`${LOOKUP}/dso.ns`, CERTIFIED)).toAnswer(200)
})

/** Two reads differ in the offset, also in page tokens, and in the nodes that agreed first. */
function withoutOffsets(body: Record<string, unknown>): unknown {
  const { request_id, next_page_token, sv_user, sv_party_id, ...rest } = body
  return { ...rest, hasMore: next_page_token !== null }
}
