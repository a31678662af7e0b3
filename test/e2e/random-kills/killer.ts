/**
 * Kills processes of a cluster, drawn from a seed. Some kills are commands, and a command starts the victims again.
 * Other kills are signals to pids, after which only the cluster itself restarts the victims. After a kill of the control
 * plane, the next `up` takes over.
 */

import { CommandError } from '@quorumscan/runtime'
import { until } from '@quorumscan/testkit'
import type { RunningCluster } from 'quorumscan/testing'
import { clock } from '../../support/client.ts'
import { runCommand } from '../../support/command.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import { controlPid } from '../control-pid.ts'

/** With `part` null the victim is the node's own process. */
type Victim = { readonly node: string; readonly part: 'redis' | null }

/** Time between two kills. */
const QUIET_MS = { min: 300, max: 2500 }
/** How long victims stay down. */
const DEAD_MS = { min: 0, max: 1500 }
/** Shares of the kills: by signal to processes and their Redis, and of the control plane. */
const BY_SIGNAL = 0.5
const CONTROL_PLANE = 0.06

export type Killer = {
  /** Descriptions of the kills so far. */
  readonly kills: readonly string[]
  /** Resolves after `killCountMax` kills, or after `heal`. */
  readonly done: Promise<void>
  /** Ends the kills, and resolves when all processes are up again. */
  heal(): Promise<void>
}

export function startKiller(
  cluster: RunningCluster,
  options: { readonly random: SeededRandom; readonly killCountMax: number },
): Killer {
  const { random, killCountMax } = options
  const nodes = Object.keys(cluster.urls.nodes)
  const kills: string[] = []
  const stopping = new AbortController()
  const restarts: Promise<void>[] = []

  const killNext = async () => {
    if (random.chance(CONTROL_PLANE)) {
      // Waits for restarts by command, which a new control plane would not repeat.
      await Promise.all(restarts)
      kills.push('signal: control plane')
      process.kill(controlPid(cluster), 'SIGKILL')
      await clock.delay(random.integer(DEAD_MS.min, DEAD_MS.max))
      const { code, text } = await runCommand(cluster, 'up', '--detach')
      if (code !== 0) throw new Error(`no control plane could take over: ${text}`)
      return
    }
    const isBySignal = random.chance(BY_SIGNAL)
    const victims = drawVictims(random, nodes)
    const names = victims
      .map(({ node, part }) => (part === null ? node : `${node}'s Redis`))
      .join(' and ')
    kills.push(isBySignal ? `signal: ${names}` : names)
    if (isBySignal) return await killByPid(cluster, victims)
    await Promise.all(victims.map(({ node, part }) => cluster.kill(node, { part })))
    await clock.delay(random.integer(DEAD_MS.min, DEAD_MS.max))
    // The restarts are not awaited, so that the next kill may hit a starting process.
    for (const victim of victims.toSorted((a, b) => rankOf(a) - rankOf(b)))
      restarts.push(restart(cluster, victim))
  }
  const killing = (async () => {
    while (!stopping.signal.aborted && kills.length < killCountMax) {
      await clock.delay(random.integer(QUIET_MS.min, QUIET_MS.max))
      if (!stopping.signal.aborted) await killNext()
    }
  })()

  const heal = async () => {
    stopping.abort()
    await killing
    await Promise.all(restarts)
    for (const { name, state } of await statesOf(cluster))
      if (state === 'down') await restart(cluster, { node: name, part: null })
    const areAllUp = async () =>
      (await statesOf(cluster)).every(({ state }) => state === 'up') ? true : undefined
    await until('all processes to be up again', areAllUp)
  }
  let healing: Promise<void> | null = null

  return {
    kills,
    done: killing,
    heal() {
      healing ??= heal()
      return healing
    },
  }
}

/** One process and its Redis, one of both, or the same process of several nodes at once. */
function drawVictims(random: SeededRandom, nodes: readonly string[]): readonly Victim[] {
  const node = random.pick([...nodes, ...nodes, 'synchronizer', 'validator', 'validator'])
  const kind = random.integer(1, 10)
  if (kind === 1) return nodes.map((each) => ({ node: each, part: null }))
  if (kind === 2) return nodes.slice(0, 2).map((each) => ({ node: each, part: 'redis' }))
  if (kind <= 4)
    return [
      { node, part: 'redis' },
      { node, part: null },
    ]
  return [{ node, part: kind <= 6 ? 'redis' : null }]
}

/** Redis starts before the process that needs it. */
function rankOf({ part }: Victim): number {
  return part === 'redis' ? 0 : 1
}

/** Kills by pid without a notice to the control plane, like the kernel when memory runs out. */
async function killByPid(cluster: RunningCluster, victims: readonly Victim[]): Promise<void> {
  const services = await statesOf(cluster)
  for (const { node, part } of victims) {
    const service = services.find(({ name }) => name === node)
    const pid = part === 'redis' ? service?.redisPid : service?.pid
    try {
      if (pid !== undefined && pid !== null) process.kill(pid, 'SIGKILL')
    } catch (error) {
      // The previous kill has ended it.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
    }
  }
}

async function restart(cluster: RunningCluster, { node, part }: Victim): Promise<void> {
  try {
    await cluster.restart(node, { part })
  } catch (error) {
    // The process was killed again before it was up.
    if (!(error instanceof CommandError)) throw error
  }
}

async function statesOf(cluster: RunningCluster) {
  const { nodes, validator, synchronizer } = await cluster.status()
  return [...nodes, { name: 'validator', ...validator }, { name: 'synchronizer', ...synchronizer }]
}
