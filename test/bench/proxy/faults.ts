/** Measures verified lookups while one of four nodes is faulty. */
import type { RunningCluster } from 'quorumscan/testing'
import { startChild } from '../../support/child.ts'
import type { Load } from '../../support/load.ts'
import { type Loader, nodeUrl } from '../lookups.ts'
import { inTurn, type Turns } from '../turns.ts'
import type { FaultyNodeArgument } from './faulty-node-child.ts'

export const FAULTS = ['killed', 'hung', 'slow', 'lying'] as const
export type Fault = (typeof FAULTS)[number]

const FAULTY_NODE = 'bench/proxy/faulty-node-child'
const FAULTY = 'sv-4'
/** Warm-up turns if several turns are measured. Few, because each turn kills and restarts a node. */
const WARM_UP_TURNS = 1

/** In each turn the node is healthy once, and faulty once. */
export function measureFault(
  cluster: RunningCluster,
  fault: Fault,
  { verified, turns }: { readonly verified: Loader; readonly turns: number },
): Promise<Turns<'healthy' | 'faulty', Load>> {
  return inTurn(
    turns,
    { healthy: () => verified(), faulty: () => withFault(cluster, fault, verified) },
    Math.min(WARM_UP_TURNS, turns - 1),
  )
}

async function withFault(cluster: RunningCluster, fault: Fault, verified: Loader): Promise<Load> {
  if (fault === 'hung') {
    await cluster.pause(FAULTY)
    const load = await verified()
    await cluster.resume(FAULTY)
    return load
  }
  await cluster.kill(FAULTY)
  const load =
    fault === 'killed' ? await verified() : await withReplacement(cluster, fault, verified)
  await cluster.restart(FAULTY)
  return load
}

/** Measures while a process at the address of the killed node answers late or lies. */
async function withReplacement(
  cluster: RunningCluster,
  fault: FaultyNodeArgument['fault'],
  verified: Loader,
): Promise<Load> {
  await using child = startChild(FAULTY_NODE, {
    port: Number(new URL(nodeUrl(cluster, FAULTY)).port),
    target: nodeUrl(cluster),
    fault,
  } satisfies FaultyNodeArgument)
  await child.result()
  return await verified()
}
