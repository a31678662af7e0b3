/** The synchronizer's clock jumps while a user submits. */
import { parseTime } from '@quorumscan/model'
import { send, until } from '@quorumscan/testkit'
import { clock, createUser, untilFound } from '../support/client.ts'
import { ownSecret, submit } from '../support/network.ts'
import type { Attack } from './attack.ts'
import { setClock } from './wrong-clock.ts'

const DAY_MS = 86_400_000
/** Without a guard, six seconds of a clock 30 days ahead with one submission would stop a network for 30 days. */
const JUMPS_MS = [30 * DAY_MS, -600_000, 3_000]
const HOLD_MS = 6_000
const USERS = 'clock-forward'
/** The log continues without a restart after a few polls of the nodes' clocks. */
const BACK_MS_MAX = 10_000
const AHEAD_MS_MAX = 10_000

export const clockForward: Attack = {
  name: 'clock-forward',
  claim:
    'A time server moves the clock of the synchronizer by 30 days, minus ten minutes or three ' +
    'seconds, for six seconds, while a user submits. ' +
    'The log gets no entry that replicas must wait for, the refusal names the clock, and ordering continues afterwards.',
  async run({ cluster }) {
    const token = await ownSecret(cluster, 'secrets/log-token-sv-1')
    const user = await createUser(cluster, `${USERS}-${Math.floor(clock.nowMicros())}`)
    const figures: Record<string, number | string> = {}
    let holds = true
    const check = (isTrue: boolean, what: string) => {
      if (isTrue) return
      holds = false
      figures[`broken: ${what}`] = 'yes'
    }
    for (const jumpMs of JUMPS_MS) {
      const healed = clock.delay(HOLD_MS).then(() => cluster.heal('synchronizer'))
      const missing = await setClock(cluster, 'synchronizer', jumpMs)
      check(missing.length === 0, `${jumpMs}: not reported by ${missing.join(', ')}`)
      const refused = await send(`${cluster.urls.synchronizer}/readyz`)
      check(refused.body?.definite === false, `${jumpMs}: not definite`)
      // With a peer token, because another attack may have used up the budget of anonymous callers.
      const entry = await submit(cluster, Buffer.from('not an entry'), token)
      figures[`${jumpMs} ms: an entry`] = entry
      check(entry === 503 || entry === 400, `${jumpMs}: an entry is refused`)
      // The validator retries until the log accepts the write, after the clock is correct again.
      const tapped = user.client.POST('/v0/wallet/tap', { body: { amount: '1.0' } })
      await healed
      const healedMs = clock.monotonicMs()
      await until('the log to continue', async () =>
        (await send(`${cluster.urls.synchronizer}/readyz`)).status === 200 ? true : undefined,
      )
      const backMs = clock.monotonicMs() - healedMs
      figures[`${jumpMs} ms: log back after`] = `${Math.round(backMs)} ms`
      check(backMs <= BACK_MS_MAX, `${jumpMs}: continues without a restart`)
      const { response, error } = await tapped
      figures[`${jumpMs} ms: the write meanwhile`] = response.status
      check(
        response.status === 200 || (error as { code?: string } | undefined)?.code === 'CLOCK_OFF',
        `${jumpMs}: a write is done or refused with the reason`,
      )
      const status = await send(`${cluster.urls.synchronizer}/status`)
      const recordTime = parseTime(status.body.success.extra.recordTime) ?? Number.POSITIVE_INFINITY
      const aheadMs = (recordTime - clock.nowMicros()) / 1000
      figures[`${jumpMs} ms: record time ahead by`] = `${Math.round(aheadMs)} ms`
      check(aheadMs < AHEAD_MS_MAX, `${jumpMs}: record time is not ahead`)
    }
    const name = `after-${Math.floor(clock.nowMicros())}.unverified.ns`
    await user.pay(name)
    check((await untilFound(cluster, name)).status === 200, 'a name is registered afterwards')
    return { holds, figures }
  },
}
