/**
 * Drives the state machine by commands, as sockets and a clock would, and holds it at each step to what it may
 * do. At most f nodes lie; the others say the truth, or nothing of use.
 */
import { maxFaulty } from '@quorumscan/verifier'
import { DECISIONS } from '../../votes/decisions.ts'
import { createHistories } from '../../votes/histories.ts'
import type { Asked, Read } from '../item.ts'
import type { Effect, Event } from '../messages.ts'
import { createNode } from '../node.ts'
import { createState } from '../state.ts'
import { step } from '../step.ts'
import { type Command, LIES, type Way } from './scripts.ts'
import { answerAt, historyAt, replyTo, START_MICROS } from './world.ts'

/** After so long without an answer a read has ended, and so has what was sent for it. */
export const ENDED_MS = 4050
/** So long that what may be lost is sent again. */
const WAIT_MS = 4000
const NAMES = ['a', 'b', 'c'] as const
/** In flight to one node: in each second 4 lookups and 8 pages, each for as long as the reader waits. */
const FLIGHTS_PER_NODE_MAX = (4 + 8) * (WAIT_MS / 1000 + 1)

type Effects = { readonly [Kind in Effect['kind']]: Effect & { readonly kind: Kind } }
type Waiting = { readonly read: Read; readonly atMs: number; readonly floor: number }

export function createRun(world: {
  readonly nodeCount: number
  readonly liars: readonly number[]
}) {
  const { nodeCount } = world
  const faultyMax = maxFaulty(nodeCount)
  const liars = world.liars.filter((index) => index < nodeCount).slice(0, faultyMax)
  const key = '00'.repeat(32)
  const nodes = Array.from({ length: nodeCount }, (_, index) =>
    createNode({ name: `sv-${index}`, scanKey: key, operatorKey: key }, index),
  )
  const state = createState({
    ...{ nodes, nodeCount, waitMs: WAIT_MS, decisions: DECISIONS },
    histories: createHistories(faultyMax),
    hasReplica: true,
  })
  const log: Effect[] = []
  const open = new Map<number, Effects['send']>()
  const waiting = new Map<number, Waiting>()
  const comparing: number[] = []
  const said = new Set<string>()
  let nowMs = 0
  let stalledMs = 0
  let head = 5
  let readCount = 0
  let floor = 0
  let moveCount = 0

  const happen = (event: Event): void => {
    const effects = step(state, event, { ms: nowMs, micros: START_MICROS + nowMs * 1000 })
    log.push(...effects)
    for (const effect of effects) note(effect)
    hold()
  }

  const note = (effect: Effect): void => {
    if (effect.kind === 'send') {
      must(!open.has(effect.flight), 'a request is sent once')
      open.set(effect.flight, effect)
    } else if (effect.kind === 'drop')
      must(open.delete(effect.flight), 'what is dropped was on its way')
    else if (effect.kind === 'shorten') must(open.has(effect.flight), 'what is wanted is awaited')
    else if (effect.kind === 'compare') comparing.push(effect.offset)
    else if (effect.kind === 'decide') judge(effect)
    else if (effect.kind === 'keep') {
      must(effect.floor > floor, 'the floor only rises')
      floor = effect.floor
    } else must(effect.kind !== 'fork', 'there is one history')
  }

  /** What is decided is waited for, and true, and of an offset that it may be of; enough nodes said it. */
  const judge = ({ read: id, outcome }: Effects['decide']): void => {
    const asked = waiting.get(id)
    must(waiting.delete(id), 'what is decided is waited for')
    if (!('answer' in outcome) || asked === undefined) return
    const { read } = asked
    const name = nameOf(read.asked)
    const { offset } = outcome
    const answer = new TextDecoder().decode(outcome.answer)
    must(answer === answerAt(name, offset), 'what is decided is true')
    must(outcome.historyHash === historyAt(offset), 'and of the one history')
    must(offset >= Math.max(read.minOffset, asked.floor), 'and not older than asked')
    must(new Set(outcome.agreed).size >= read.threshold, 'enough nodes agree')
    for (const node of outcome.agreed)
      must(said.has(`${node} ${offset} ${name} ${answer}`), 'and have said so')
  }

  /** Nothing waits too long, nothing is asked too often, and somebody is called as long as anybody waits. */
  const hold = (): void => {
    for (const { atMs } of waiting.values())
      must(nowMs - stalledMs - atMs <= ENDED_MS, 'a read ends in its time')
    must(state.items.size === waiting.size, 'what is waited for is what is not decided')
    for (const { id, rounds } of state.items.values())
      must(waiting.has(id) && rounds.length <= 2, 'a read has two rounds at most')
    must(state.flights.size === open.size, 'what is sent is what is not ended')
    for (const { lanes, index, counters } of nodes) {
      const flightCount = lanes.lookup.flights.size + lanes.bulk.flights.size
      must(flightCount <= FLIGHTS_PER_NODE_MAX, 'a node is asked so much at a time')
      must(liars.includes(index) || counters.dissents === 0, 'who says the truth is not outvoted')
    }
    const isCalled = state.tickAtMs < Number.POSITIVE_INFINITY
    must(isCalled === waiting.size + open.size > 0, 'the clock calls as long as there is cause')
  }

  const pass = (ms: number): void => {
    const untilMs = nowMs + ms
    while (state.tickAtMs <= untilMs) {
      nowMs = state.tickAtMs
      happen({ kind: 'tick' })
    }
    nowMs = untilMs
  }

  /** The clock calls late. */
  const stall = (ms: number): void => {
    const lateMs = nowMs + ms - state.tickAtMs
    nowMs += ms
    if (lateMs < 0 || lateMs === Number.NEGATIVE_INFINITY) return
    stalledMs += lateMs
    happen({ kind: 'tick' })
  }

  const land = (flight: number | undefined, way: Way): void => {
    const sent = flight === undefined ? undefined : open.get(flight)
    if (flight === undefined || sent === undefined) return
    open.delete(flight)
    const index = Number(sent.url.slice(-1))
    const isLie = LIES.some((lie) => lie === way)
    const told = replyTo(sent.request, {
      way: isLie && !liars.includes(index) ? 'true' : way,
      head,
    })
    for (const { name, offset, answer } of told?.said ?? [])
      said.add(`sv-${index} ${offset} ${name} ${answer}`)
    happen(
      told === null ? { kind: 'failed', flight } : { kind: 'reply', flight, reply: told.reply },
    )
  }

  const ask = ({ names, votes, ahead, isPage }: Command & { kind: 'ask' }): void => {
    const reads = names.slice(0, isPage ? 1 : names.length).map(
      (index): Read => ({
        id: ++readCount,
        asked: askedOf(NAMES[index] as string, isPage), // There are so many.
        threshold: faultyMax + 1 + (votes % (nodeCount - faultyMax)),
        minOffset: ahead === null ? 0 : head + ahead,
        maxAgeMs: Number.POSITIVE_INFINITY,
        headers: undefined,
      }),
    )
    for (const read of reads) waiting.set(read.id, { read, atMs: nowMs - stalledMs, floor })
    happen({ kind: 'asked', questions: [reads], floor })
  }

  const compare = (): void => {
    const offset = comparing.shift()
    if (offset === undefined) return
    happen({ kind: 'compared', offset, historyHash: offset <= head ? historyAt(offset) : null })
  }

  const cancel = (id: number | undefined): void => {
    if (id === undefined) return
    waiting.delete(id)
    happen({ kind: 'cancelled', reads: [id] })
  }

  const move = (index: number): void => {
    const url = `http://127.0.0.1:${10 * ++moveCount + index}`
    happen({ kind: 'located', name: `sv-${index}`, url, sequence: moveCount })
  }

  const obey = (command: Command): void => {
    if (command.kind === 'ask') ask(command)
    else if (command.kind === 'land') land(pickOf(open, command.pick), command.way)
    else if (command.kind === 'pass') pass(command.ms)
    else if (command.kind === 'stall') stall(command.ms)
    else if (command.kind === 'append') head++
    else if (command.kind === 'compare') compare()
    else if (command.kind === 'cancel') cancel(pickOf(waiting, command.pick))
    else if (command.kind === 'move') move(command.pick % nodeCount)
  }

  for (const { index } of nodes) move(index)
  happen({ kind: 'learned' })
  return { obey, pass, log, waiting, open }
}

/** An `expect` would take longer than the step. */
function must(holds: boolean, rule: string): void {
  if (!holds) throw new Error(`broken: ${rule}`)
}

function pickOf(map: ReadonlyMap<number, unknown>, pick: number): number | undefined {
  return [...map.keys()][pick % Math.max(map.size, 1)]
}

function askedOf(name: string, isPage: boolean): Asked {
  if (!isPage) return { kind: 'lookup', lookup: { name } }
  const page = { operation: 'page', parameters: { name }, bytesMax: 1024 }
  return { kind: 'read', request: { ...page, method: 'GET', path: `/${name}`, body: null } }
}

function nameOf(asked: Asked): string {
  return asked.kind === 'read'
    ? asked.request.path.slice(1)
    : (asked.lookup as { readonly name: string }).name // Nothing here asks by party.
}
