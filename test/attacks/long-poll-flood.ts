import type { Socket } from 'node:net'
import { createSystemClock } from '@quorumscan/base'
import { untilTrue } from '@quorumscan/testkit'
import type { Attack } from './attack.ts'
import { first, open } from './wire.ts'

const ADDRESSES = 8
/** The server's limit of connections of an address. */
const CONNECTIONS = 512
/** The server's limit of concurrent polls of an address. */
const POLLS_OF_ADDRESS_MAX = 64
const LOOKUPS = 200
const clock = createSystemClock()

const poll = `GET /v0/state-statements?after=${Number.MAX_SAFE_INTEGER} HTTP/1.1\r\nhost: a\r\n\r\n`
const lookup = 'GET /v0/ans-entries/by-name/dso.ns HTTP/1.1\r\nhost: a\r\n\r\n'

/** Waiting polls do not slow other requests. */
export const longPollFlood: Attack = {
  name: 'long-poll-flood',
  claim:
    `From ${ADDRESSES} addresses, an anonymous client polls an idle node for statements that never arrive, on all ` +
    `connections that these addresses may have. Each has at most ${POLLS_OF_ADDRESS_MAX} waiting polls, and ${LOOKUPS} lookups ` +
    'from another address, one after the other, are all answered with 200.',
  async run({ cluster }) {
    const url = cluster.urls.nodes['sv-1'] ?? ''
    const sockets: Socket[] = []
    const endedByAddress = new Map<string, number>()
    try {
      const connected: Promise<string>[] = []
      for (let index = 0; index < ADDRESSES * CONNECTIONS; index++) {
        const address = `127.0.2.${1 + (index % ADDRESSES)}`
        const socket = open(url, address)
        sockets.push(socket)
        connected.push(first(socket, 'connect'))
        socket.once('data', () => {
          endedByAddress.set(address, (endedByAddress.get(address) ?? 0) + 1)
        })
      }
      await Promise.all(connected)
      for (const socket of sockets) socket.write(poll)
      const ended = () =>
        Math.min(
          ...Array.from(
            { length: ADDRESSES },
            (_, index) => endedByAddress.get(`127.0.2.${1 + index}`) ?? 0,
          ),
        )
      // Clients take turns, so the answer to another one would not show that all polls have started.
      await untilTrue(
        'the polls beyond the limit to end',
        () => ended() >= CONNECTIONS - POLLS_OF_ADDRESS_MAX,
      )
      const startedMs = clock.monotonicMs()
      const { served, refusal } = await lookUpInSequence(url, sockets)
      const ms = clock.monotonicMs() - startedMs
      const waiting = CONNECTIONS - ended()
      return {
        holds: served === LOOKUPS && waiting <= POLLS_OF_ADDRESS_MAX,
        figures: {
          'lookups that were answered': `${served} of ${LOOKUPS}`,
          'instead of an answer': refusal,
          'lookups/s': Math.round((1000 * served) / ms),
          [`polls of an address that wait, at most (${POLLS_OF_ADDRESS_MAX})`]: waiting,
        },
      }
    } finally {
      for (const socket of sockets) socket.destroy()
    }
  },
}

/** Lookups on one connection, until one is not answered with 200. */
async function lookUpInSequence(
  url: string,
  sockets: Socket[],
): Promise<{ readonly served: number; readonly refusal: string }> {
  const socket = open(url)
  sockets.push(socket)
  return new Promise((resolve) => {
    let served = 0
    const end = (refusal: string) => resolve({ served, refusal })
    socket.on('close', () => end('the connection was closed'))
    socket.on('data', (bytes) => {
      const [status = ''] = bytes.toString('latin1').split('\r\n', 1)
      if (!status.startsWith('HTTP/1.1 200 ')) return end(status)
      served++
      if (served === LOOKUPS) end('none')
      else socket.write(lookup)
    })
    socket.write(lookup)
  })
}
