/**
 * A flood of requests against a node, by outsiders: many connections from several addresses, each of which sends more than
 * its budget. The node is honest, and must still answer others.
 */
import { connect, type Socket } from 'node:net'
import { createSystemClock, held } from '@quorumscan/base'
import { repeat } from '@quorumscan/runtime'
import { STRANGE_ADDRESSES } from './strangers.ts'

/** Of each flood. */
const CONNECTIONS = 32
const TICK_MS = 50
/** A connection that has sent so many requests is left open and silent, and a new one takes its place. */
const REQUESTS_PER_CONNECTION = 200
/** Where several addresses of this machine exist: each pays for its own connections. */
const ADDRESSES = 8

/** Running floods by the address of the node. */
const running = held(
  { owner: 'cluster', name: 'floods', kind: 'work', bound: 'one of each target' },
  new Map<string, { readonly stop: () => void }>(),
)

/** Replaces an earlier flood of the node. @param url - `http://host:port`. */
export function startFlood(url: string, requestsPerSecond: number): void {
  stopFlood(url)
  const { hostname: host, port } = new URL(url)
  const slots: { socket: Socket; sentCount: number }[] = []
  let count = 0
  const open = (index: number) => {
    const localAddress = STRANGE_ADDRESSES?.[1 + (index % ADDRESSES)]
    const socket = connect({ host, port: Number(port), ...(localAddress && { localAddress }) })
    socket.unref()
    // The node may refuse it, or close it. Its answers are not read to their ends.
    socket.on('error', () => {}).resume()
    return { socket, sentCount: 0 }
  }
  const batch = (size: number) => {
    let text = ''
    for (let index = 0; index < size; index++) {
      // Each asks for another name, so that no answer is stored.
      const path = `/v0/ans-entries/by-name/flood-${count++}.unverified.ns`
      text += `GET ${path} HTTP/1.1\r\nhost: flood\r\n\r\n`
    }
    return text
  }
  const perTick = (requestsPerSecond * TICK_MS) / 1000
  let due = 0
  let turn = 0
  const tick = () => {
    due += perTick
    for (; due >= 1; turn++) {
      const size = Math.min(Math.ceil(perTick / CONNECTIONS), Math.floor(due))
      due -= size
      const index = turn % CONNECTIONS
      const slot = slots[index]
      if (slot === undefined || slot.socket.destroyed || slot.sentCount > REQUESTS_PER_CONNECTION) {
        slot?.socket.destroy()
        slots[index] = open(index)
      }
      const { socket } = slots[index] as (typeof slots)[number]
      // A node that does not read gets no more.
      if (socket.writableNeedDrain) continue
      socket.write(batch(size))
      ;(slots[index] as (typeof slots)[number]).sentCount += size
    }
  }
  const ticking = repeat(tick, { clock: createSystemClock(), everyMs: TICK_MS, onError: () => {} })
  running.set(url, {
    stop() {
      void ticking[Symbol.asyncDispose]()
      for (const slot of slots) slot?.socket.destroy()
    },
  })
}

/** Nothing happens if none runs. */
export function stopFlood(url: string): void {
  running.get(url)?.stop()
  running.delete(url)
}

export function isFlooded(url: string): boolean {
  return running.has(url)
}
