/**
 * Who holds how many of the places there are, and who gives one up when they run short: the longest idle one
 * of whoever holds most, so that nobody keeps everybody else out by having been there first.
 */
import { clientKey, networkKey } from './client-key.ts'

export type PlaceLimits = {
  readonly max: number
  /** Of one client: an IPv4 address, or the /64 of an IPv6 address. */
  readonly perClientMax: number
  /** Of one network: an IPv4 address, or the /48 of an IPv6 address, which has 65 536 clients. */
  readonly perNetworkMax: number
  /** Guests are in use for as long as they stay: one of them goes only for somebody who holds fewer. */
  readonly areInUse: boolean
  /** Whose guests are of many clients: they are no holder, and make room for nobody. */
  readonly isProxy?: (address: string | undefined) => boolean
}

/** What takes a place. */
export type Guest = {
  /** Whether nothing that we are at is lost if it has to go. */
  isIdle(): boolean
  /** Goes, for somebody else. */
  leave(): void
}

export type Place = {
  /** It has just been made use of: others are idle for longer. */
  touch(): void
  /** May be called again. */
  release(): void
}

type Holder = {
  readonly client: string
  readonly network: string
  /** The longest idle one first. */
  readonly guests: Set<Guest>
}

export class Places {
  readonly #limits: PlaceLimits
  readonly #holders = new Map<string, Holder>()
  readonly #countByNetwork = new Map<string, number>()
  #count = 0

  constructor(limits: PlaceLimits) {
    this.#limits = limits
  }

  /** A place for the guest, whose address is that of its socket; null if all it could have are held by the busy. */
  take(address: string | undefined, guest: Guest): Place | null {
    const { max, perClientMax, perNetworkMax } = this.#limits
    if (this.#limits.isProxy?.(address)) return this.#takeForMany()
    const [client, network] = [clientKey(address), networkKey(address)]
    const ofClient = this.#holders.get(client)?.guests.size ?? 0
    const ofNetwork = this.#countByNetwork.get(network) ?? 0
    const sizeMin = this.#limits.areInUse ? ofClient + 2 : 1
    const isFree =
      ofClient >= perClientMax
        ? this.#free(sizeMin, (holder) => holder.client === client)
        : ofNetwork >= perNetworkMax
          ? this.#free(sizeMin, (holder) => holder.network === network)
          : this.#count < max || this.#free(sizeMin, () => true)
    if (!isFree) return null
    const holder = this.#holders.get(client) ?? { client, network, guests: new Set() }
    this.#holders.set(client, holder)
    this.#enter(holder, guest)
    return {
      touch() {
        if (holder.guests.delete(guest)) holder.guests.add(guest)
      },
      release: () => this.#leave(holder, guest),
    }
  }

  #takeForMany(): Place | null {
    if (this.#count >= this.#limits.max && !this.#free(1, () => true)) return null
    this.#count++
    let isHeld = true
    return {
      touch() {},
      release: () => {
        if (isHeld) this.#count--
        isHeld = false
      },
    }
  }

  /** Has the longest idle guest leave of the largest of these holders that has one; false if none has. */
  #free(sizeMin: number, isAmong: (holder: Holder) => boolean): boolean {
    let largest: Holder | undefined
    let idle: Guest | undefined
    for (const holder of this.#holders.values()) {
      const { size } = holder.guests
      if (!isAmong(holder) || size < sizeMin || size <= (largest?.guests.size ?? 0)) continue
      const longest = first(holder.guests, (guest) => guest.isIdle())
      if (longest === undefined) continue
      largest = holder
      idle = longest
    }
    if (largest === undefined || idle === undefined) return false
    this.#leave(largest, idle)
    idle.leave()
    return true
  }

  #enter(holder: Holder, guest: Guest): void {
    holder.guests.add(guest)
    this.#count++
    this.#countByNetwork.set(holder.network, (this.#countByNetwork.get(holder.network) ?? 0) + 1)
  }

  #leave(holder: Holder, guest: Guest): void {
    if (!holder.guests.delete(guest)) return
    if (holder.guests.size === 0) this.#holders.delete(holder.client)
    this.#count--
    const left = (this.#countByNetwork.get(holder.network) ?? 1) - 1
    if (left === 0) this.#countByNetwork.delete(holder.network)
    else this.#countByNetwork.set(holder.network, left)
  }
}

function first<T>(items: Iterable<T>, matches: (item: T) => boolean): T | undefined {
  for (const item of items) if (matches(item)) return item
  return undefined
}
