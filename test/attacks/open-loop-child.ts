/**
 * A crowd: GETs that are due at a rate, whatever comes back, as bytes on bare sockets, so that to ask costs a
 * small part of what it costs to answer or refuse.
 */
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { createSystemClock } from '@quorumscan/base'
import { answer, childArgument } from '../bench/child.ts'
import { median } from '../bench/report.ts'
import type { OpenLoop, OpenLoopArgument } from './open-loop.ts'
import { first, open } from './wire.ts'

const TICK_MS = 5
/** Before anything is counted: connections open, code is compiled, queues fill. */
const WARM_UP = 0.4
const END_OF_HEAD = '\r\n\r\n'
/** Linux counts processor time in hundredths of a second, whatever the machine. */
const TICKS_PER_SECOND = 100

const { url, path, addresses, connections, perSecond, ms, patienceMs, pid } =
  childArgument<OpenLoopArgument>()
const clock = createSystemClock()
const request = Buffer.from(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
const probe = 'GET /livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
const counts = { good: 0, refused: 0, late: 0, bad: 0, due: 0, unsent: 0 }
let heardCount = 0
const times: number[] = []
let bad = ''
let start = Number.POSITIVE_INFINITY
let end = Number.POSITIVE_INFINITY

class Asker {
  readonly #socket: Socket
  #sentAtMs: number | null = null
  #rest = ''

  constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay()
    socket.on('data', (bytes) => this.#read(bytes.toString('latin1')))
    socket.on('close', () => {
      counts.bad++
      bad = 'the connection ended'
    })
  }

  /** False if one is under way. */
  ask(): boolean {
    if (this.#sentAtMs !== null) return false
    this.#sentAtMs = clock.monotonicMs()
    this.#socket.write(request)
    return true
  }

  #read(text: string): void {
    let rest = this.#rest + text
    for (;;) {
      const headEnd = rest.indexOf(END_OF_HEAD)
      if (headEnd < 0) break
      const length = Number(/content-length: ([0-9]+)/i.exec(rest)?.[1])
      const bodyEnd = headEnd + END_OF_HEAD.length + length
      if (Number.isNaN(length)) throw new Error(`no length: ${rest.slice(0, headEnd)}`)
      if (rest.length < bodyEnd) break
      this.#hear(rest.slice(0, headEnd))
      rest = rest.slice(bodyEnd)
    }
    this.#rest = rest
  }

  #hear(head: string): void {
    heardCount++
    const tookMs = clock.monotonicMs() - (this.#sentAtMs ?? Number.NaN)
    this.#sentAtMs = null
    const status = head.slice(9, 12)
    if (status === '200') {
      note(tookMs <= patienceMs ? 'good' : 'late')
      times.push(tookMs)
    } else if (/^(429|503)$/.test(status) && /\r\nretry-after: [1-9]/i.test(head)) note('refused')
    else note('bad', head)
    if (perSecond === null && clock.monotonicMs() < end) this.ask()
  }
}

function note(what: keyof typeof counts, text = ''): void {
  const nowMs = clock.monotonicMs()
  if (nowMs < start || nowMs >= end) return
  counts[what]++
  if (what === 'bad') bad = text
}

/** How many of the crowd were answered while each newcomer, one after the other, waited for an answer. */
async function comeAnew(): Promise<readonly number[]> {
  const before: number[] = []
  while (clock.monotonicMs() < end) {
    const heardBefore = heardCount
    const socket = open(url)
    socket.write(probe)
    await first(socket, 'data')
    socket.destroy()
    if (clock.monotonicMs() >= start) before.push(heardCount - heardBefore)
  }
  return before
}

/** Of the process that is asked, since it began. */
function cpuSeconds(): number {
  // The name, which may hold anything, is in brackets.
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')
  const [utime, stime] = rest.split(' ').slice(11, 13).map(Number)
  return (Number(utime) + Number(stime)) / TICKS_PER_SECOND
}

const askers = await Promise.all(
  Array.from(
    { length: connections },
    (_, index) =>
      new Promise<Asker>((resolve, reject) => {
        const socket = open(url, addresses[index % addresses.length])
        socket.once('connect', () => resolve(new Asker(socket)))
        socket.once('close', () => reject(new Error(`connection ${index} was refused`)))
      }),
  ),
)
const beginMs = clock.monotonicMs()
start = beginMs + WARM_UP * ms
end = start + ms
if (perSecond === null) for (const asker of askers) asker.ask()
const newcomers = comeAnew()
let dueCount = 0
let cpuAtStart: number | null = null
while (clock.monotonicMs() < end) {
  const due = perSecond === null ? 0 : ((clock.monotonicMs() - beginMs) * perSecond) / 1000
  for (; dueCount < due; dueCount++) {
    note('due')
    if (askers[dueCount % askers.length]?.ask() === false) note('unsent')
  }
  await clock.delay(TICK_MS)
  if (clock.monotonicMs() >= start) cpuAtStart ??= cpuSeconds()
}
const cpuSpent = cpuSeconds() - (cpuAtStart ?? Number.NaN)
const before = await newcomers
times.sort((a, b) => a - b)
const rate = (count: number) => (count * 1000) / ms
answer({
  goodPerSecond: rate(counts.good),
  goodPerCpuSecond: counts.good / cpuSpent,
  refusedPerSecond: rate(counts.refused),
  duePerSecond: rate(counts.due),
  unsentPerSecond: rate(counts.unsent),
  lateCount: counts.late,
  badCount: counts.bad,
  bad,
  beforeNewcomer: median(before),
  p99Ms: times[Math.floor(times.length * 0.99)] ?? Number.NaN,
} satisfies OpenLoop)
process.exit()
