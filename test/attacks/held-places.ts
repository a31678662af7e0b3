import type { Socket } from 'node:net'
import { createSystemClock } from '@quorumscan/base'
import { until } from '@quorumscan/testkit'
import type { Attack } from './attack.ts'
import { exchange, first, open } from './wire.ts'

const clock = createSystemClock()
/** As the limits of the server have them. */
const SHARE = 512
const CONNECTIONS_MAX = 8192
const STREAM_SHARE = 64
const STREAMS_MAX = 1024
/** Beyond the limit of 10 s: the server looks every second, and this machine may be busy. */
const LATE_MS = 13_000

const probe = 'GET /livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
const upgrade =
  'GET /v0/scan-proxy/activities HTTP/1.1\r\nhost: a\r\nupgrade: websocket\r\n' +
  'connection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'

/** Whoever is there first does not keep everybody else out, however little it costs to be there. */
export const heldPlaces: Attack = {
  name: 'held-places',
  claim:
    'From some addresses anybody opens all connections and public streams that a process takes, sends nothing ' +
    'or half a request line, and never closes its side. No address holds more than a sixteenth, a newcomer is ' +
    'answered at once, probes too, and a header that has not come in 10 s ends its connection.',
  async run({ cluster, isLong }) {
    const url = cluster.urls.validator
    const addresses = Array.from(
      { length: isLong ? CONNECTIONS_MAX / SHARE + 1 : 3 },
      (_, index) => `127.0.0.${index + 2}`,
    )
    const figures: Record<string, number | string> = {}
    const sockets: Socket[] = []
    try {
      const late = open(url, '127.0.0.99')
      sockets.push(late)
      await first(late, 'connect')
      const openedMs = clock.monotonicMs()
      // The server's close is all that ends it: our side stays open.
      late.write('GET /livez HT')
      const heldByMost: number[] = []
      for (const address of addresses) {
        const ofAddress = await openMany(url, address, SHARE + 88)
        sockets.push(...ofAddress)
        // Each has written half a request line: the server notices who must go.
        await until('the address to be down to its share', async () =>
          ofAddress.filter((socket) => !socket.destroyed).length <= SHARE ? true : undefined,
        )
        heldByMost.push(ofAddress.filter((socket) => !socket.destroyed).length)
      }
      figures['connections of an address, at most'] = `${Math.max(...heldByMost)} (${SHARE})`
      const startedMs = clock.monotonicMs()
      const newcomers = await Promise.all(Array.from({ length: 20 }, () => exchange(url, probe)))
      const served = newcomers.filter(({ status }) => status === 200).length
      figures['newcomers served'] = `${served} of ${newcomers.length}`
      figures['in ms'] = Math.round(clock.monotonicMs() - startedMs)
      await first(late)
      const lateMs = clock.monotonicMs() - openedMs
      figures['half a request line lasts, ms'] = `${Math.round(lateMs)} (${LATE_MS})`
      for (const socket of sockets) socket.destroy()

      const streams = await holdStreams(url, addresses, isLong)
      figures['streams of an address, at most'] = `${streams.heldByMost} (${STREAM_SHARE})`
      figures['newcomer gets a stream'] = streams.isNewcomerServed ? 'yes' : 'no'
      return {
        holds:
          Math.max(...heldByMost) <= SHARE &&
          served === newcomers.length &&
          lateMs <= LATE_MS &&
          streams.heldByMost <= STREAM_SHARE &&
          streams.isNewcomerServed,
        figures,
      }
    } finally {
      for (const socket of sockets) socket.destroy()
    }
  },
}

/** Connections with half a request line. */
async function openMany(url: string, address: string, count: number): Promise<Socket[]> {
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = open(url, address)
      socket.resume()
      await first(socket, 'connect')
      socket.write('GET /livez HT')
      return socket
    }),
  )
}

async function holdStreams(url: string, addresses: readonly string[], isLong: boolean) {
  const sockets: Socket[] = []
  try {
    let heldByMost = 0
    const count = isLong
      ? Math.ceil(STREAMS_MAX / addresses.length) + STREAM_SHARE
      : STREAM_SHARE + 16
    for (const address of addresses) {
      const answers = await Promise.all(
        Array.from({ length: count }, () => openStream(url, sockets, address)),
      )
      heldByMost = Math.max(heldByMost, answers.filter((isOpen) => isOpen).length)
    }
    return { heldByMost, isNewcomerServed: await openStream(url, sockets) }
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

async function openStream(url: string, sockets: Socket[], address?: string): Promise<boolean> {
  const socket = open(url, address)
  sockets.push(socket)
  socket.write(upgrade)
  return (await first(socket, 'data')).startsWith('HTTP/1.1 101')
}
