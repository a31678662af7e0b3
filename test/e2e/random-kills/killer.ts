/**
 * Kills processes of a cluster, one blow after the other, as drawn from a seed. Some blows are commands, and the
 * victims are started by command again. Others come from a stranger, who knows nothing but pids: then only the
 * cluster itself brings them back. A control plane is taken over by the next `up`.
 */

import { CommandError } from '@quorumscan/runtime'
import { until } from '@quorumscan/testkit'
import type { RunningCluster } from 'quorumscan/testing'
import type { SeededRandom } from '../../sim/seeded-random.ts'
import { clock } from '../client.ts'
import { runCommand } from '../command.ts'
import { controlPid } from '../control-pid.ts'

/** `part`: null for its process. */
type Victim = { readonly node: string; readonly part: 'redis' | null }

/** Between a restart and the next blow. */
const QUIET_MS = { min: 300, max: 2500 }
/** How long victims stay dead. */
const DEAD_MS = { min: 0, max: 1500 }
/** Of the blows: by a stranger to processes and Redis, and to the control plane. */
const STRANGER = 0.5
const CONTROL_PLANE = 0.06

export type Killer = {
  /** The blows so far, for a person. */
  readonly blows: readonly string[]
  /** Resolves when there were as many as were asked for, or it was ended before. */
  readonly done: Promise<void>
  /** Ends the killing and returns when everything is up again. */
  heal(): Promise<void>
}

export function startKilling(
  cluster: RunningCluster,
  options: { readonly random: SeededRandom; readonly blowCountMax: number },
): Killer {
  const { random, blowCountMax } = options
  const nodes = Object.keys(cluster.urls.nodes)
  const blows: string[] = []
  const stopping = new AbortController()
  const restarts: Promise<void>[] = []

  const strike = async () => {
    if (random.chance(CONTROL_PLANE)) {
      // What is to be started by command is started here, because the control plane does not.
      await Promise.all(restarts)
      blows.push('a stranger: control plane')
      process.kill(controlPid(cluster), 'SIGKILL')
      await clock.delay(random.integer(DEAD_MS.min, DEAD_MS.max))
      const { code, text } = await runCommand(cluster, 'up', '--detach')
      if (code !== 0) throw new Error(`no control plane could take over: ${text}`)
      return
    }
    const isStranger = random.chance(STRANGER)
    const victims = drawVictims(random, nodes)
    const names = victims
      .map(({ node, part }) => (part === null ? node : `${node}'s Redis`))
      .join(' and ')
    blows.push(isStranger ? `a stranger: ${names}` : names)
    if (isStranger) return await strikeByPid(cluster, victims)
    await Promise.all(victims.map(({ node, part }) => cluster.kill(node, { part })))
    await clock.delay(random.integer(DEAD_MS.min, DEAD_MS.max))
    // Not waited for: the next blow may hit what is only starting.
    for (const victim of victims.toSorted((a, b) => rankOf(a) - rankOf(b)))
      restarts.push(restart(cluster, victim))
  }
  const killing = (async () => {
    while (!stopping.signal.aborted && blows.length < blowCountMax) {
      await clock.delay(random.integer(QUIET_MS.min, QUIET_MS.max))
      if (!stopping.signal.aborted) await strike()
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
    await until('everything to be up again', areAllUp)
  }
  let healing: Promise<void> | null = null

  return {
    blows,
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

/** What others need is started first. */
function rankOf({ part }: Victim): number {
  return part === 'redis' ? 0 : 1
}

/** As the kernel kills a process that takes too much memory: without notice to the control plane. */
async function strikeByPid(cluster: RunningCluster, victims: readonly Victim[]): Promise<void> {
  const services = await statesOf(cluster)
  for (const { node, part } of victims) {
    const service = services.find(({ name }) => name === node)
    const pid = part === 'redis' ? service?.redisPid : service?.pid
    try {
      if (pid !== undefined && pid !== null) process.kill(pid, 'SIGKILL')
    } catch (error) {
      // It ended since: killed by the blow before.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
    }
  }
}

async function restart(cluster: RunningCluster, { node, part }: Victim): Promise<void> {
  try {
    await cluster.restart(node, { part })
  } catch (error) {
    // Killed again before it was up.
    if (!(error instanceof CommandError)) throw error
  }
}

async function statesOf(cluster: RunningCluster) {
  const { nodes, validator, synchronizer } = await cluster.status()
  return [...nodes, { name: 'validator', ...validator }, { name: 'synchronizer', ...synchronizer }]
}
