/**
 * Lookups and registrations on real processes while these are killed, paused, wiped and restarted. All tests share one
 * cluster, and each leaves all nodes up.
 */

import { send, until } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { describe, expect } from 'vitest'
import { startCluster } from '../support/clusters.ts'
import { confirmationsOf, openSynchronizers } from '../support/synchronizers.ts'
import { createUser, lookup, untilFound } from './client.ts'
import { runCommand } from './command.ts'
import { controlPid } from './control-pid.ts'

const it = base
  .extend('cluster', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startCluster({ nodes: 4 })),
  )
  /** With its name registered, which every test needs. */
  .extend('alice', { scope: 'file', auto: true }, async ({ cluster }) => {
    const alice = await createUser(cluster, 'alice')
    await alice.pay(ALICE)
    await untilFound(cluster, ALICE)
    return alice
  })
  /** Restarts and resumes all processes, and waits until all nodes vote. */
  .extend('heal', ({ cluster }) => async () => {
    const { nodes, validator, synchronizer } = await cluster.status()
    for (const { name, state } of [
      ...nodes,
      { name: 'validator', ...validator },
      { name: 'synchronizer', ...synchronizer },
    ]) {
      if (state === 'paused') await cluster.resume(name)
      if (state === 'down') await cluster.restart(name)
    }
    await until('all nodes to be up', async () =>
      (await cluster.status()).nodes.every((node) => node.state === 'up') ? true : undefined,
    )
    await until('all four nodes to vote', async () =>
      (await lookup(cluster, ALICE, { 'x-quorum': 'all' })).status === 200 ? true : undefined,
    )
  })
  .extend(
    'onNode',
    ({ cluster }) =>
      (node: string, name: string) =>
        send(`${cluster.urls.nodes[node]}/v0/ans-entries/by-name/${name}`),
  )
const ALICE = 'alice.unverified.ns'

it.afterEach(({ heal }) => heal())

const agreed = (answer: { headers: Headers }) =>
  (answer.headers.get('x-quorum-agreed') ?? '').split(',')

describe('lookups through the proxy', () => {
  it('return the entry, the nodes that agreed, and the offset', async ({ cluster, alice }) => {
    const answer = await lookup(cluster, ALICE, { 'x-quorum': 'strong' })
    expect(answer.body.entry).toMatchObject({
      user: alice.party,
      name: ALICE,
      description: 'entry of alice',
    })
    expect(answer.headers.get('x-quorum-outcome')).toBe('verified')
    expect(answer.headers.get('x-quorum-threshold')).toBe('3')
    expect(agreed(answer).length).toBeGreaterThanOrEqual(3)
    // Every node returns the same answer at that offset.
    for (const url of Object.values(cluster.urls.nodes)) {
      const direct = await send(`${url}/v0/ans-entries/by-name/${ALICE}`, {
        headers: { 'x-read-at-offset': answer.headers.get('x-quorum-offset') ?? '' },
      })
      expect(direct.body, url).toEqual(answer.body)
    }
  })

  it('return 404 with verified-absent for a name without an entry', async ({ cluster }) => {
    const answer = await lookup(cluster, 'missing.unverified.ns')
    expect(answer).toAnswer(404)
    expect(answer.body.error).toBe('No ans entry found for name: missing.unverified.ns')
    expect(answer.headers.get('x-quorum-outcome')).toBe('verified-absent')
  })

  it.for(['sv-1', 'sv-4'])('stay verified while %s is down', async (node, { cluster }) => {
    await cluster.kill(node)
    for (let round = 0; round < 20; round++) {
      const answer = await lookup(cluster, ALICE, { 'x-quorum': 'strong' })
      expect(
        answer.headers.get('x-quorum-outcome'),
        `round ${round}: ${JSON.stringify(answer.body)}`,
      ).toBe('verified')
      expect(agreed(answer)).not.toContain(node)
    }
  })

  it.for(['sv-1', 'sv-4'])('do not wait for %s while it is paused', async (node, { cluster }) => {
    const times = async () => {
      const ms: number[] = []
      for (let round = 0; round < 40; round++) {
        const answer = await lookup(cluster, ALICE)
        expect(answer).toAnswer(200)
        ms.push(answer.ms)
      }
      return ms.sort((a, b) => a - b)[20] ?? 0
    }
    const healthy = await times()
    await cluster.pause(node)
    // A client that waited for the hung node would need its timeout, seconds: a wide margin is enough.
    expect(await times()).toBeLessThan(10 * healthy + 50)
  })

  it('stay verified with two of four nodes down, while a strong read returns 502', async ({
    cluster,
  }) => {
    await cluster.kill('sv-1')
    await cluster.kill('sv-3')
    expect((await lookup(cluster, ALICE)).headers.get('x-quorum-outcome')).toBe('verified')
    const strong = await until('the strong read to be refused', async () => {
      const answer = await lookup(cluster, ALICE, { 'x-quorum': 'strong' })
      return answer.status === 502 ? answer : undefined
    })
    expect(strong.body).toMatchObject({
      code: 'NOT_ENOUGH_NODES',
      retryable: true,
      details: { reachable: 2, needed: 3 },
    })
    const status = await cluster.status()
    expect(status.nodes.map((node) => node.state)).toEqual(['down', 'up', 'down', 'up'])
  })

  it('return NOT_ENOUGH_NODES with three of four nodes down', async ({ cluster }) => {
    for (const node of ['sv-1', 'sv-2', 'sv-3']) await cluster.kill(node)
    const refused = await until('the refusal', async () => {
      const answer = await lookup(cluster, ALICE)
      expect(answer.status).toBeGreaterThanOrEqual(502)
      return answer.status === 502 ? answer : undefined
    })
    expect(refused.body.code).toBe('NOT_ENOUGH_NODES')
    expect(refused.body.error).toMatch(
      /^Only 1 scan instances can be used \(out of 4 configured ones\)/,
    )
    const absent = await lookup(cluster, 'missing.unverified.ns')
    expect(absent).toAnswer(502)
  })

  it('do not return an older offset after the validator is killed and restarted', async ({
    cluster,
  }) => {
    const before = Number((await lookup(cluster, ALICE)).headers.get('x-quorum-offset'))
    await cluster.kill('validator')
    await cluster.restart('validator')
    const after = await untilFound(cluster, ALICE)
    expect(Number(after.headers.get('x-quorum-offset'))).toBeGreaterThanOrEqual(before)
  })
})

describe('replicas', () => {
  it('catch up after a restart', async ({ cluster, alice, onNode }) => {
    await cluster.kill('sv-2')
    await alice.pay('meanwhile.unverified.ns')
    await untilFound(cluster, 'meanwhile.unverified.ns')
    await cluster.restart('sv-2')
    const answer = await until('sv-2 to know the name', async () => {
      const direct = await onNode('sv-2', 'meanwhile.unverified.ns')
      return direct.status === 200 ? direct : undefined
    })
    expect(answer.body.entry.user).toBe(alice.party)
  })

  it('rebuild the same history after they are wiped', async ({ cluster, onNode, alice }) => {
    await cluster.wipe('sv-4')
    await until('sv-4 to be up', async () =>
      (await cluster.status()).nodes.find((node) => node.name === 'sv-4')?.state === 'up'
        ? true
        : undefined,
    )
    expect((await onNode('sv-4', ALICE)).body.entry.user).toBe(alice.party)
    const all = await until('all four to agree', async () => {
      const answer = await lookup(cluster, ALICE, { 'x-quorum': 'all' })
      return answer.status === 200 ? answer : undefined
    })
    expect(agreed(all)).toHaveLength(4)
  })

  it('vote again after their Redis is killed and restarted', async ({ cluster }) => {
    await cluster.kill('sv-3', { part: 'redis' })
    expect((await lookup(cluster, ALICE)).headers.get('x-quorum-outcome')).toBe('verified')
    await cluster.restart('sv-3', { part: 'redis' })
    await until('sv-3 to vote again', async () =>
      (await lookup(cluster, ALICE, { 'x-quorum': 'all' })).status === 200 ? true : undefined,
    )
  })
})

describe('registration', () => {
  it('continues with one super-validator down', async ({ cluster, alice }) => {
    await cluster.kill('sv-3')
    await alice.pay('with-three.unverified.ns')
    await untilFound(cluster, 'with-three.unverified.ns')
  })

  it('stops with two super-validators down, and completes when one is restarted', async ({
    cluster,
    alice,
  }) => {
    const name = 'with-two.unverified.ns'
    await cluster.kill('sv-3')
    await cluster.kill('sv-4')
    const payment = await alice.pay(name)
    const [synchronizer] = await openSynchronizers(cluster)
    if (synchronizer === undefined) throw new Error('the cluster has no synchronizer')
    await using _ = synchronizer
    // From the running super-validators. One that confirms twice counts once.
    const confirmations = await until('both confirmations in the log', async () => {
      const found = await confirmationsOf(cluster, { synchronizer, payment })
      return new Set(found.map(({ confirmer }) => confirmer)).size === 2 ? found : undefined
    })
    const decidedAt = Math.max(...confirmations.map(({ offset }) => offset))
    const url = `${cluster.urls.nodes['sv-1']}/v0/ans-entries/by-name/${name}`
    const headers = { 'x-read-at-offset': String(decidedAt) }
    const after = await until('sv-1 to reach the last confirmation', async () => {
      const answer = await send(url, { headers })
      return answer.body.code === 'OFFSET_NOT_REACHED' ? undefined : answer
    })
    expect(after).toAnswer(404)
    expect(await lookup(cluster, name)).toAnswer(404)
    await cluster.restart('sv-4')
    await untilFound(cluster, name)
  })

  it('loses no acknowledged entry when the synchronizer and its Redis are killed', async ({
    alice,
    cluster,
  }) => {
    const request = await alice.request('acknowledged.unverified.ns')
    await cluster.kill('synchronizer', { part: 'redis' })
    await cluster.kill('synchronizer')
    expect((await lookup(cluster, ALICE)).headers.get('x-quorum-outcome')).toBe('verified')
    await cluster.restart('synchronizer')
    await until('the payment to be accepted', async () => {
      const answer = await alice.client.POST(
        '/v0/wallet/subscription-requests/{contract_id}/accept',
        {
          params: { path: { contract_id: request } },
        },
      )
      return answer.response.status === 200 ? true : undefined
    })
    await untilFound(cluster, 'acknowledged.unverified.ns')
  })

  it('returns a definite LOG_FULL while the disk of the log is full, and lookups continue', async ({
    cluster,
    alice,
  }) => {
    const full = await runCommand(cluster, 'fill', 'synchronizer', '--disk')
    expect(full.code, full.text).toBe(0)
    const refused = await until('the refusal', async () => {
      const answer = await alice.client.POST('/v0/wallet/tap', { body: { amount: '1.0' } })
      return answer.error
    })
    expect(refused).toMatchObject({ code: 'LOG_FULL', definite: true })
    expect((await lookup(cluster, ALICE)).headers.get('x-quorum-outcome')).toBe('verified')
    const { text } = await until('status to report the full disk', async () => {
      const status = await runCommand(cluster, 'status')
      return status.text.includes('the disk of the log has 0 MiB free') ? status : undefined
    })
    expect(text).toMatch(/synchronizer +disk full/)
    for (const url of [cluster.urls.nodes['sv-1'], `${cluster.urls.validator}/api/validator`])
      await until('followers of the log to report the full disk', async () => {
        const ready = await fetch(`${url}/readyz`)
        return ready.ok && ready.headers.get('x-detail')?.startsWith('LOG_FULL: ')
          ? true
          : undefined
      })
    const metrics = await fetch(`${cluster.urls.nodes['sv-1']}/metrics`)
    expect(await metrics.text()).toContain('quorumscan_log_full 1\n')
    await runCommand(cluster, 'heal', 'synchronizer')
    await until('coin', async () => {
      const answer = await alice.client.POST('/v0/wallet/tap', { body: { amount: '1.0' } })
      return answer.data
    })
    expect(await runCommand(cluster, 'fill', 'sv-1', '--disk')).toMatchObject({ code: 2 })
  })

  it('gives a name with two payers to one, and refunds the other', async ({ cluster, alice }) => {
    const name = 'contested.unverified.ns'
    const bob = await createUser(cluster, 'bob')
    const requests = await Promise.all([alice.request(name), bob.request(name)])
    const before = await Promise.all([alice.balance(), bob.balance()])
    await Promise.all([alice.accept(requests[0] ?? ''), bob.accept(requests[1] ?? '')])
    const winner = (await untilFound(cluster, name)).body.entry.user
    const after = await until('nothing to be locked', async () => {
      const balances = await Promise.all([alice.balance(), bob.balance()])
      return balances.every((balance) => Number(balance.effective_locked_qty) === 0)
        ? balances
        : undefined
    })
    const paid = after.map(
      (balance, index) =>
        Number(before[index]?.effective_unlocked_qty) - Number(balance.effective_unlocked_qty),
    )
    expect(paid).toEqual(winner === alice.party ? [200, 0] : [0, 200])
  })
})

describe('the command line', () => {
  it('kills several nodes, and reports which nodes gave no signed state and which command killed them', async ({
    cluster,
  }) => {
    const killed = await runCommand(cluster, 'kill', 'sv-1', 'sv-2')
    expect(killed).toMatchObject({ code: 0, text: 'sv-1 is killed\nsv-2 is killed\n' })
    const check = await runCommand(cluster, 'check')
    expect(check.code, check.text).toBe(4)
    expect(check.text).toMatch(
      /sv-1, sv-2 gave no signed state\n {2}sv-1 {4}refused\n {2}sv-2 {4}refused\n/,
    )
    const log = await runCommand(cluster, 'logs', 'control', '-n', '1')
    expect(log.text).toMatch(/"caller":"process \d+ of .*"nodes\.kill".*sv-2/)
    const unknown = await runCommand(cluster, 'kill', 'sv-9')
    expect(unknown).toMatchObject({ code: 2, text: expect.stringContaining('unknown node sv-9') })
  })

  it('`check` names a node that lags, and the time since when', async ({ cluster, alice }) => {
    await cluster.partition('sv-4', { from: 'log' })
    await alice.pay('behind.unverified.ns')
    await untilFound(cluster, 'behind.unverified.ns')
    const { code, text } = await runCommand(cluster, 'check')
    await cluster.heal()
    expect(code, text).toBe(3)
    expect(text).toMatch(/sv-4 lags\n(.*\n){3} {2}sv-4 {4}lags by \d+: at offset \d+ since 2/)
  })
})

describe('the control plane', () => {
  it('takes over the running processes, and the faults in force, after it has crashed', async ({
    cluster,
  }) => {
    const pid = controlPid(cluster)
    await cluster.kill('sv-3')
    const pidsOf = async () => (await cluster.status()).nodes.map((node) => node.pid)
    const pids = await pidsOf()
    process.kill(pid, 'SIGKILL')
    expect((await lookup(cluster, ALICE)).headers.get('x-quorum-outcome')).toBe('verified')
    const status = await runCommand(cluster, 'status')
    expect([status.code, status.text]).toEqual([
      4,
      expect.stringMatching(
        new RegExp(`control plane \\(process ${pid}\\) has crashed.*quorumscan up`, 's'),
      ),
    ])
    const again = await runCommand(cluster, 'up', '--detach')
    expect(again.code, again.text).toBe(0)
    expect(controlPid(cluster)).not.toBe(pid)
    expect(await pidsOf()).toEqual(pids)
    expect((await cluster.faults()).map(({ spec }) => [spec.node, spec.kind])).toEqual([
      ['sv-3', 'kill'],
    ])
    await cluster.heal()
  })
})
