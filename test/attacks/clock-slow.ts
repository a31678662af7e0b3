/** A scan node, then the validator, whose clock is ten minutes slow. */
import { send, until } from '@quorumscan/testkit'
import type { RunningCluster } from 'quorumscan'
import { clock, createUser, lookup, untilFound } from '../e2e/client.ts'
import type { Attack } from './attack.ts'

const SLOW_MS = -600_000
/** A refusal needs no wait for anything: far below the 15 s after which a write would be given up. */
const REFUSAL_MS_MAX = 5_000

export const clockSlow: Attack = {
  name: 'clock-slow',
  claim:
    'The clock of one scan node, then of the validator, is set ten minutes back. ' +
    'Who stands still is not counted as up, its clock is named, lookups and registrations go on without it, ' +
    'and the validator refuses each write at once with the reason.',
  async run({ cluster }) {
    const user = await createUser(cluster, `clock-slow-${Math.floor(clock.nowMicros())}`)
    const figures: Record<string, number | string> = {}
    let holds = true
    const demand = (isTrue: boolean, what: string) => {
      if (isTrue) return
      holds = false
      figures[`broken: ${what}`] = 'yes'
    }
    try {
      await cluster.clock('sv-4', { offsetMs: SLOW_MS })
      const said = await until('the slow node to be named', async () => {
        const { nodes } = await cluster.status()
        const slow = nodes.find(({ name }) => name === 'sv-4')
        return slow?.state !== 'up' && /clock/.test(slow?.detail ?? '') ? slow : undefined
      })
      figures['sv-4'] = `${said.state}: ${said.detail}`
      const name = `slow-${Math.floor(clock.nowMicros())}.unverified.ns`
      await user.pay(name)
      await untilFound(cluster, name)
      demand((await lookup(cluster, name)).status === 200, 'lookups go on')
    } finally {
      await cluster.heal('sv-4')
    }
    await untilUp(cluster, 'sv-4')

    try {
      await cluster.clock('validator', { offsetMs: SLOW_MS })
      const startedMs = clock.monotonicMs()
      const { response, error } = await user.client.POST('/v0/wallet/tap', {
        body: { amount: '1.0' },
      })
      const tookMs = clock.monotonicMs() - startedMs
      const code = (error as { code?: string } | undefined)?.code
      figures['a write at the slow validator'] =
        `${response.status} ${code} in ${Math.round(tookMs)} ms`
      demand(response.status === 503 && code === 'CLOCK_OFF', 'the refusal names the clock')
      demand(tookMs <= REFUSAL_MS_MAX, 'it is refused at once')
      const ready = await send(`${cluster.urls.validator}/api/validator/readyz`)
      demand(ready.status === 503 && ready.body?.code === 'CLOCK_OFF', 'readyz says so')
    } finally {
      await cluster.heal('validator')
    }
    await untilUp(cluster, 'validator')
    const after = await user.client.POST('/v0/wallet/tap', { body: { amount: '1.0' } })
    demand(after.response.status === 200, 'writes go on by themselves')
    return { holds, figures }
  },
}

async function untilUp(cluster: RunningCluster, wanted: string): Promise<void> {
  await until(`${wanted} to be up`, async () => {
    const { nodes, validator } = await cluster.status()
    const services = [...nodes, { ...validator, name: 'validator' }]
    return services.find(({ name }) => name === wanted)?.state === 'up' ? true : undefined
  })
}
