/** The faults of a run and their times, as a pure function of the seed. */
import type { OrderingDriver } from '@quorumscan/operator'
import { z } from 'zod'
import { CLOCK_RUNS, describeFault, faultSpec, type Part } from '../../faults/fault-spec.ts'
import { STRANGER_ADDRESS } from '../../faults/strangers.ts'
import { isVisibleLie, LIE_KINDS, type LieKind } from '../../view/lies.ts'
import { type Seeded, seededRandom } from './seeded-random.ts'

/** The faults of a lane follow each other, so that at most one per lane is in force. */
export type Step = Scenario['steps'][number]
/** A fault, or the deletion of a replica or of all data of a member, which has no duration. */
export type ChaosFault = Step['fault']

/** The schedule depends on these values alone. */
export type ScheduleOptions = {
  readonly seed: string
  readonly durationMs: number
  readonly nodeNames: readonly string[]
  /** How many super-validators may be faulty at once. */
  readonly faultyMax: number
  readonly ordering: OrderingDriver
}

/** The lane of validator and synchronizer: their faults stop the service, and are not Byzantine. */
const INFRASTRUCTURE_LANE = -1
/** The lanes of floods: their nodes are honest. */
const FLOOD_LANES = [-2, -3]
const GAP_MS = { min: 500, max: 3000 }
const FAULT_MS = { min: 2000, max: 8000 }
/** Faults of validator and log are rare, so that lookups must be answered most of the time. */
const INFRASTRUCTURE_GAP_MS = { min: 12_000, max: 25_000 }
const INFRASTRUCTURE_FAULT_MS = { min: 500, max: 2500 }
/** Requests a second: an honest node has work, and this machine has some time left for the cluster. */
const FLOOD_RATE = 500
const VISIBLE_LIES = LIE_KINDS.filter(isVisibleLie) as [LieKind, ...LieKind[]]
const STEPS_MAX = 1000

/** The steps of all lanes, by time. */
export function planSchedule(options: ScheduleOptions): Step[] {
  const lanes = Array.from({ length: options.faultyMax }, (_, lane) => planLane(lane, options))
  const byLanes = lanes.flat()
  const steps = [...byLanes, ...planFloods(byLanes, options), ...planInfrastructure(options)]
  return steps.sort((a, b) => a.atMs - b.atMs)
}

const wipe = z.object({
  kind: z.literal('wipe'),
  node: z.string().max(32),
  disk: z.boolean().default(false),
})
const step = z.object({
  lane: z.number().int(),
  atMs: z.number().int().min(0),
  durationMs: z.number().int().min(0),
  fault: z.union([faultSpec, wipe]),
})

/** A scenario file: the steps of a schedule, by a person or of an earlier run. */
export const scenario = z.object({
  seed: z.string().max(64),
  durationMs: z.number().int().min(1000).max(3_600_000),
  nodes: z.number().int().min(1).max(13),
  budget: z.enum(['f', 'beyond-f']),
  allowsUnexercised: z.boolean().default(false),
  steps: z.array(step).max(STEPS_MAX),
})
export type Scenario = z.output<typeof scenario>

/** A fault in a few words, for progress and report. */
export function describeChaosFault(fault: ChaosFault): string {
  if (fault.kind !== 'wipe') return describeFault(fault)
  return fault.disk ? 'disk deleted' : 'replica deleted'
}

/**
 * The nodes of a lane are those whose index is the lane modulo the number of lanes: no two lanes share a node. It begins
 * with the lie that leaves evidence, for long enough, so that every run has one, and goes on with a lie to one reader.
 */
function planLane(lane: number, options: ScheduleOptions): Step[] {
  const random = seededRandom(options.seed, `lane ${lane}`)
  const isOfLane = (_: string, index: number) => index % options.faultyMax === lane
  const [first, ...others] = options.nodeNames.filter(isOfLane)
  if (first === undefined) return []
  const times = { lane, gapMs: GAP_MS, untilMs: options.durationMs }
  return stepsFrom(random, times, (atMs, index) => {
    const drawnMs = index < 2 ? FAULT_MS.max : between(random, FAULT_MS)
    const durationMs = Math.min(drawnMs, options.durationMs - atMs)
    const node = random.pick([first, ...others])
    if (index === 0) return { durationMs, fault: { kind: 'lie', node, lie: 'equivocate' } }
    if (index === 1) return { durationMs, fault: lieToOne(random, node) }
    return { durationMs, fault: drawFault(random, { ...options, node }) }
  })
}

/** A lie that no monitor sees, as it has another address than the reader that gets it. */
function lieToOne(random: Seeded, node: string): ChaosFault {
  const lie = random.pick(VISIBLE_LIES)
  return { kind: 'lie', node, lie, to: STRANGER_ADDRESS }
}

/** While a node lies to one reader, outsiders flood honest ones, so that the reader asks the liar. */
function planFloods(steps: readonly Step[], { nodeNames }: ScheduleOptions): Step[] {
  return steps.flatMap(({ atMs, durationMs, fault }) => {
    if (fault.kind !== 'lie' || fault.to === undefined) return []
    const isFaulty = (name: string) =>
      steps.some((step) => step.fault.node === name && overlaps(step, { atMs, durationMs }))
    const honest = nodeNames.filter((name) => !isFaulty(name))
    return FLOOD_LANES.flatMap((lane, index): Step | [] => {
      const node = honest[index]
      return node === undefined
        ? []
        : { lane, atMs, durationMs, fault: { kind: 'flood', node, rate: FLOOD_RATE } }
    })
  })
}

type Times = Pick<Step, 'atMs' | 'durationMs'>

function overlaps(one: Times, other: Times): boolean {
  return one.atMs < other.atMs + other.durationMs && other.atMs < one.atMs + one.durationMs
}

function planInfrastructure({ seed, durationMs: untilMs }: ScheduleOptions): Step[] {
  const random = seededRandom(seed, 'infrastructure')
  const kill = (node: string, part: Part | null) => ({ kind: 'kill', node, part }) as const
  const times = { lane: INFRASTRUCTURE_LANE, gapMs: INFRASTRUCTURE_GAP_MS, untilMs }
  return stepsFrom(random, times, () => ({
    durationMs: between(random, INFRASTRUCTURE_FAULT_MS),
    fault: random.pick<ChaosFault>([
      kill('validator', null),
      kill('synchronizer', null),
      kill('synchronizer', 'redis'),
      { kind: 'pause', node: 'validator', part: null },
      { kind: 'pause', node: 'synchronizer', part: null },
      { kind: 'disk', node: 'synchronizer' },
    ]),
  }))
}

/** The steps of a lane until a time, with drawn gaps between them. */
function stepsFrom(
  random: Seeded,
  { lane, gapMs, untilMs }: { lane: number; gapMs: Range; untilMs: number },
  next: (atMs: number, index: number) => Pick<Step, 'durationMs' | 'fault'>,
): Step[] {
  const steps: Step[] = []
  for (let atMs = between(random, gapMs); atMs < untilMs; ) {
    const step = next(atMs, steps.length)
    steps.push({ lane, atMs, ...step })
    atMs += step.durationMs + between(random, gapMs)
  }
  return steps
}

function drawFault(
  random: Seeded,
  options: Pick<ScheduleOptions, 'ordering' | 'nodeNames'> & { readonly node: string },
): ChaosFault {
  const { node } = options
  const lie = () => ({ kind: 'lie', node, lie: random.pick(LIE_KINDS) }) as const
  const part = () => (random.below(3) === 0 ? 'redis' : null)
  const edge = random.pick(['http', 'log', 'redis'] as const)
  const draw = random.pick<() => ChaosFault>([
    // Lies are the most frequent fault, as quorums exist for them.
    lie,
    ...Array<() => ChaosFault>(4).fill(lie),
    () => lieToOne(random, node),
    () => ({ kind: 'kill', node, part: part() }),
    () => ({ kind: 'pause', node, part: part() }),
    () => ({ kind: 'wipe', node, disk: false }),
    () => ({ kind: 'partition', node, from: random.pick(['log', 'proxy', 'all']) }),
    () => ({ kind: 'slow', node, edge, latencyMs: 50 + random.below(1500), jitterMs: 50 }),
    () => ({ kind: 'drop', node, edge, rate: random.pick([0.3, 1]) }),
    () => ({ kind: 'reset', node, edge }),
    () => ({ kind: 'clock', node, offsetMs: (random.below(2) === 0 ? 1 : -1) * 30_000 }),
    () => ({ kind: 'machine-clock', node, run: random.pick(CLOCK_RUNS) }),
    () => ({ kind: 'memory', node }),
    ...(options.ordering === 'cometbft' ? drawsOfMember(random, options) : []),
  ])
  return draw()
}

/** The faults of a member that orders: of its synchronizer, its engine, and the engine's links. */
function drawsOfMember(
  random: Seeded,
  { node, nodeNames }: { readonly node: string; readonly nodeNames: readonly string[] },
): readonly (() => ChaosFault)[] {
  const others = nodeNames.filter((name) => name !== node)
  const part = () => random.pick(['synchronizer', 'cometbft'] as const)
  return [
    () => ({ kind: 'kill', node, part: part() }),
    () => ({ kind: 'pause', node, part: part() }),
    () => ({ kind: 'slow', node, edge: 'p2p', latencyMs: 50 + random.below(1500), jitterMs: 50 }),
    () => ({ kind: 'drop', node, edge: 'p2p', rate: random.pick([0.3, 1]) }),
    () => ({ kind: 'reset', node, edge: 'p2p' }),
    // From one of the other members, and from all but one.
    () => ({ kind: 'split', node, others: others.slice(0, 1) }),
    () => ({ kind: 'split', node, others: others.slice(1) }),
    () => ({ kind: 'wipe', node, disk: true }),
    () => ({ kind: 'disk', node }),
  ]
}

type Range = { readonly min: number; readonly max: number }

function between(random: Seeded, range: Range): number {
  return range.min + random.below(range.max - range.min)
}

/**
 * Makes a failing schedule smaller: removes halves, then quarters, down to single steps, and keeps each smaller schedule that still fails.
 *
 * @param options.runsMax - Each attempt is a whole run.
 * @returns The smallest failing schedule found; the given one if no smaller one fails.
 */
export async function shrink(
  steps: readonly Step[],
  options: {
    readonly fails: (steps: readonly Step[]) => Promise<boolean>
    readonly runsMax: number
  },
): Promise<readonly Step[]> {
  let smallest = steps
  let runs = 0
  for (let size = Math.ceil(steps.length / 2); size >= 1; ) {
    let hasShrunk = false
    for (let from = 0; from < smallest.length && runs < options.runsMax; from += size) {
      const rest = smallest.filter((_, index) => index < from || index >= from + size)
      runs += 1
      if (!(await options.fails(rest))) continue
      smallest = rest
      hasShrunk = true
      break
    }
    if (runs >= options.runsMax) break
    if (!hasShrunk) size = size === 1 ? 0 : Math.ceil(size / 2)
  }
  return smallest
}
