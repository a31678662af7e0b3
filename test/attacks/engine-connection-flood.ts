/** Idle connections to the ports of the engines. */
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { createEntries, openSynchronizers } from '../support/synchronizers.ts'
import type { Attack } from './attack.ts'
import { open } from './wire.ts'

/** An address that no member has. */
const ATTACKER = '127.0.0.66'
/** Connections to each engine. */
const CONNECTIONS = 400
const RESTARTED = ['sv-1', 'sv-2', 'sv-3']
/** Engines reconnect in 5 to 7 s, with the pauses between dials. One that the flood keeps out never reconnects. */
const BACK_MS_MAX = 120_000
/** Pause between the end of a connection and the next one. */
const REOPEN_MS = 20
const POLL_MS = 500

const clock = createSystemClock()

export const engineConnectionFlood: Attack = {
  name: 'engine-connection-flood',
  ordering: 'cometbft',
  claim:
    'From one address, without any key, an attacker keeps 400 connections to each engine open and sends nothing. ' +
    'Engines that restart meanwhile connect to the others, and entries are ordered within 2 minutes.',
  async run({ cluster }) {
    const members = await cluster.status().then(({ members }) => members.map(({ name }) => name))
    const addresses = await engineAddresses(cluster.dataDir, members)
    const stopping = new AbortController()
    const sockets = new Set<Socket>()
    /** Opens a connection, and a new one whenever it is closed. */
    const hold = (url: string) => {
      if (stopping.signal.aborted) return
      const socket = open(url, ATTACKER).resume()
      sockets.add(socket)
      socket.once('close', () => {
        sockets.delete(socket)
        void clock.delay(REOPEN_MS).then(() => hold(url))
      })
    }
    for (const url of addresses) for (let count = 0; count < CONNECTIONS; count++) hold(url)
    const membersOf = async () =>
      (await cluster.status()).members.map(({ ordering }) => ({
        connected: ordering?.connected.length ?? 0,
      }))
    try {
      await clock.delay(2_000)
      const held = sockets.size
      for (const node of RESTARTED) {
        await cluster.kill(node, { part: 'cometbft' })
        await cluster.heal(node)
      }
      const startedMs = clock.monotonicMs()
      const isBack = await holdsInTime(async () =>
        (await membersOf()).every(({ connected }) => connected === members.length - 1),
      )
      const backMs = clock.monotonicMs() - startedMs
      const [first] = await openSynchronizers(cluster)
      const nextEntry = await createEntries(cluster)
      const order = async () => (await first?.order(nextEntry())) === true
      const isOrdered = await Promise.race([order(), clock.delay(BACK_MS_MAX).then(() => false)])
      const connected = await membersOf()
      return {
        holds: isBack && isOrdered,
        figures: {
          'connections held': held,
          [`all connected again after, ms (at most ${BACK_MS_MAX})`]: isBack
            ? Math.round(backMs)
            : 'never',
          'members that each is connected to': connected.map((one) => one.connected).join(', '),
          'an entry is ordered': isOrdered ? 'yes' : 'no',
        },
      }
    } finally {
      stopping.abort()
      for (const socket of sockets) socket.destroy()
    }
  },
}

/** Whether the condition holds within BACK_MS_MAX. */
async function holdsInTime(condition: () => Promise<boolean>): Promise<boolean> {
  const endMs = clock.monotonicMs() + BACK_MS_MAX
  while (clock.monotonicMs() < endMs) {
    if (await condition()) return true
    await clock.delay(POLL_MS)
  }
  return false
}

/** First engine port relative to the base port, as in the cluster's `ports.ts`. */
const FIRST_ENGINE_PORT = 37

async function engineAddresses(
  dataDir: string,
  members: readonly string[],
): Promise<readonly string[]> {
  const { basePort } = JSON.parse(await readFile(join(dataDir, 'cluster.json'), 'utf8'))
  return members.map((_, index) => `tcp://127.0.0.1:${basePort + FIRST_ENGINE_PORT + index}`)
}
