import type { Socket } from 'node:net'
import { createSystemClock } from '@quorumscan/base'
import type { Attack } from './attack.ts'
import { inMib, MIB, spentOn } from './process.ts'
import { exchange, first, frame, open, TEXT_FRAME, upgrade } from './wire.ts'

const clock = createSystemClock()
/** A flood costs 2 to 26 ms. Without a limit of frames or fragments it would cost 440 or 970 ms. */
const CPU_MS_MAX = 250
/** Few, so that a flood that is not cut off uses much of a processor. */
const AT_ONCE = 2
const STALL_MS_MAX = 200
const MEMORY_BYTES_MAX = 100 * MIB
/** Duration of a flood that is not cut off. */
const FLOOD_MS = 5_000
const PATH = '/v0/scan-proxy/activities'

const many = (bytes: Buffer, count: number) => Buffer.concat(Array<Buffer>(count).fill(bytes))

const [CONTINUATION, PING] = [0x0, 0x9]
type Flood = {
  /** Sent once. */
  readonly first?: Buffer
  /** Sent repeatedly. */
  readonly rest: Buffer
}

const floods: Readonly<Record<string, Flood>> = {
  'pings, without reading the answers': { rest: many(frame(PING, 'x'.repeat(120)), 10_000) },
  'empty frames': { rest: many(frame(TEXT_FRAME, ''), 10_000) },
  'a frame in empty fragments': {
    first: frame(TEXT_FRAME, '{', false),
    rest: many(frame(CONTINUATION, '', false), 10_000),
  },
  'a frame in fragments of a byte': {
    first: frame(TEXT_FRAME, '{', false),
    rest: many(frame(CONTINUATION, ' ', false), 10_000),
  },
  'frames that are too long': { rest: frame(TEXT_FRAME, 'x'.repeat(20_000)) },
  'bytes that are not frames': { rest: Buffer.alloc(60_000, 0xff) },
}

export const websocketFloods: Attack = {
  name: 'websocket-floods',
  claim:
    'Any client may open a public stream and send an endless sequence of pings, empty frames, frames in tiny or empty ' +
    'fragments, too long frames, or bytes that are not frames. The connection is cut off, each costs at most ' +
    '250 ms of CPU, no other client waits 200 ms, and the next client is served.',
  async run({ cluster }) {
    const url = cluster.urls.validator
    const rounds = 25
    const count = rounds * AT_ONCE
    const figures: Record<string, number | string> = {}
    let holds = true
    for (const [name, sent] of Object.entries(floods)) {
      let cutOff = 0
      const flood = async () => {
        for (let round = 0; round < rounds; round++) {
          const ends = await Promise.all(
            Array.from({ length: AT_ONCE }, () => sendUntilCutOff(url, sent)),
          )
          cutOff += ends.filter(Boolean).length
        }
      }
      await sendUntilCutOff(url, sent)
      const { cpuMs, stallMs, residentBytes } = await spentOn(url, flood)
      const each = Math.round((10 * cpuMs) / count) / 10
      if (each > CPU_MS_MAX || stallMs > STALL_MS_MAX || cutOff !== count) holds = false
      if (residentBytes > MEMORY_BYTES_MAX) holds = false
      figures[name] =
        `${each} ms of CPU, stall ${Math.round(stallMs)} ms, ${inMib(residentBytes)} MiB, ` +
        `${cutOff} of ${count} cut off`
    }
    const next = await exchange(url, 'GET /livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    return { holds: holds && next.status === 200, figures }
  },
}

/** Whether the server ends the connection during the flood. */
async function sendUntilCutOff(url: string, sent: Flood): Promise<boolean> {
  const socket = open(url)
  try {
    await first(socket, 'connect')
    socket.write(upgrade(PATH))
    await first(socket, 'data')
    socket.pause()
    if (sent.first !== undefined) socket.write(sent.first)
    const endMs = clock.monotonicMs() + FLOOD_MS
    while (clock.monotonicMs() < endMs && !socket.destroyed) await writeBytes(socket, sent.rest)
    return socket.destroyed
  } finally {
    socket.destroy()
  }
}

/** Resolves when the system has accepted the bytes, the connection is closed, or the peer does not read for 1 s. */
async function writeBytes(socket: Socket, bytes: Buffer): Promise<void> {
  const accepted = new AbortController()
  socket.write(bytes, () => accepted.abort())
  await clock.delay(1_000, accepted.signal).catch(() => {}) // Aborted: accepted or closed.
}
