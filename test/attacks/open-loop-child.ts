/**
 * An open-loop load generator: it sends GETs at a fixed rate, regardless of the answers. It writes bytes to sockets, so
 * that a request costs far less to send than to answer or refuse.
 */
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { createSystemClock, median } from '@quorumscan/base'
import { answer, childArgument } from '../support/child.ts'
import type { OpenLoop, OpenLoopArgument } from './open-loop.ts'
import { first, open } from './wire.ts'

const TICK_MS = 5
/** Warm-up time, relative to the measured time. Connections open, code is compiled and queues fill. */
const WARM_UP = 0.4
const END_OF_HEAD = '\r\n\r\n'
/** Linux reports processor time in hundredths of a second on every machine. */
const TICKS_PER_SECOND = 100

const { url, path, addresses, connections, perSecond, ms, patienceMs, pid } =
  childArgument<OpenLoopArgument>()
const clock = createSystemClock()
const request = Buffer.from(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
const probe = 'GET /livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
const counts = { good: 0, refused: 0, late: 0, bad: 0, due: 0, unsent: 0 }
let answerCount = 0
const times: number[] = []
let bad = ''
let start = Number.POSITIVE_INFINITY
let end = Number.POSITIVE_INFINITY

class ClientConnection {
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

  /** Sends a request. Returns false if one is in flight. */
  sendRequest(): boolean {
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
      this.#onAnswer(rest.slice(0, headEnd))
      rest = rest.slice(bodyEnd)
    }
    this.#rest = rest
  }

  #onAnswer(head: string): void {
    answerCount++
    const tookMs = clock.monotonicMs() - (this.#sentAtMs ?? Number.NaN)
    this.#sentAtMs = null
    const status = head.slice(9, 12)
    if (status === '200') {
      record(tookMs <= patienceMs ? 'good' : 'late')
      times.push(tookMs)
    } else if (/^(429|503)$/.test(status) && /\r\nretry-after: [1-9]/i.test(head)) record('refused')
    else record('bad', head)
    if (perSecond === null && clock.monotonicMs() < end) this.sendRequest()
  }
}

function record(what: keyof typeof counts, text = ''): void {
  const nowMs = clock.monotonicMs()
  if (nowMs < start || nowMs >= end) return
  counts[what]++
  if (what === 'bad') bad = text
}

/** Opens new connections one after the other. Returns how many answers others got while each waited for its own. */
async function measureNewcomers(): Promise<readonly number[]> {
  const othersAnswered: number[] = []
  while (clock.monotonicMs() < end) {
    const answersBefore = answerCount
    const socket = open(url)
    socket.write(probe)
    await first(socket, 'data')
    socket.destroy()
    if (clock.monotonicMs() >= start) othersAnswered.push(answerCount - answersBefore)
  }
  return othersAnswered
}

/** Processor time of the server since its start, s. */
function cpuSeconds(): number {
  // The process name, which may contain any character, is in brackets.
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')
  const [utime, stime] = rest.split(' ').slice(11, 13).map(Number)
  return (Number(utime) + Number(stime)) / TICKS_PER_SECOND
}

const clients = await Promise.all(
  Array.from(
    { length: connections },
    (_, index) =>
      new Promise<ClientConnection>((resolve, reject) => {
        const socket = open(url, addresses[index % addresses.length])
        socket.once('connect', () => resolve(new ClientConnection(socket)))
        socket.once('close', () => reject(new Error(`connection ${index} was refused`)))
      }),
  ),
)
const beginMs = clock.monotonicMs()
start = beginMs + WARM_UP * ms
end = start + ms
if (perSecond === null) for (const client of clients) client.sendRequest()
const newcomers = measureNewcomers()
let dueCount = 0
let cpuAtStart: number | null = null
while (clock.monotonicMs() < end) {
  const due = perSecond === null ? 0 : ((clock.monotonicMs() - beginMs) * perSecond) / 1000
  for (; dueCount < due; dueCount++) {
    record('due')
    if (clients[dueCount % clients.length]?.sendRequest() === false) record('unsent')
  }
  await clock.delay(TICK_MS)
  if (clock.monotonicMs() >= start) cpuAtStart ??= cpuSeconds()
}
const cpuSpent = cpuSeconds() - (cpuAtStart ?? Number.NaN)
const othersAnswered = await newcomers
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
  beforeNewcomer: median(othersAnswered),
  p99Ms: times[Math.floor(times.length * 0.99)] ?? Number.NaN,
} satisfies OpenLoop)
process.exit()
