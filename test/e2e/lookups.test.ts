/**
 * Lookups and proofs on real processes, by the proxy and by the command line, while nodes are killed, hang, are cut off
 * from the log, and lie. All tests share one cluster, and each leaves all of it up.
 */

import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { median } from '@quorumscan/base'
import { createResolver, httpResolver } from '@quorumscan/sdk/naming'
import { send, until } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { parseGenesis, verifyEvidence } from '@quorumscan/verifier'
import { describe, expect } from 'vitest'
import { createUser, lookup, untilFound } from '../support/client.ts'
import { startCluster } from '../support/clusters.ts'
import { runCommand } from '../support/command.ts'
import { controlPid } from './control-pid.ts'

const ALICE = 'alice.unverified.ns'
const MISSING = 'missing.unverified.ns'
const NOWHERE = 'http://127.0.0.1:1'
const BIN = join(import.meta.dirname, '../../cluster/bin/quorumscan.mjs')

type NodeCounts = { readonly name: string; readonly errors: number; readonly dissents: number }

const it = base
  .extend('cluster', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startCluster({ nodes: 4 })),
  )
  /** With its name registered and certified, which every test needs. */
  .extend('alice', { scope: 'file', auto: true }, async ({ cluster }) => {
    const alice = await createUser(cluster, 'alice')
    await alice.pay(ALICE)
    await until('a certified state with the name', async () =>
      (await lookup(cluster, ALICE, { 'x-quorum': 'certified-strong' })).status === 200
        ? true
        : undefined,
    )
    return alice
  })
  .extend(
    'quorumscan',
    ({ cluster }) =>
      (...args: readonly string[]) =>
        runCommand(cluster, ...args),
  )
  /** What the proxy counted about the answers of a node. */
  .extend('countsOf', ({ cluster }) => async (node: string): Promise<NodeCounts> => {
    const { nodes } = (await send(`${cluster.urls.validator}/status`)).body.success.extra.reader
    return nodes.find(({ name }: NodeCounts) => name === node)
  })

it.afterEach(async ({ cluster }) => {
  await cluster.heal()
  await until('all four nodes to vote', async () =>
    (await lookup(cluster, ALICE, { 'x-quorum': 'all' })).status === 200 ? true : undefined,
  )
})

const outcomeOf = ({ headers }: { headers: Headers }) => headers.get('x-quorum-outcome')

describe('a lookup through the proxy', () => {
  it('returns the entry that every node has at this offset, and the nodes that agreed', async ({
    cluster,
    alice,
  }) => {
    const answer = await until('three nodes to agree', async () => {
      const strong = await lookup(cluster, ALICE, { 'x-quorum': 'strong' })
      return strong.status === 200 ? strong : undefined
    })
    expect(answer.body.entry).toMatchObject({ user: alice.party, name: ALICE })
    expect([outcomeOf(answer), answer.headers.get('x-quorum-threshold')]).toEqual(['verified', '3'])
    expect(answer.headers.get('x-quorum-agreed')?.split(',').length).toBeGreaterThanOrEqual(3)
    for (const url of Object.values(cluster.urls.nodes)) {
      const direct = await send(`${url}/v0/ans-entries/by-name/${ALICE}`, {
        headers: { 'x-read-at-offset': answer.headers.get('x-quorum-offset') ?? '' },
      })
      expect(direct.body, url).toEqual(answer.body)
    }
  })

  it('does not wait for a paused node', async ({ cluster }) => {
    const medianMs = async () => {
      const ms: number[] = []
      for (let round = 0; round < 40; round++) {
        const answer = await lookup(cluster, ALICE)
        expect(answer).toAnswer(200)
        ms.push(answer.ms)
      }
      return median(ms)
    }
    const healthyMs = await medianMs()
    await cluster.pause('sv-1')
    // A client that waited for the hung node would need its timeout, seconds: a wide margin is enough.
    expect(await medianMs()).toBeLessThan(10 * healthyMs + 50)
  })
})

describe('nodes that are down', () => {
  it('are tolerated and reported if they are two of four, and make lookups fail if they are three', async ({
    cluster,
    quorumscan,
  }) => {
    const killed = await quorumscan('kill', 'sv-1', 'sv-2')
    expect(killed).toMatchObject({ code: 0, text: 'sv-1 is killed\nsv-2 is killed\n' })
    expect(outcomeOf(await lookup(cluster, ALICE))).toBe('verified')
    const strong = await until('the strong read to be refused', async () => {
      const answer = await lookup(cluster, ALICE, { 'x-quorum': 'strong' })
      return answer.status === 502 ? answer : undefined
    })
    expect(strong.body).toMatchObject({
      code: 'NOT_ENOUGH_NODES',
      retryable: true,
      details: { reachable: 2, needed: 3 },
    })
    const check = await quorumscan('check')
    expect(check.code, check.text).toBe(4)
    expect(check.text).toMatch(/sv-1, sv-2 gave no signed state\n {2}sv-1 {4}refused\n/)
    const absent = await quorumscan('resolve', MISSING)
    expect(absent.code, absent.text).toBe(0)
    expect(absent.text).toContain(`${MISSING}: verified-absent\n`)
    for (const tried of [/sv-1: refused/, /sv-[34]: answered/]) expect(absent.text).toMatch(tried)

    await cluster.kill('sv-3')
    const refused = await until('the refusal', async () => {
      const answer = await lookup(cluster, ALICE)
      expect(answer.status).toBeGreaterThanOrEqual(502)
      return answer.status === 502 ? answer : undefined
    })
    expect(refused.body.error).toMatch(
      /^Only 1 scan instances can be used \(out of 4 configured ones\)/,
    )
    expect(await lookup(cluster, MISSING)).toAnswer(502)
  })
})

describe('a node that is cut off from the log', () => {
  it('is named by `check`, and has the names of that time when it is back', async ({
    cluster,
    alice,
    quorumscan,
  }) => {
    const name = 'meanwhile.unverified.ns'
    await cluster.partition('sv-4', { from: 'log' })
    await alice.pay(name)
    await untilFound(cluster, name)
    const { code, text } = await quorumscan('check')
    expect(code, text).toBe(3)
    expect(text).toMatch(/sv-4 lags\n(.*\n){3} {2}sv-4 {4}lags by \d+: at offset \d+ since 2/)
    await cluster.heal()
    const answer = await until('sv-4 to know the name', async () => {
      const direct = await send(`${cluster.urls.nodes['sv-4']}/v0/ans-entries/by-name/${name}`)
      return direct.status === 200 ? direct : undefined
    })
    expect(answer.body.entry.user).toBe(alice.party)
  })
})

describe('a node that lies with its own key', () => {
  it.for([
    ['value', 'dissents'],
    ['garbage', 'errors'],
  ] as const)(
    'cannot change an answer by the lie %s while another node hangs',
    async ([lie, counted], { cluster, alice, countsOf }) => {
      await cluster.lie('sv-3', lie)
      await cluster.pause('sv-4')
      const before = await countsOf('sv-3')
      await until(`the proxy to have counted ${lie}`, async () => {
        for (const quorum of ['weak', 'certified']) {
          const answer = await lookup(cluster, ALICE, { 'x-quorum': quorum })
          expect(answer.body.entry?.user, JSON.stringify(answer.body)).toBe(alice.party)
          if (quorum === 'weak')
            expect(answer.headers.get('x-quorum-agreed')?.split(',').sort()).toEqual([
              'sv-1',
              'sv-2',
            ])
        }
        return (await countsOf('sv-3'))[counted] > before[counted] ? true : undefined
      })
    },
  )

  it.for(['value', 'deny'] as const)(
    'cannot change, by the lie %s, what a resolver over HTTP gets of the validator',
    async (lie, { cluster, alice }) => {
      await cluster.lie('sv-3', lie)
      const url = cluster.urls.validator
      const resolver = createResolver({
        network: 'localnet',
        minBasis: 'claimed',
        resolvers: [httpResolver({ id: 'cns', url })],
      })
      const fqpn = `localnet:cns:${ALICE}`
      const named = { fqpn, party: alice.party, displayName: ALICE, basis: 'claimed' }
      const found = await resolver.resolve(fqpn)
      expect(found).toMatchObject({ kind: 'proven', value: named, validUntil: expect.any(String) })
      expect(await resolver.resolve(MISSING)).toMatchObject({
        kind: 'proven',
        value: null,
        failures: [],
      })
      expect(await resolver.reverse(alice.party)).toMatchObject([named])
      expect(await resolver.reverse(`x${alice.party}`)).toEqual([])

      const path = `/v0/resolve?name=${ALICE}&network=`
      const answer = await send(`${url}${path}localnet`)
      expect(outcomeOf(answer)).toBe('verified')
      expect(answer.headers.get('x-quorum-agreed')).not.toContain('sv-3')
      expect(await send(`${url}${path}mainnet`)).toAnswer(400, 'INVALID_ARGUMENT')
      await cluster.kill('sv-1')
      await cluster.kill('sv-2')
      expect((await send(`${url}${path}localnet`)).status).toBeGreaterThanOrEqual(502)
    },
  )

  it('creates evidence against itself by equivocation, which survives a restart of the validator', async ({
    cluster,
    alice,
    quorumscan,
    directory,
  }) => {
    const evidenceUrl = `${cluster.urls.validator}/v0/scan-proxy/evidence`
    await cluster.lie('sv-2', 'equivocate')
    const evidence = await until('evidence', async () => {
      const answer = await lookup(cluster, ALICE, { 'x-quorum': 'certified' })
      expect(answer.body.entry.user).toBe(alice.party)
      const found = (await send(evidenceUrl)).body.evidence
      return found.find(({ signer }: { signer: string }) => signer === 'sv-2')
    })
    const genesis = parseGenesis(
      JSON.parse(await readFile(join(cluster.dataDir, 'genesis.json'), 'utf8')),
    )
    expect(await verifyEvidence(evidence, { genesis })).toMatchObject({
      signer: 'sv-2',
      kind: 'state',
    })
    const file = join(directory, 'evidence.json')
    await writeFile(file, JSON.stringify(evidence))
    const judged = await quorumscan('verify', file)
    expect(judged).toMatchObject({ code: 0, text: expect.stringContaining('sv-2 signed two') })

    await cluster.restart('validator')
    await untilFound(cluster, ALICE)
    expect((await send(evidenceUrl)).body.evidence).toEqual(expect.arrayContaining([evidence]))
    expect(await readFile(join(cluster.dataDir, 'logs/validator.log'), 'utf8')).toContain(
      'sv-2 equivocates',
    )
  })
})

describe('`resolve`', () => {
  it('proves an answer of one node, and stores a receipt that `verify` accepts offline', async ({
    quorumscan,
    alice,
    directory,
  }) => {
    const file = join(directory, 'alice.json')
    const strong = await quorumscan('resolve', ALICE, '--quorum', 'strong', '--receipt', file)
    expect(strong.code, strong.text).toBe(0)
    expect(strong.text).toContain(`${ALICE}: verified\n`)
    expect(strong.text).toContain(alice.party)
    expect(strong.text).toMatch(/signed by +(sv-\d(, )?){3,4} \(3 needed\)/)
    const proven = await quorumscan('verify', file, '--threshold', 'strong')
    expect(proven.code, proven.text).toBe(0)
    expect(proven.text).toContain(`the name ${ALICE} has this entry`)
  })

  it('prints JSON that `verify` accepts through a pipe', { tags: ['rest'] }, async ({
    cluster,
  }) => {
    const bin = `${process.execPath} ${BIN}`
    const here = `--data-dir ${cluster.dataDir}`
    const proven = await promisify(execFile)('sh', [
      '-c',
      `${bin} resolve ${MISSING} --json ${here} | ${bin} verify - ${here}`,
    ])
    expect(proven.stdout).toContain(`valid\n\nthe name ${MISSING} has no entry`)
  })

  it('shows the name of a party, and whether the name resolves to that party', {
    tags: ['rest'],
  }, async ({ quorumscan, alice }) => {
    const found = await quorumscan('resolve', alice.party)
    expect(found.code, found.text).toBe(0)
    expect(found.text).toContain(ALICE)
    expect(found.text).toMatch(/name match +yes/)
    const none = await quorumscan('resolve', `x${alice.party}`, '--json')
    expect(JSON.parse(none.stdout)).toMatchObject({ kind: 'verified-absent', match: false })
  })

  it('needs only a genesis and one node that is up, as `check` does', { tags: ['rest'] }, async ({
    cluster,
    directory,
  }) => {
    const genesis = ['--genesis', join(cluster.dataDir, 'genesis.json')]
    const url = cluster.urls.nodes['sv-3'] ?? ''
    const here = (...args: readonly string[]) =>
      runCommand({ ...cluster, dataDir: join(directory, 'none') }, ...args)
    const found = await here('resolve', ALICE, ...genesis, '--scan', NOWHERE, url)
    expect(found.code, found.text).toBe(0)
    expect(found.text).toContain(`${ALICE}: verified\n`)
    const check = await here('check', ...genesis, '--scan', url)
    expect(check.text).toContain('all replicas are equal')
  })

  it('shows votes with their entries, also if nodes contradict each other', {
    tags: ['rest'],
  }, async ({ quorumscan, alice, cluster }) => {
    const genesis = ['--genesis', join(cluster.dataDir, 'genesis.json')]
    const validator = ['--scan', NOWHERE, '--validator', cluster.urls.validator]
    const agreed = await quorumscan('resolve', ALICE, '--votes', ...genesis, ...validator)
    expect(agreed.code, agreed.text).toBe(0)
    expect(agreed.text).toContain(`${ALICE}: verified, by votes: 2 needed`)
    expect(agreed.text).toMatch(/: agreed, at offset \d+\n/)
    expect(agreed.text).toContain(alice.party)
    await cluster.lie('sv-3', 'deny')
    const disputed = await quorumscan('resolve', ALICE, '--votes', '--quorum', 'all')
    expect(disputed.code, disputed.text).toBe(1)
    // The outcome is decided as soon as two answers conflict, regardless of the number of replies.
    expect(disputed.text).toMatch(/^alice\S+: disputed, by votes: 4 needed, [2-4]\/4 answered\n/)
    expect(disputed.text).toMatch(/sv-3: at offset \d+\n {2}no entry/)
    expect(disputed.text).toContain(alice.party)
  })
})

describe('a full disk of the log', { tags: ['rest'] }, () => {
  it('makes writes fail with a definite LOG_FULL, is reported by all processes, and lookups continue', async ({
    cluster,
    alice,
    quorumscan,
  }) => {
    const full = await quorumscan('fill', 'synchronizer', '--disk')
    expect(full.code, full.text).toBe(0)
    const tap = () => alice.client.POST('/v0/wallet/tap', { body: { amount: '1.0' } })
    const refused = await until('the refusal', async () => (await tap()).error)
    expect(refused).toMatchObject({ code: 'LOG_FULL', definite: true })
    expect(outcomeOf(await lookup(cluster, ALICE))).toBe('verified')
    for (const url of [cluster.urls.nodes['sv-1'], `${cluster.urls.validator}/api/validator`])
      await until('followers of the log to report the full disk', async () => {
        const ready = await fetch(`${url}/readyz`)
        return ready.ok && ready.headers.get('x-detail')?.startsWith('LOG_FULL: ')
          ? true
          : undefined
      })
    const metrics = await fetch(`${cluster.urls.nodes['sv-1']}/metrics`)
    expect(await metrics.text()).toContain('quorumscan_log_full 1\n')
    const { text } = await until('status to report the full disk', async () => {
      const status = await quorumscan('status')
      return status.text.includes('the disk of the log has 0 MiB free') ? status : undefined
    })
    expect(text).toMatch(/synchronizer +disk full/)
    await quorumscan('heal', 'synchronizer')
    await until('coin', async () => (await tap()).data)
  })
})

describe('a crashed control plane', { tags: ['rest'] }, () => {
  it('is reported, and the next one takes over the running processes and the faults in force', async ({
    cluster,
    quorumscan,
  }) => {
    const pid = controlPid(cluster)
    await cluster.pause('sv-3')
    const pidsOf = async () => (await cluster.status()).nodes.map((node) => node.pid)
    const pids = await pidsOf()
    process.kill(pid, 'SIGKILL')
    expect(outcomeOf(await lookup(cluster, ALICE))).toBe('verified')
    const status = await quorumscan('status')
    expect([status.code, status.text]).toEqual([
      4,
      expect.stringMatching(
        new RegExp(`control plane \\(process ${pid}\\) has crashed.*quorumscan up`, 's'),
      ),
    ])
    const again = await quorumscan('up', '--detach')
    expect(again.code, again.text).toBe(0)
    expect(controlPid(cluster)).not.toBe(pid)
    expect(await pidsOf()).toEqual(pids)
    expect((await cluster.faults()).map(({ spec }) => [spec.node, spec.kind])).toEqual([
      ['sv-3', 'pause'],
    ])
  })
})
