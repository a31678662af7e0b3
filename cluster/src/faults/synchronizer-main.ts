/** Entry of the synchronizer of a cluster: the app, with a clock and a front that can be broken. */
import { runProcess } from '@quorumscan/base'
import { envToConfig, startSynchronizer } from '@quorumscan/synchronizer'
import { createFaultyProcess, readFaultEnvironment } from './process.ts'

await runProcess(async (signal) => {
  const faulty = createFaultyProcess(readFaultEnvironment(process.env))
  const synchronizer = await startSynchronizer(envToConfig(process.env), {
    clock: faulty.clock,
    signal,
    extend: ({ server }) => faulty.guard(server),
  })
  await faulty.listen({})
  return synchronizer
})
