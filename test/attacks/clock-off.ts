/** A scan node and the validator whose clocks are ten minutes slow, then fast; and a little off. */
import { until } from '@quorumscan/testkit'
import type { RunningCluster } from 'quorumscan/testing'
import { clock, createUser, lookup, untilFound } from '../e2e/client.ts'
import { runCommand } from '../e2e/command.ts'
import type { Attack } from './attack.ts'
import { setClock } from './wrong-clock.ts'

/** More than the 2 s of agreement, less than the 10 s for which replicas wait. */
const LITTLE_MS = 5_000
const SHIFTS_MS = [-600_000, 600_000]
/** A refusal needs no wait for anything: far below the 15 s after which a write would be given up. */
const REFUSAL_MS_MAX = 5_000

export const clockOff: Attack = {
  name: 'clock-off',
  claim:
    'The clocks of one scan node and of the validator are set ten minutes back, then ten minutes ahead. ' +
    'A process that pauses is not counted as up; its clock is named by /readyz, /status, a metric, one line of its log ' +
    'and the status of the cluster; lookups and registrations continue without the node, ' +
    'and the validator refuses each write at once with the reason. A clock that is 5 s off is shown, too.',
  async run({ cluster }) {
    const label = `clock-off-${Math.floor(clock.nowMicros())}`
    const user = await createUser(cluster, label)
    const figures: Record<string, number | string> = {}
    let holds = true
    const demand = (isTrue: boolean, what: string) => {
      if (isTrue) return
      holds = false
      figures[`broken: ${what}`] = 'yes'
    }
    const set = async (name: string, offsetMs: number) => {
      const untold = await setClock(cluster, name, offsetMs)
      demand(untold.length === 0, `${offsetMs} ms, untold by ${untold.join(', ')}`)
    }
    try {
      await set('sv-4', LITTLE_MS)
      const shown = await until('the status to name the clock', async () => {
        const { text } = await runCommand(cluster, 'status')
        return /^sv-4: its clock is .*$/m.exec(text) === null ? undefined : text
      })
      demand(/sv-4: its clock is 5 s ahead of/.test(shown), 'by how much')
      demand(/lookups .*4 of 4 nodes up/.test(shown), 'it is counted all the same')

      for (const shiftMs of SHIFTS_MS) {
        await set('sv-4', shiftMs)
        figures[`sv-4 at ${shiftMs} ms`] = await untilStopped(cluster, 'sv-4')
        const name = `${label}-${shiftMs < 0 ? 'slow' : 'fast'}.unverified.ns`
        await user.pay(name)
        await untilFound(cluster, name)
        demand((await lookup(cluster, name)).status === 200, 'lookups continue')
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
        demand(response.status === 503 && code === 'CLOCK_OFF', 'the refusal names the clock')
        demand(tookMs <= REFUSAL_MS_MAX, 'it is refused at once')
        await cluster.heal('validator')
        await untilUp(cluster, 'sv-4', 'validator')
      }
    } finally {
      await cluster.heal()
      await untilUp(cluster, 'sv-4', 'validator')
    }
    const after = await user.client.POST('/v0/wallet/tap', { body: { amount: '1.0' } })
    demand(after.response.status === 200, 'writes continue without a restart')
    return { holds, figures }
  },
}

/** Until it is not counted as up, for the reason of its clock; what is said of it. */
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
