/**
 * Limits of connections, WebSockets and long polls: of one client, of one network, and in all. At a limit, the
 * longest idle user of the largest client makes room, so that no client keeps others out by having come first.
 */
import { keysOf } from './client.ts'

export type ConnectionLimits = {
  readonly max: number
  /** The limit of one client: an IPv4 address, or the /64 of an IPv6 address. */
  readonly perClientMax: number
  /** The limit of one network: an IPv4 address, or the /48 of an IPv6 address, which has 65 536 clients. */
  readonly perNetworkMax: number
  /** A user needs its slot while it exists: it is evicted only for a client that has fewer. */
  readonly evictsOnlyFromLargerClients: boolean
}

/** What occupies a slot. */
export type SlotUser = {
  /** Whether the user can be evicted without loss of work. Absent: always. */
  isIdle?(): boolean
  evict(): void
}

export type Slot = {
  /** The user was just used: others have been idle for longer. */
  touch(): void
  /** May be called again. */
  release(): void
}

type ClientSlots = {
  readonly client: string
  readonly network: string
  /** The longest idle one first. */
  readonly users: Set<SlotUser>
}

/** The slots of the connections of reverse proxies, which have no limit of their own and are not evicted. */
const PROXIES = { client: 'proxies', network: 'proxies' }

export class ConnectionLimiter {
  readonly #limits: ConnectionLimits
  readonly #clients = new Map<string, ClientSlots>()
  #count = 0

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  /**
   * A slot for a user; null where all users that could make room are busy.
   *
   * @param address - Of the socket; undefined on a unix socket. `proxy`: the connection serves many clients.
   */
  acquire(address: string | undefined, user: SlotUser, { isProxy = false } = {}): Slot | null {
    const { client, network } = isProxy ? PROXIES : keysOf(address)
    if (!this.#makeRoom(client, network)) return null
    const slots = this.#clients.get(client) ?? { client, network, users: new Set() }
    this.#clients.set(client, slots)
    slots.users.add(user)
    this.#count++
    return {
      touch() {
        if (slots.users.delete(user)) slots.users.add(user)
      },
      release: () => this.#remove(slots, user),
    }
  }

  /** Evicts a user where a limit is reached; false if none can be evicted. */
  #makeRoom(client: string, network: string): boolean {
    const { max, perClientMax, perNetworkMax } = this.#limits
    const ownSize = this.#clients.get(client)?.users.size ?? 0
    if (client !== PROXIES.client) {
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
      if (slots.network === network) size += slots.users.size
    return size
  }

  /** Evicts the longest idle user of the largest of these clients that has one. */
  #evictFor(ownSize: number, isCandidate: (slots: ClientSlots) => boolean): boolean {
    const sizeMin = this.#limits.evictsOnlyFromLargerClients ? ownSize + 2 : 1
    let size = 0
    let evict: (() => void) | null = null
    for (const slots of this.#clients.values()) {
      const { users } = slots
      if (slots.client === PROXIES.client || !isCandidate(slots)) continue
      if (users.size < sizeMin || users.size <= size) continue
      const idle = firstIdle(users)
      if (idle === undefined) continue
      size = users.size
      evict = () => {
        this.#remove(slots, idle)
        idle.evict()
      }
    }
    evict?.()
    return evict !== null
  }

  #remove(slots: ClientSlots, user: SlotUser): void {
    if (!slots.users.delete(user)) return
    this.#count--
    if (slots.users.size === 0) this.#clients.delete(slots.client)
  }
}

function firstIdle(users: Iterable<SlotUser>): SlotUser | undefined {
  for (const user of users) if (user.isIdle?.() !== false) return user
  return undefined
}
