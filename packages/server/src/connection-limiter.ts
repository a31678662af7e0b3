/**
 * Limits of connections, WebSockets and long polls: of one client, of one network, and in all. At a limit, the
 * longest idle occupant of the largest client is evicted, so that no client keeps others out by having come first.
 */
import { held } from '@quorumscan/base'
import { keysOf, PROXIES } from './client.ts'

export type ConnectionLimits = {
  /** Its row in the table "Pools" of docs/architecture.md. */
  readonly pool: string
  readonly max: number
  /** The limit of one client: an IPv4 address, or the /64 of an IPv6 address. */
  readonly perClientMax: number
  /** The limit of one network: an IPv4 address, or the /48 of an IPv6 address, which has 65 536 clients. */
  readonly perNetworkMax: number
  /** An occupant needs its slot while it exists: it is evicted only for a client that has fewer. */
  readonly evictsOnlyFromLargerClients?: boolean
}

/** A connection, WebSocket or long poll in a slot. */
export type Occupant = {
  /** Whether the occupant can be evicted without loss of work. Absent: always. */
  isIdle?(): boolean
  evict(): void
}

export type Slot = {
  /** The occupant was just used: others have been idle for longer. */
  touch(): void
  /** May be called again. */
  release(): void
}

type ClientSlots = {
  readonly client: string
  readonly network: string
  /** The longest idle one first. */
  readonly occupants: Set<Occupant>
}

/** The slots of the connections of reverse proxies, which have no limit of their own and are not evicted. */
const OF_PROXIES = { client: PROXIES, network: PROXIES }

export class ConnectionLimiter {
  readonly #limits: ConnectionLimits
  readonly #clients = held(
    { owner: 'server', name: 'clients with slots', kind: 'work', bound: 'the pools of slots' },
    new Map<string, ClientSlots>(),
  )
  #count = 0

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
    const { pool: name, max: bound } = limits
    held({ owner: 'pool', name, kind: 'work', bound }, this)
  }

  /** The number of slots that are taken. */
  get size(): number {
    return this.#count
  }

  /**
   * A slot for an occupant; null if all occupants that could be evicted are busy.
   *
   * @param address - Of the socket; undefined on a unix socket. `proxy`: the connection serves many clients.
   */
  acquire(address: string | undefined, occupant: Occupant, { isProxy = false } = {}): Slot | null {
    const { client, network } = isProxy ? OF_PROXIES : keysOf(address)
    if (!this.#makeRoom(client, network)) return null
    const slots = this.#clients.get(client) ?? { client, network, occupants: new Set() }
    this.#clients.set(client, slots)
    slots.occupants.add(occupant)
    this.#count++
    return {
      touch() {
        if (slots.occupants.delete(occupant)) slots.occupants.add(occupant)
      },
      release: () => this.#remove(slots, occupant),
    }
  }

  /** Evicts an occupant where a limit is reached; false if none can be evicted. */
  #makeRoom(client: string, network: string): boolean {
    const { max, perClientMax, perNetworkMax } = this.#limits
    const ownSize = this.#clients.get(client)?.occupants.size ?? 0
    if (client !== PROXIES) {
      if (ownSize >= perClientMax)
        return this.#evictFor(ownSize, (slots) => slots.client === client)
      // An IPv4 address is a network of its own.
      if (network !== client && this.#sizeOfNetwork(network) >= perNetworkMax)
        return this.#evictFor(ownSize, (slots) => slots.network === network)
    }
    return this.#count < max || this.#evictFor(ownSize, () => true)
  }

  #sizeOfNetwork(network: string): number {
    let size = 0
    for (const slots of this.#clients.values())
      if (slots.network === network) size += slots.occupants.size
    return size
  }

  /** Evicts the longest idle occupant of the largest of these clients that has one. */
  #evictFor(ownSize: number, isCandidate: (slots: ClientSlots) => boolean): boolean {
    const sizeMin = this.#limits.evictsOnlyFromLargerClients ? ownSize + 2 : 1
    let size = 0
    let evict: (() => void) | null = null
    for (const slots of this.#clients.values()) {
      const { occupants } = slots
      if (slots.client === PROXIES || !isCandidate(slots)) continue
      if (occupants.size < sizeMin || occupants.size <= size) continue
      const idle = firstIdle(occupants)
      if (idle === undefined) continue
      size = occupants.size
      evict = () => {
        this.#remove(slots, idle)
        idle.evict()
      }
    }
    evict?.()
    return evict !== null
  }

  #remove(slots: ClientSlots, occupant: Occupant): void {
    if (!slots.occupants.delete(occupant)) return
    this.#count--
    if (slots.occupants.size === 0) this.#clients.delete(slots.client)
  }
}

function firstIdle(occupants: Iterable<Occupant>): Occupant | undefined {
  for (const one of occupants) if (one.isIdle?.() !== false) return one
  return undefined
}
