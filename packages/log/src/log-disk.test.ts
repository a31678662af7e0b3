import { ScanError } from '@quorumscan/errors'
import { createMetrics } from '@quorumscan/runtime'
import { createManualClock, untilTrue } from '@quorumscan/testkit'
import { it } from 'vitest'
import { watchLogDisk } from './log-disk.ts'

it('reports a full log while the synchronizer does, and nothing if it is silent', async () => {
  const metrics = createMetrics()
  const clock = createManualClock()
  let readiness = async (): Promise<ScanError | null> => null
  await using room = watchLogDisk({ log: { readiness: () => readiness() }, clock, metrics })
  const shown = async () => [
    /^quorumscan_log_full (.)$/m.exec((await metrics.expose()).text)?.[1],
    room.detail(),
  ]
  const becomes = (values: unknown[]) =>
    untilTrue(String(values), async () => {
      await clock.advance(5000)
      return JSON.stringify(await shown()) === JSON.stringify(values)
    })
  await becomes(['0', null])
  readiness = async () => new ScanError('LOG_FULL', '3 MiB free', { retryAfterSeconds: 1 })
  await becomes(['1', 'LOG_FULL: 3 MiB free'])
  readiness = async () => new ScanError('NOT_READY', 'no', { retryAfterSeconds: 1 })
  await becomes(['0', null])
  readiness = () => new Promise(() => {})
  await becomes([undefined, null])
})
