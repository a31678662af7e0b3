/** The TCP ports of a cluster: one block, drawn at the first `up` and stored. */

import { createServer } from 'node:net'
import { type Random, systemRandom } from '@quorumscan/base'
import { LOOPBACK, type OrderingDriver } from '@quorumscan/operator'
import { CommandError } from '@quorumscan/runtime'

const DEFAULT_BASE_PORT = 4600
/** The distance between the blocks of clusters on one machine whose ports no operator chose. */
const BLOCK_PORTS = 100
const BLOCKS_TRIED_MAX = 50
/** Below the range of the ports of outgoing connections, which could collide. */
const FREE_PORTS = { min: 10_000, max: 32_000 }
/**
 * Blocks of any ports begin at multiples of this, which is at least the length of a block. So two clusters that start at
 * the same time share either no port or the first, on which the control plane listens from the beginning.
 */
const FREE_BLOCK_PORTS = 64
const FREE_BLOCKS = (FREE_PORTS.max - FREE_PORTS.min) / FREE_BLOCK_PORTS

type Ports = ReturnType<typeof portsFrom>

/** The address of a server of the cluster. */
export function urlOf(port: number): string {
  return `http://${LOOPBACK}:${port}`
}

/**
 * The block that starts at a port: control plane, validator, synchronizer with its engine; from +11 on the nodes, then the
 * ports that each node adds where members order together. Each kind has room for the largest network.
 */
export function portsFrom(basePort: number, nodeCount: number) {
  const indexes = [...Array(nodeCount).keys()]
  return {
    control: basePort,
    validator: basePort + 1,
    synchronizer: basePort + 2,
    /** The port of the synchronizer's engine, for other engines, where members order together. */
    engine: { p2p: basePort + 3 },
    /** The ports of sv-1, sv-2, … in order. */
    nodes: indexes.map((index) => basePort + 11 + index),
    /** The ports that each node adds where members order together. */
    members: indexes.map((index) => ({
      synchronizer: basePort + 24 + index,
      p2p: basePort + 37 + index,
    })),
  }
}

/** The ports of a block on which processes of the cluster listen. */
export function usedPorts(ports: Ports, driver: OrderingDriver): readonly number[] {
  const { control, validator, synchronizer, engine, nodes, members } = ports
  const always = [control, validator, synchronizer, ...nodes]
  if (driver === 'redis') return always
  const ofMembers = members.flatMap((member) => [member.synchronizer, member.p2p])
  return [...always, engine.p2p, ...ofMembers]
}

/**
 * A base port whose whole block is free now.
 *
 * @param wanted - A port: exactly that one. 0: any. null: 4600, or the next hundred that is free.
 * @throws {CommandError} If the wanted block is not free, with the port.
 */
export async function drawBasePort(
  wanted: number | null,
  { nodeCount, ordering }: { readonly nodeCount: number; readonly ordering: OrderingDriver },
  random: Random = systemRandom,
): Promise<number> {
  const portsAt = (basePort: number) => usedPorts(portsFrom(basePort, nodeCount), ordering)
  const span = Math.max(...portsAt(0))
  if (wanted !== null && wanted !== 0) {
    if (wanted < 1 || wanted + span > 65_535)
      throw new CommandError(`--base-port ${wanted}: choose a port from 1 to ${65_535 - span}`)
    const taken = await findTakenPort(portsAt(wanted))
    if (taken === undefined) return wanted
    throw new CommandError(
      `port ${taken} is in use by another program; choose another with --base-port, or 0 for any`,
    )
  }
  for (let block = 0; block < BLOCKS_TRIED_MAX; block++) {
    const basePort =
      wanted === null
        ? DEFAULT_BASE_PORT + BLOCK_PORTS * block
        : FREE_PORTS.min + FREE_BLOCK_PORTS * Math.floor(random.fraction() * FREE_BLOCKS)
    if ((await findTakenPort(portsAt(basePort))) === undefined) return basePort
  }
  throw new CommandError('found no block of free ports; choose one with --base-port')
}

/** The first of these ports that is in use. */
export async function findTakenPort(ports: readonly number[]): Promise<number | undefined> {
  const isFree = await Promise.all(ports.map(isPortFree))
  return ports.find((_, index) => !isFree[index])
}

function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: LOOPBACK }, () => server.close(() => resolve(true)))
  })
}
