/**
 * The faults that a cluster can be given, as data: what the control plane takes, what a scenario of a chaos
 * run holds, and what is listed while in force. `FAULTS` has an entry for each kind; what a kind does is its entry of
 * `EFFECTS` (`effects.ts`); what a lie is called, in `view/lies.ts`.
 */
import { z } from 'zod'
import { isShown, LIE_KINDS } from '../view/lies.ts'

/** The processes of a node that can be broken apart from each other. */
export const PARTS = ['scan', 'validator', 'synchronizer', 'cometbft', 'redis'] as const
export type Part = (typeof PARTS)[number]

/** How the clock of a machine goes wrong: far too fast, far too slow, or a step back while it runs. */
export const CLOCK_RUNS = ['fast', 'slow', 'back'] as const
export type ClockRun = (typeof CLOCK_RUNS)[number]

/** The connections of a node that a byte-level proxy can stand on. */
export const EDGES = ['http', 'log', 'redis', 'p2p'] as const
/**
 * `http`: its clients, the scan proxy among them; `log`: the synchronizer; `redis`: the Redis that is its own; `p2p`: the
 * other engines, where all members order together.
 */
export type EdgeName = (typeof EDGES)[number]

/** Longer than any wait of a reader: beyond it slow is the same as silent. */
const LATENCY_MS_MAX = 60_000
/** A year: enough to be wrong about any rule of the ledger. */
const CLOCK_OFFSET_MS_MAX = 366 * 86_400_000
/** An hour; without a duration a fault stays until it is healed. */
export const FAULT_DURATION_MS_MAX = 3_600_000

export const nodeName = z.string().regex(/^[a-z0-9-]{1,32}$/, 'must be a name such as sv-1')
const edge = z.enum(EDGES).default('http')
/** Null: the node as a whole. Where it orders, too, that is all that it runs; else its own process without its Redis. */
export const part = z.enum(PARTS).nullable().default(null)
const milliseconds = (max: number) => z.number().min(0).max(max)

/** The faults that a report of a chaos run draws in one color. */
export type ChartGroup = 'lie' | 'process' | 'network' | 'machine'

/** What is known of a kind of fault without doing it. */
export type FaultData<Schema extends z.ZodType> = {
  /** How it is asked for. */
  readonly schema: Schema
  /** One fault in a few words, for tables. */
  words(spec: z.output<Schema>): string
  /** Two faults of one node in the same slot cannot be in force together: the later one takes the place. */
  slot(spec: z.output<Schema>): string
  readonly chart: ChartGroup
  /** Whether lookups cannot count on the vote of a node with this fault, even while it is up. */
  takesVote(spec: z.output<Schema>): boolean
}

/** An entry of `FAULTS`. Unless it says otherwise, its slot is its kind, and it leaves a node its vote. */
const fault = <Schema extends z.ZodObject<{ kind: z.ZodLiteral<string>; node: typeof nodeName }>>(
  schema: Schema,
  data: Pick<FaultData<Schema>, 'words' | 'chart'> & Partial<FaultData<Schema>>,
): FaultData<Schema> => ({
  schema,
  slot: () => schema.shape.kind.value,
  takesVote: () => false,
  ...data,
})
/** What a kind is asked for with, besides its node. */
const of = <const Kind extends string, const Shape extends z.ZodRawShape>(
  kind: Kind,
  shape: Shape,
) => z.object({ kind: z.literal(kind), node: nodeName, ...shape })

/** Every kind of fault. A kind is an entry here and one of `EFFECTS`; without either nothing compiles. */
export const FAULTS = {
  kill: fault(of('kill', { part }).strict(), {
    words: (spec) => `${nameOfPart(spec.part)}killed`,
    // A process that is killed cannot be paused, and the other way round.
    slot: (spec) => `process ${spec.part}`,
    chart: 'process',
  }),
  pause: fault(of('pause', { part }).strict(), {
    words: (spec) => `${nameOfPart(spec.part)}paused`,
    slot: (spec) => `process ${spec.part}`,
    chart: 'process',
  }),
  lie: fault(of('lie', { lie: z.enum(LIE_KINDS).default('value') }), {
    words: (spec) => `lies: ${spec.lie}`,
    chart: 'lie',
    takesVote: (spec) => isShown(spec.lie), // Else its lookups are true.
  }),
  slow: fault(
    of('slow', {
      edge,
      latencyMs: milliseconds(LATENCY_MS_MAX),
      jitterMs: milliseconds(LATENCY_MS_MAX).default(0),
    }),
    {
      words: ({ edge, latencyMs, jitterMs }) =>
        `slow by ${latencyMs}${jitterMs > 0 ? `±${jitterMs}` : ''} ms${atEdge(edge)}`,
      slot: (spec) => `slow ${spec.edge}`,
      chart: 'network',
    },
  ),
  drop: fault(of('drop', { edge, rate: z.number().gt(0).max(1).default(1) }), {
    words: (spec) => `drops ${Math.round(spec.rate * 100)} %${atEdge(spec.edge)}`,
    slot: (spec) => `drop ${spec.edge}`,
    chart: 'network',
    takesVote: (spec) => spec.edge === 'http' && spec.rate === 1,
  }),
  reset: fault(of('reset', { edge }), {
    words: (spec) => `resets connections${atEdge(spec.edge)}`,
    slot: (spec) => `reset ${spec.edge}`,
    chart: 'network',
    takesVote: (spec) => spec.edge === 'http',
  }),
  partition: fault(of('partition', { from: z.enum(['log', 'proxy', 'all']).default('all') }), {
    words: (spec) => (spec.from === 'all' ? 'cut off' : `cut off from the ${spec.from}`),
    chart: 'network',
    takesVote: (spec) => spec.from !== 'log', // Cut off from the log it lags, which its state tells.
  }),
  split: fault(of('split', { others: z.array(nodeName).min(1).max(32) }), {
    words: (spec) => `split from ${spec.others.join(', ')}`,
    chart: 'network',
  }),
  clock: fault(
    of('clock', {
      offsetMs: z.number().int().min(-CLOCK_OFFSET_MS_MAX).max(CLOCK_OFFSET_MS_MAX),
    }),
    {
      words: (spec) => `clock ${spec.offsetMs >= 0 ? '+' : ''}${spec.offsetMs} ms`,
      chart: 'machine',
    },
  ),
  'machine-clock': fault(of('machine-clock', { run: z.enum(CLOCK_RUNS) }), {
    words: ({ run }) =>
      run === 'back' ? 'machine’s clock steps back' : `machine’s clock runs ${run}`,
    chart: 'machine',
  }),
  memory: fault(of('memory', {}), { words: () => 'Redis out of memory', chart: 'machine' }),
  disk: fault(of('disk', {}), { words: () => 'disk full', chart: 'machine' }),
}
export type FaultKind = keyof typeof FAULTS
type SchemaOf<Kind extends FaultKind> = (typeof FAULTS)[Kind]['schema']
/** A fault of one kind. */
export type SpecOf<Kind extends FaultKind> = z.output<SchemaOf<Kind>>
export type FaultSpec = SpecOf<FaultKind>
/** With what may be left out. */
export type FaultInput = z.input<SchemaOf<FaultKind>>

type Schemas = readonly [SchemaOf<FaultKind>, ...SchemaOf<FaultKind>[]]
/** One fault, as it is asked for. */
export const faultSpec = z.discriminatedUnion(
  'kind',
  Object.values(FAULTS).map(({ schema }) => schema) as unknown as Schemas,
)

/** The same entries, each under the kind that its schema names: another key does not compile. */
const byKind: {
  readonly [Kind in FaultKind]: FaultData<z.ZodType<Extract<FaultSpec, { kind: Kind }>>>
} = FAULTS

function dataOf<Spec extends FaultSpec>(spec: Spec): FaultData<z.ZodType<Spec>> {
  // TypeScript does not follow that the entry under a fault's kind takes that fault.
  return byKind[spec.kind] as unknown as FaultData<z.ZodType<Spec>>
}

/** Null: until it is healed. */
export const faultDurationMs = z.number().int().min(1).max(FAULT_DURATION_MS_MAX).nullable()

/** A fault in force. */
export type Fault = {
  readonly id: string
  readonly spec: FaultSpec
  /** What it does, for a person. */
  readonly words: string
  /** ISO 8601, by the control plane's clock. */
  readonly startedAt: string
  /** When it heals by itself; null: when somebody heals it. */
  readonly endsAt: string | null
}

/** Two faults of the same slot cannot be in force together: the later one takes the place. */
export function slotOf(spec: FaultSpec): string {
  return `${spec.node}/${dataOf(spec).slot(spec)}`
}

/** The nodes that a fault is about. */
export function nodesOf(spec: FaultSpec): readonly string[] {
  return 'others' in spec ? [spec.node, ...spec.others] : [spec.node]
}

/** Whether lookups cannot count on the vote of a node with this fault, even while it is up. */
export function takesVote(spec: FaultSpec): boolean {
  return dataOf(spec).takesVote(spec)
}

/** One fault in a few words, for tables. */
export function describeFault(spec: FaultSpec): string {
  return dataOf(spec).words(spec)
}

function atEdge(name: EdgeName): string {
  return name === 'http' ? '' : ` (${name})`
}

function nameOfPart(part: Part | null): string {
  if (part === null) return ''
  return part === 'redis' ? 'Redis ' : part === 'cometbft' ? 'CometBFT ' : `${part} `
}
