/** Entry of a synchronizer of a cluster: the app, with faults of its clock, edges, disk and engine. */
import { runProcess } from '@quorumscan/base'
import { readSynchronizerConfig, type SynchronizerConfig } from '@quorumscan/config'
import { freeBytesOnDisk, startSynchronizer } from '@quorumscan/synchronizer'
import { createEngineFaults } from './engine-faults.ts'
import type { ProcessFaults } from './fault-spec.ts'
import { createFaultyProcess, type FaultyProcess, readFaultEnvironment } from './process.ts'

await runProcess(async (signal) => {
  const environment = readFaultEnvironment(process.env)
  const faulty = createFaultyProcess(environment)
  const engine = createEngineFaults(environment.initial.engine)
  let { isDiskFull } = environment.initial
  const plain = readSynchronizerConfig(process.env)
  const synchronizer = await startSynchronizer(
    { ...plain, ordering: await route(plain.ordering, faulty) },
    {
      clock: faulty.clock,
      signal,
      spawnEngine: engine.spawn,
      endsHungEngine: false,
      joinEngine: faulty.joinEngine,
      freeBytesOf: async (directory) => (isDiskFull ? 0 : await freeBytesOnDisk(directory)),
      extend: ({ server }) => faulty.guard(server),
    },
  )
  const apply = (faults: ProcessFaults) => {
    engine.set(faults.engine)
    isDiskFull = faults.isDiskFull
  }
  const restart = async () => {
    engine.restart()
    return null
  }
  await faulty.listen(apply, { '/engine/restart': restart })
  return synchronizer
})

/** Puts the connections of a member behind the edges of this process. */
async function route(ordering: SynchronizerConfig['ordering'], faulty: FaultyProcess) {
  if (ordering.driver === 'redis') return ordering
  return {
    ...ordering,
    redis: await faulty.routeRedis(ordering.redis),
    engines: { ...ordering.engines, peers: await faulty.routePeers(ordering.engines.peers) },
  }
}
