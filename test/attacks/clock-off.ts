/** A scan node and the validator have clocks that are ten minutes slow, then fast. The node's is also 5 s off. */
import { until } from '@quorumscan/testkit'
import type { RunningCluster } from 'quorumscan/testing'
import { clock, createUser, lookup, untilFound } from '../support/client.ts'
import { runCommand } from '../support/command.ts'
import type { Attack } from './attack.ts'
import { setClock } from './wrong-clock.ts'

/** More than the 2 s within which clocks agree, less than the 10 s for which replicas wait. */
const LITTLE_MS = 5_000
const SHIFTS_MS = [-600_000, 600_000]
/** A refusal needs no wait. The limit is far below the 15 s after which a write times out. */
const REFUSAL_MS_MAX = 5_000

export const clockOff: Attack = {
  name: 'clock-off',
  claim:
    'The clocks of one scan node and of the validator are set ten minutes back, then ten minutes ahead. ' +
    'A paused process does not count as up; /readyz, /status, a metric, one line of its log ' +
    'and the status of the cluster name its clock; lookups and registrations continue without the node, ' +
    'and the validator refuses each write at once with the reason. A clock that is 5 s off is also reported.',
  async run({ cluster }) {
    const label = `clock-off-${Math.floor(clock.nowMicros())}`
    const user = await createUser(cluster, label)
    const figures: Record<string, number | string> = {}
    let holds = true
    const check = (isTrue: boolean, what: string) => {
      if (isTrue) return
      holds = false
      figures[`broken: ${what}`] = 'yes'
    }
    const set = async (name: string, offsetMs: number) => {
      const missing = await setClock(cluster, name, offsetMs)
      check(missing.length === 0, `${offsetMs} ms, not reported by ${missing.join(', ')}`)
    }
    try {
      await set('sv-4', LITTLE_MS)
      const statusText = await until('the status to name the clock', async () => {
        const { text } = await runCommand(cluster, 'status')
        return /^sv-4: its clock is .*$/m.exec(text) === null ? undefined : text
      })
      check(/sv-4: its clock is 5 s ahead of/.test(statusText), 'status names the difference')
      check(/lookups .*4 of 4 nodes up/.test(statusText), 'the node counts as up')

      for (const shiftMs of SHIFTS_MS) {
        await set('sv-4', shiftMs)
        figures[`sv-4 at ${shiftMs} ms`] = await untilStopped(cluster, 'sv-4')
        const name = `${label}-${shiftMs < 0 ? 'slow' : 'fast'}.unverified.ns`
        await user.pay(name)
        await untilFound(cluster, name)
        check((await lookup(cluster, name)).status === 200, 'lookups continue')
        await cluster.heal('sv-4')

        await set('validator', shiftMs)
        figures[`validator at ${shiftMs} ms`] = await untilStopped(cluster, 'validator')
        const startedMs = clock.monotonicMs()
        const { response, error } = await user.client.POST('/v0/wallet/tap', {
          body: { amount: '1.0' },
        })
        const tookMs = clock.monotonicMs() - startedMs
        const code = (error as { code?: string } | undefined)?.code
        figures[`a write at ${shiftMs} ms`] =
          `${response.status} ${code} in ${Math.round(tookMs)} ms`
        check(response.status === 503 && code === 'CLOCK_OFF', 'the refusal names the clock')
        check(tookMs <= REFUSAL_MS_MAX, 'it is refused at once')
        await cluster.heal('validator')
        await untilUp(cluster, 'sv-4', 'validator')
      }
    } finally {
      await cluster.heal()
      await untilUp(cluster, 'sv-4', 'validator')
    }
    const after = await user.client.POST('/v0/wallet/tap', { body: { amount: '1.0' } })
    check(after.response.status === 200, 'writes continue without a restart')
    return { holds, figures }
  },
}

/** Waits until the process does not count as up because of its clock. Returns its state and detail. */
function untilStopped(cluster: RunningCluster, name: string): Promise<string> {
  return until(`the clock of ${name} to be named`, async () => {
    const { state, detail } = await statusOf(cluster, name)
    return state !== 'up' && /clock/.test(detail ?? '') ? `${state}: ${detail}` : undefined
  })
}

async function untilUp(cluster: RunningCluster, ...names: readonly string[]): Promise<void> {
  for (const name of names)
    await until(`${name} to be up`, async () =>
      (await statusOf(cluster, name)).state === 'up' ? true : undefined,
    )
}

async function statusOf(cluster: RunningCluster, name: string) {
  const status = await cluster.status()
  return status.nodes.find((node) => node.name === name) ?? status.validator
}
