import type { Socket } from 'node:net'
import { createSystemClock } from '@quorumscan/base'
import type { Attack } from './attack.ts'
import { first, open, upgrade } from './wire.ts'

const clock = createSystemClock()
/** The limits of the server. */
const SHARE = 512
const CONNECTIONS_MAX = 8192
const STREAM_SHARE = 64
const STREAMS_MAX = 1024
/** The limit of 10 s, which the server checks every second, plus 2 s for a busy machine. */
const LATE_MS = 13_000

const probe = 'GET /livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
const stream = upgrade('/v0/scan-proxy/activities')

/** Clients that connect first cannot keep others out, although an open connection costs them nothing. */
export const connectionExhaustion: Attack = {
  name: 'connection-exhaustion',
  claim:
    'From some addresses a client opens all connections and public streams that a process accepts, sends half a ' +
    'request line or nothing more, and never closes its side. No address holds more than a sixteenth, newcomers and probes ' +
    'are answered at once, and a connection without a complete header after 10 s is closed.',
  async run({ cluster }) {
    const url = cluster.urls.validator
    const addresses = Array.from(
      { length: CONNECTIONS_MAX / SHARE + 1 },
      (_, index) => `127.0.0.${index + 2}`,
    )
    const figures: Record<string, number | string> = {}
    const sockets: Socket[] = []
    try {
      const openedMs = clock.monotonicMs()
      const [late] = await holdConnections(url, sockets, '127.0.0.99', 1)
      let heldByMost = 0
      for (const address of addresses) {
        const connections = await holdConnections(url, sockets, address, SHARE + 88)
        const accepted = await answering(connections, 'TP/1.1\r\nhost: a\r\n\r\n')
        // A connection that the server closed in favour of a later one does not answer again.
        const held = await answering(accepted, 'GET /livez HTTP/1.1\r\nhost: a\r\n\r\n')
        heldByMost = Math.max(heldByMost, held.length)
      }
      figures['connections of an address, at most'] = `${heldByMost} (${SHARE})`
      const startedMs = clock.monotonicMs()
      // Five of them use an address of the attacker.
      const newcomers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          isAnswered(url, sockets, probe, '200', index < 5 ? addresses[0] : undefined),
        ),
      )
      const served = newcomers.filter(Boolean).length
      figures['newcomers served'] = `${served} of ${newcomers.length}`
      figures['in ms'] = Math.round(clock.monotonicMs() - startedMs)
      let holds = heldByMost <= SHARE && served === newcomers.length
      if (late !== undefined) {
        await first(late)
        const lateMs = clock.monotonicMs() - openedMs
        figures['half a request line lasts, ms'] = `${Math.round(lateMs)} (${LATE_MS})`
        holds &&= lateMs <= LATE_MS
      }
      for (const socket of sockets) socket.destroy()

      const count = Math.ceil(STREAMS_MAX / addresses.length) + STREAM_SHARE
      let streamsOfMost = 0
      for (const address of addresses) {
        const streams = await Promise.all(
          Array.from({ length: count }, () => isAnswered(url, sockets, stream, '101', address)),
        )
        streamsOfMost = Math.max(streamsOfMost, streams.filter(Boolean).length)
      }
      const isStreaming = await isAnswered(url, sockets, stream, '101')
      figures['streams of an address, at most'] = `${streamsOfMost} (${STREAM_SHARE})`
      figures['newcomer gets a stream'] = isStreaming ? 'yes' : 'no'
      return { holds: holds && streamsOfMost <= STREAM_SHARE && isStreaming, figures }
    } finally {
      for (const socket of sockets) socket.destroy()
    }
  },
}

/** Opens connections that send half a request line and end only when the server closes them. */
async function holdConnections(url: string, sockets: Socket[], address: string, count: number) {
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = open(url, address)
      sockets.push(socket)
      socket.resume()
      await first(socket, 'connect')
      socket.write('GET /livez HT')
      return socket
    }),
  )
}

/** Sends a request on each connection, and returns those that answer it. They stay open. */
async function answering(connections: readonly Socket[], request: string): Promise<Socket[]> {
  const answers = connections.map((socket) => first(socket, 'data'))
  for (const socket of connections) socket.write(request)
  const texts = await Promise.all(answers)
  return connections.filter((_, index) => texts[index]?.startsWith('HTTP/1.1 200'))
}

/** Whether the first answer on a new connection has this status. The connection stays open. */
async function isAnswered(
  url: string,
  sockets: Socket[],
  request: string,
  status: string,
  address?: string,
): Promise<boolean> {
  const socket = open(url, address)
  sockets.push(socket)
  socket.write(request)
  return (await first(socket, 'data')).startsWith(`HTTP/1.1 ${status}`)
}
