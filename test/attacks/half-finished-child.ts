/** The client of `half-finished.ts`, with file descriptors of its own and on the machine of the server. */
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { createSystemClock } from '@quorumscan/base'
import { beginHalfFinished, type HeldExchanges } from '@quorumscan/testkit'
import { again, childArgument } from '../support/child.ts'
import { heapBytesOf } from '../support/heap.ts'
import type { HalfFinishedArgument, HalfFinishedResult } from './half-finished.ts'
import { first } from './wire.ts'

const POLL_MS = 1000

const clock = createSystemClock()
let held: HeldExchanges | null = null

await again(childArgument<HalfFinishedArgument>(), act)

async function act({ target, caFile, step }: HalfFinishedArgument): Promise<HalfFinishedResult> {
  if ('collectIn' in step) return { heapBytes: await heapBytesOf(step.collectIn) }
  const { port, address = '127.0.0.1', getPath, host = 'a' } = target
  if ('begin' in step) {
    held?.[Symbol.dispose]()
    const secure = caFile === null ? null : securedBy(caFile, address)
    held = await beginHalfFinished({ ...target, ...(secure && { secure }) }, step.begin)
    const plain = connect({ host: address, port })
    const socket = secure?.(plain) ?? plain
    socket.on('error', () => {}) // 'close' follows.
    socket.write(`GET ${getPath} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
    const status = Number((await first(socket, 'data')).split(' ')[1])
    plain.destroy()
    return { held: serverSockets(port, held.ends), status }
  }
  const startedMs = clock.monotonicMs()
  for (;;) {
    const ms = clock.monotonicMs() - startedMs
    const left = serverSockets(port, held?.ends ?? new Set())
    if (left === 0 || ms >= step.untilEndedMsMax) return { held: left, ms }
    await clock.delay(POLL_MS)
  }
}

function securedBy(caFile: string, host: string): (socket: Socket) => Socket {
  const ca = readFileSync(caFile)
  return (socket) => connectTls({ socket, ca, host })
}

/**
 * Sockets of this port that a process has for these clients. Linux lists them with an inode, and those that the process
 * has closed without.
 */
function serverSockets(port: number, ends: ReadonlySet<string>): number {
  let count = 0
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6'])
    for (const line of readFileSync(table, 'utf8').trim().split('\n').slice(1)) {
      const [, local = '', remote = '', , , , , , , inode] = line.trim().split(/ +/)
      const isOurs = portOf(local) === port && ends.has(`${ipv4Of(remote)}:${portOf(remote)}`)
      if (isOurs && inode !== '0') count++
    }
  return count
}

function portOf(end: string): number {
  return Number.parseInt(end.split(':')[1] ?? '', 16)
}

/** The last four bytes of the address, which the system writes in its own order. */
function ipv4Of(end: string): string {
  const [address = ''] = end.split(':')
  return Buffer.from(address.slice(-8), 'hex').reverse().join('.')
}
