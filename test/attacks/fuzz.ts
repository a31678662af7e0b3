import {
  ledgerRoutes,
  scanRoutes,
  socketRoutes,
  synchronizerRoutes,
  validatorRoutes,
} from '@quorumscan/api'
import { createSystemClock } from '@quorumscan/base'
import fc from 'fast-check'
import { isReachable } from '../support/routes/case.ts'
import { sendCase } from '../support/routes/send-case.ts'
import { createWorld } from '../support/routes/world.ts'
import { routeCases } from '../support/routes.ts'
import type { Attack, Target } from './attack.ts'
import { controlMessages, controlOf } from './fuzz-control.ts'
import { framesOf, type Message, messagesOf, type Route } from './fuzz-messages.ts'
import { inMib, MIB, spentOn } from './process.ts'
import { first, open } from './wire.ts'

const clock = createSystemClock()
const STALL_MS_MAX = 200
/** What a round may add to the memory of a process: its garbage, of which V8 keeps some 20 MiB, is no leak. */
const MEMORY_BYTES_MAX = 40 * MIB
const AT_ONCE = 8
/** Each has messages of every kind. After each, the memory of a process is read. */
const ROUNDS = 10
/** Share of the unchanged messages that must be answered. */
const ANSWERED_SHARE_MIN = 0.9

/** Sends a message, and returns what the server sends within its time. */
async function sendMessage(url: string, { parts, isEnded, waitMs }: Message): Promise<string> {
  const socket = open(url)
  const answered = new AbortController()
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1')
  })
  void first(socket, 'close').then(() => answered.abort())
  for (const part of parts) socket.write(part)
  if (isEnded) socket.end()
  await clock.delay(waitMs, answered.signal).catch(() => {}) // Aborted: the answer is complete.
  socket.destroy()
  return text
}

/** Returns null if the answer is allowed. */
function faultOf(answer: string, codes: readonly string[]): string | null {
  const status = Number(/^HTTP\/1\.1 ([0-9]{3}) /.exec(answer)?.[1] ?? 0)
  // An internal error in the form of any interface, also within a frame or a batch.
  const isInternalError =
    /"code":"INTERNAL(_SERVER_ERROR)?"|"grpcCodeValue":13|LEDGER_API_INTERNAL_ERROR/.test(answer)
  const code = /"code":"([A-Z_]+)"/.exec(answer)?.[1]
  const isDocumented =
    status < 500 || (status === 503 && code === undefined) || codes.includes(code ?? '')
  return isInternalError || !isDocumented ? `${status} ${code ?? ''}` : null
}

type Service = {
  readonly url: string
  readonly kinds: readonly fc.Arbitrary<Message>[]
  /** The token for the process's metrics, if it needs one. */
  readonly token?: string
}

/** The processes, each with its kinds of messages. */
async function services({ cluster }: Target): Promise<Readonly<Record<string, Service>>> {
  const { validator, synchronizer, nodes } = cluster.urls
  const token = await cluster.token()
  const control = await controlOf(cluster)
  const of = (routes: object) =>
    Object.values(routes).map((route: Route) => messagesOf(route, token))
  const streams = Object.values(socketRoutes).map(({ path, request }) =>
    framesOf(path, request, token),
  )
  return {
    node: { url: nodes['sv-1'] ?? '', kinds: of(scanRoutes) },
    validator: { url: validator, kinds: [...of(validatorRoutes), ...of(ledgerRoutes), ...streams] },
    synchronizer: { url: synchronizer, kinds: of(synchronizerRoutes) },
    control: { ...control, kinds: controlMessages(control.url, control.token) },
  }
}

export const fuzz: Attack = {
  name: 'fuzz',
  needsOwnCluster: true,
  claim:
    'A client with or without a token may send to every route, every WebSocket and every procedure of the control plane ' +
    'what its schema allows, nearly allows, and any bytes. No answer is a 5xx that the route does not declare, no ' +
    'process exits, memory does not grow, and no event loop stalls for 200 ms.',
  async run(target) {
    const count = 500
    const seed = Number(process.env['FUZZ_SEED'] ?? clock.nowMicros() % 2 ** 31)
    const figures: Record<string, number | string> = { FUZZ_SEED: seed }
    let holds = true
    const withoutSuccess: string[] = []
    for (const [service, { url, kinds, token }] of Object.entries(await services(target))) {
      const statuses: Record<string, number> = {}
      const reached = new Map<string, boolean>()
      let [wholeCount, answeredCount] = [0, 0]
      const send = async (messages: readonly Message[]) => {
        const waiting = messages.values()
        const sendNext = async () => {
          for (const message of waiting) {
            const answer = await sendMessage(url, message)
            const status = answer.slice(9, 12) || 'none'
            statuses[status] = (statuses[status] ?? 0) + 1
            if (!message.isEnded) {
              wholeCount++
              if (status !== 'none') answeredCount++
              const isSuccess = /^(101|2..)$/.test(status)
              reached.set(message.name, isSuccess || reached.get(message.name) === true)
            }
            const fault = faultOf(answer, message.codes)
            if (fault === null) continue
            holds = false
            figures[`${service}, ${message.name}`] =
              `${fault}: ${message.parts.map((part) => String(part).slice(0, 500)).join('')}`
          }
        }
        await Promise.all(Array.from({ length: AT_ONCE }, sendNext))
      }
      const sample = (numRuns: number, ofSeed: number) =>
        kinds.flatMap((kind) => fc.sample(kind, { seed: ofSeed, numRuns }))
      await send(sample(2, seed + 1)) // Warm-up: code is compiled, and memory allocated.
      const messages = sample(count, seed)
      let [stallMs, grownBytes] = [0, 0]
      const growths: number[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const ofRound = messages.filter((_, index) => index % ROUNDS === round)
        const spent = await spentOn(url, () => send(ofRound), token)
        stallMs = Math.max(stallMs, spent.stallMs)
        grownBytes += spent.residentBytes
        growths.push(grownBytes)
      }
      // The heap grows at first, and garbage stays in it for a while: a leak is what all later rounds have more.
      const half = ROUNDS / 2
      const residentBytes = Math.min(...growths.slice(half)) - Math.max(...growths.slice(0, half))
      figures[service] =
        `${JSON.stringify(statuses)}, stall ${Math.round(stallMs)} ms, ${inMib(residentBytes)} MiB`
      const answeredShare = answeredCount / wholeCount
      const unreached = [...reached].flatMap(([name, isReached]) => (isReached ? [] : [name]))
      figures[`${service}, share answered (at least ${ANSWERED_SHARE_MIN})`] =
        answeredShare.toFixed(3)
      withoutSuccess.push(...unreached.map((name) => `${service} ${name}`))
      holds &&= answeredShare >= ANSWERED_SHARE_MIN
      holds &&= stallMs <= STALL_MS_MAX && residentBytes <= MEMORY_BYTES_MAX
    }
    // Conformance tests send the cases of all operations, to a network that no client has attacked.
    const failed = await failingCases(target, withoutSuccess)
    figures['never a success by chance'] = withoutSuccess.join(' ')
    figures['no success by their case either'] = failed.join('; ')
    return { holds: holds && failed.length === 0, figures }
  },
}

/** The process of each surface. The validator has two surfaces. */
const SERVICES = {
  scan: 'node',
  synchronizer: 'synchronizer',
  validator: 'validator',
  ledger: 'validator',
} as const

/** The operations that do not succeed on the fuzzed network even with the valid request of their case. */
async function failingCases(target: Target, names: readonly string[]): Promise<readonly string[]> {
  const world = await createWorld(target.cluster)
  const failed: string[] = []
  for (const { surface, route, of } of routeCases) {
    const name = `${SERVICES[surface]} ${route.operationId}`
    if (!names.includes(name) || !isReachable(of.success)) continue
    const { status, text } = await sendCase(world, {
      ...(await of.success(world)),
      surface,
      route,
    })
    if (status !== 200) failed.push(`${name}: ${status} ${text}`)
  }
  return failed
}
