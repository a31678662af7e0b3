import { Scenario } from '@quorumscan/ledger/testing'
import { createManualClock, startRedis } from '@quorumscan/testkit'
import { test } from 'vitest'
import { Replica } from './replica.ts'
import { createMemoryOrdering } from './testing/memory-ordering.ts'
import { KEYS } from './keys.ts'
import { requestEntryCommand, ansRules, tapCommand, acceptRequestCommand, confirmResolveCommand, dsoRules, coinRules, allocatePartyCommand, decodeContract } from '@quorumscan/ledger'
import type { Contract } from '@quorumscan/model'

test('measure', async () => {
  const s = new Scenario()
  const n = 150
  const marks: number[] = []
  for (let i = 0; i < n; i++) {
    const a = s.actor(`alice${i}`, 'one')
    const c = s.tap(a, '200')
    const { request } = s.request(a, `alice-${i}.unverified.ns`)
    const { paymentCid } = s.do(a, acceptRequestCommand({ request, inputs: [c] }))
    s.resolve(paymentCid as string)
    marks.push(s.ledger.head().offset)
  }
  s.ledger.advance(601_000_000)
  await using redis = await startRedis()
  const { genesis, genesisHash } = s.network
  await using replica = await Replica.create({ redis: { path: redis.socketPath }, genesis, genesisHash, clock: createManualClock(s.ledger.head().recordTime) })
  const c = redis.connect()
  const entries = s.ledger.entries()
  const info = async () => Number(/used_memory:(\d+)/.exec(await c.info('memory'))?.[1])
  const before = await info()
  const t = performance.now()
  const cpu = process.cpuUsage()
  const done = new Promise<void>((r) => replica.onApplied((e) => { if (e.offset === entries.length) r() }))
  replica.run(createMemoryOrdering(entries), new AbortController().signal)
  await done
  const used = process.cpuUsage(cpu)
  console.log('entries', entries.length, 'ms', performance.now() - t, 'cpu us/entry', (used.user + used.system) / entries.length)
  console.log('bytes per name', ((await info()) - before) / n)
  for (const [k, key] of Object.entries(KEYS)) console.log(k, ((await c.call('MEMORY', 'USAGE', key, 'SAMPLES', '0')) as number ?? 0) / n)
  const sizes: Record<string, number[]> = {}
  for (const v of await c.hvalsBuffer(KEYS.contracts)) { const x = decodeContract(v); (sizes[x.templateId.split(':').pop() as string] ??= []).push(v.length) }
  console.log(Object.fromEntries(Object.entries(sizes).map(([k, v]) => [k, [v.length, v.reduce((a, b) => a + b, 0) / v.length]])))
  for (const v of (await c.hvalsBuffer(KEYS.contracts)).slice(20, 26)) console.log(v.toString())
  const names = Array.from({ length: 64 }, (_, i) => `alice-${i}.unverified.ns`)
  const at = replica.head().offset
  for (let r = 0; r < 3; r++) {
  const t2 = performance.now()
  for (let i = 0; i < 200; i++) await replica.lookupNames(names, at)
  console.log('lookup us', (performance.now() - t2) * 1000 / 200 / 64)
  const parties = (await replica.listByPrefix({prefix:'alice', after: null, limit: 64, offset: at})).map((e) => JSON.parse(Buffer.from(e.body).toString()).user)
  const t3 = performance.now()
  for (let i = 0; i < 200; i++) await replica.lookupParties(parties, at)
  console.log('party us', (performance.now() - t3) * 1000 / 200 / 64)
  const t4 = performance.now()
  for (let i = 0; i < 200; i++) await replica.listByPrefix({prefix: 'alice', after: null, limit: 100, offset: at})
  console.log('page us', (performance.now() - t4) * 1000 / 200)
  }
  c.disconnect()
}, 60_000)
