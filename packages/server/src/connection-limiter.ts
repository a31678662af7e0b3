/**
 * Limits of connections, WebSockets and long polls: of one client, of one network, and in all. At a limit, the
 * longest idle member of the largest client makes room, so that no client keeps others out by having come first.
 */
import { keysOf } from './client.ts'

export type ConnectionLimits = {
  readonly max: number
  /** The limit of one client: an IPv4 address, or the /64 of an IPv6 address. */
  readonly perClientMax: number
  /** The limit of one network: an IPv4 address, or the /48 of an IPv6 address, which has 65 536 clients. */
  readonly perNetworkMax: number
  /** Members are in use while they exist: one is evicted only for a client that has fewer. */
  readonly areInUse: boolean
}

/** What occupies a slot. */
export type Member = {
  /** Whether the member can be evicted without loss of work. Absent: always. */
  isIdle?(): boolean
  evict(): void
}

export type Slot = {
  /** The member was just used: others have been idle for longer. */
  touch(): void
  /** May be called again. */
  release(): void
}

type Holder = {
  readonly client: string
  readonly network: string
  /** The longest idle one first. */
  readonly members: Set<Member>
}

/** The holder of the connections of reverse proxies, which have no limit of their own and are not evicted. */
const PROXIES = { client: 'proxies', network: 'proxies' }

export class ConnectionLimiter {
  readonly #limits: ConnectionLimits
  readonly #holders = new Map<string, Holder>()
  #count = 0

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  /**
   * A slot for a member; null where all members that could make room are busy.
   *
   * @param address - Of the socket; undefined on a unix socket. `proxy`: the connection serves many clients.
   */
  acquire(address: string | undefined, member: Member, { isProxy = false } = {}): Slot | null {
    const { client, network } = isProxy ? PROXIES : keysOf(address)
    if (!this.#makeRoom(client, network)) return null
    const holder = this.#holders.get(client) ?? { client, network, members: new Set() }
    this.#holders.set(client, holder)
    holder.members.add(member)
    this.#count++
    return {
      touch() {
        if (holder.members.delete(member)) holder.members.add(member)
      },
      release: () => this.#remove(holder, member),
    }
  }

  /** Evicts a member where a limit is reached; false if none can be evicted. */
  #makeRoom(client: string, network: string): boolean {
    const { max, perClientMax, perNetworkMax } = this.#limits
    const ownSize = this.#holders.get(client)?.members.size ?? 0
    if (client !== PROXIES.client) {
      if (ownSize >= perClientMax)
        return this.#evictFor(ownSize, (holder) => holder.client === client)
      // An IPv4 address is a network of its own.
      if (network !== client && this.#sizeOfNetwork(network) >= perNetworkMax)
        return this.#evictFor(ownSize, (holder) => holder.network === network)
    }
    return this.#count < max || this.#evictFor(ownSize, () => true)
  }

  #sizeOfNetwork(network: string): number {
    let size = 0
    for (const holder of this.#holders.values())
      if (holder.network === network) size += holder.members.size
    return size
  }

  /** Evicts the longest idle member of the largest of these holders that has one. */
  #evictFor(ownSize: number, isCandidate: (holder: Holder) => boolean): boolean {
    const sizeMin = this.#limits.areInUse ? ownSize + 2 : 1
    let size = 0
    let evict: (() => void) | null = null
    for (const holder of this.#holders.values()) {
      const { members } = holder
      if (holder.client === PROXIES.client || !isCandidate(holder)) continue
      if (members.size < sizeMin || members.size <= size) continue
      const idle = firstIdle(members)
      if (idle === undefined) continue
      size = members.size
      evict = () => {
        this.#remove(holder, idle)
        idle.evict()
      }
    }
    evict?.()
    return evict !== null
  }

  #remove(holder: Holder, member: Member): void {
    if (!holder.members.delete(member)) return
    this.#count--
    if (holder.members.size === 0) this.#holders.delete(holder.client)
  }
}

function firstIdle(members: Iterable<Member>): Member | undefined {
  for (const member of members) if (member.isIdle?.() !== false) return member
  return undefined
}
