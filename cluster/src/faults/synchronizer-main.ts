/** Entry of the synchronizer of a cluster: the app, with a clock and a front that can be broken. */
import { envToConfig, startSynchronizer } from '@quorumscan/synchronizer'
import { createFaultyProcess, readFaultEnvironment } from './process.ts'
import { runProcess } from './run.ts'

await runProcess(async (signal) => {
  const faulty = createFaultyProcess(readFaultEnvironment(process.env))
  const synchronizer = await startSynchronizer(envToConfig(process.env), {
    clock: faulty.clock,
    signal,
    extend: ({ server }) => faulty.guard(server),
  })
  await faulty.listen({})
  return {
    // It never ends by itself in order: `finished` rejects when the log forbids it to go on.
    failed: synchronizer.finished,
    [Symbol.asyncDispose]: () => synchronizer[Symbol.asyncDispose](),
  }
})
