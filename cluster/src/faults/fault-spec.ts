/**
 * The faults of a cluster as data: the input of the control plane, the steps of a chaos scenario, the list of faults in
 * force, and what one process receives of them. `FAULTS` has an entry for each kind. Its effect is the entry of `EFFECTS`
 * (`effects.ts`). The kinds of lies are in `view/lies.ts`.
 */
import { isIP } from 'node:net'
import { z } from 'zod'
import { isVisibleLie, LIE_KINDS, type LieKind } from '../view/lies.ts'

/** The processes of a node that can fail separately. */
export const PARTS = ['scan', 'validator', 'synchronizer', 'cometbft', 'redis'] as const
export type Part = (typeof PARTS)[number]

/** Faults of a machine's clock: it runs far too fast, far too slow, or steps back. */
export const CLOCK_RUNS = ['fast', 'slow', 'back'] as const
export type ClockRun = (typeof CLOCK_RUNS)[number]

/** The connections of a node that a byte-level proxy can intercept. */
export const EDGES = ['http', 'log', 'redis', 'p2p'] as const
/**
 * `http`: its clients, including the scan proxy; `log`: the synchronizer; `redis`: its own Redis; `p2p`: the other engines,
 * where members order together.
 */
export type EdgeName = (typeof EDGES)[number]

/** Longer than any wait of a reader, so that a larger latency has the same effect. */
const LATENCY_MS_MAX = 60_000
/** Requests a second; one client cannot send more from the process of the control plane. */
const FLOOD_RATE_MAX = 10_000
/** A year: enough to violate any rule of the ledger. */
const CLOCK_SKEW_MS_MAX = 366 * 86_400_000
/** An hour. Without a duration a fault stays until it is healed. */
export const FAULT_DURATION_MS_MAX = 3_600_000

export const nodeName = z.string().regex(/^[a-z0-9-]{1,32}$/, 'must be a name such as sv-1')
const edge = z.enum(EDGES).default('http')
/** Null: the whole node. Of a member that is all its processes, otherwise the node's own process without its Redis. */
export const part = z.enum(PARTS).nullable().default(null)
/** As nodes see it: without brackets, without a port. */
const clientAddress = z
  .string()
  .refine((text) => isIP(text) !== 0, 'must be an address such as 127.0.77.1')
const delayMs = z.number().min(0).max(LATENCY_MS_MAX)
const skewMs = z.number().int().min(-CLOCK_SKEW_MS_MAX).max(CLOCK_SKEW_MS_MAX)

/** The groups of faults that a chaos report draws in one color. */
export type ChartGroup = 'lie' | 'process' | 'network' | 'machine'

/** The data of a kind of fault. */
export type FaultData<Schema extends z.ZodType> = {
  readonly schema: Schema
  /** One fault in a few words, for tables. */
  words(spec: z.output<Schema>): string
  /** Of two faults of a node in the same slot, the later one replaces the earlier one. */
  slot(spec: z.output<Schema>): string
  readonly chart: ChartGroup
  /** Whether lookups cannot count on the vote of a node with this fault, even while it is up. */
  takesVote(spec: z.output<Schema>): boolean
}

/** An entry of `FAULTS`. By default its slot is its kind, and the node keeps its vote. */
const fault = <Schema extends z.ZodObject<{ kind: z.ZodLiteral<string>; node: typeof nodeName }>>(
  schema: Schema,
  data: Pick<FaultData<Schema>, 'words' | 'chart'> & Partial<FaultData<Schema>>,
): FaultData<Schema> => ({
  schema,
  slot: () => schema.shape.kind.value,
  takesVote: () => false,
  ...data,
})
/** The schema of a kind, with the members that it has in addition to its node. */
const ofKind = <const Kind extends string, const Shape extends z.ZodRawShape>(
  kind: Kind,
  shape: Shape,
) => z.object({ kind: z.literal(kind), node: nodeName, ...shape })

/** Every kind of fault. A kind needs an entry here and one in `EFFECTS`: with one missing nothing compiles. */
export const FAULTS = {
  kill: fault(ofKind('kill', { part }).strict(), {
    words: (spec) => `${nameOfPart(spec.part)}killed`,
    // A killed process cannot be paused, nor a paused one killed separately.
    slot: (spec) => `process ${spec.part}`,
    chart: 'process',
  }),
  pause: fault(ofKind('pause', { part }).strict(), {
    words: (spec) => `${nameOfPart(spec.part)}paused`,
    slot: (spec) => `process ${spec.part}`,
    chart: 'process',
  }),
  lie: fault(
    ofKind('lie', { lie: z.enum(LIE_KINDS).default('value'), to: clientAddress.optional() }),
    {
      words: ({ lie, to }) => (to === undefined ? `lies: ${lie}` : `lies to ${to}: ${lie}`),
      chart: 'lie',
      takesVote: (spec) => isVisibleLie(spec.lie), // Otherwise its lookups are true.
    },
  ),
  flood: fault(
    ofKind('flood', { rate: z.number().int().min(1).max(FLOOD_RATE_MAX).default(1000) }),
    {
      words: ({ rate }) => `flooded with ${rate} requests a second`,
      chart: 'network',
    },
  ),
  slow: fault(ofKind('slow', { edge, latencyMs: delayMs, jitterMs: delayMs.default(0) }), {
    words: ({ edge, latencyMs, jitterMs }) =>
      `slow by ${latencyMs}${jitterMs > 0 ? `±${jitterMs}` : ''} ms${atEdge(edge)}`,
    slot: (spec) => `slow ${spec.edge}`,
    chart: 'network',
  }),
  drop: fault(ofKind('drop', { edge, rate: z.number().gt(0).max(1).default(1) }), {
    words: (spec) => `drops ${Math.round(spec.rate * 100)} %${atEdge(spec.edge)}`,
    slot: (spec) => `drop ${spec.edge}`,
    chart: 'network',
    takesVote: (spec) => spec.edge === 'http' && spec.rate === 1,
  }),
  reset: fault(ofKind('reset', { edge }), {
    words: (spec) => `resets connections${atEdge(spec.edge)}`,
    slot: (spec) => `reset ${spec.edge}`,
    chart: 'network',
    takesVote: (spec) => spec.edge === 'http',
  }),
  partition: fault(ofKind('partition', { from: z.enum(['log', 'proxy', 'all']).default('all') }), {
    words: (spec) => (spec.from === 'all' ? 'cut off' : `cut off from the ${spec.from}`),
    chart: 'network',
    takesVote: (spec) => spec.from !== 'log', // Without the log it lags, which its state shows.
  }),
  split: fault(ofKind('split', { others: z.array(nodeName).min(1).max(32) }), {
    words: (spec) => `split from ${spec.others.join(', ')}`,
    chart: 'network',
  }),
  clock: fault(ofKind('clock', { offsetMs: skewMs }), {
    words: (spec) => `clock ${spec.offsetMs >= 0 ? '+' : ''}${spec.offsetMs} ms`,
    chart: 'machine',
  }),
  'machine-clock': fault(ofKind('machine-clock', { run: z.enum(CLOCK_RUNS) }), {
    words: ({ run }) =>
      run === 'back' ? 'machine’s clock steps back' : `machine’s clock runs ${run}`,
    chart: 'machine',
  }),
  memory: fault(ofKind('memory', {}), { words: () => 'Redis out of memory', chart: 'machine' }),
  disk: fault(ofKind('disk', {}), { words: () => 'disk full', chart: 'machine' }),
}
export type FaultKind = keyof typeof FAULTS
type SchemaOf<Kind extends FaultKind> = (typeof FAULTS)[Kind]['schema']
/** A fault of one kind. */
export type SpecOf<Kind extends FaultKind> = z.output<SchemaOf<Kind>>
export type FaultSpec = SpecOf<FaultKind>
/** A fault before defaults are added. */
export type FaultInput = z.input<SchemaOf<FaultKind>>

type Schemas = readonly [SchemaOf<FaultKind>, ...SchemaOf<FaultKind>[]]
export const faultSpec = z.discriminatedUnion(
  'kind',
  Object.values(FAULTS).map(({ schema }) => schema) as unknown as Schemas,
)

/** The same entries by the kind of their schema: a wrong key does not compile. */
const byKind: {
  readonly [Kind in FaultKind]: FaultData<z.ZodType<Extract<FaultSpec, { kind: Kind }>>>
} = FAULTS

/** The data of a fault's kind. */
export function dataOf<Spec extends FaultSpec>(spec: Spec): FaultData<z.ZodType<Spec>> {
  // TypeScript cannot derive that the entry of a fault's kind takes that fault.
  return byKind[spec.kind] as unknown as FaultData<z.ZodType<Spec>>
}

/** The faults to heal: one, those of a node, or all. */
export const faultSelection = z.object({ id: z.string().max(32), node: nodeName }).partial()

/** Null: until it is healed. */
export const faultDurationMs = z.number().int().min(1).max(FAULT_DURATION_MS_MAX).nullable()

/** A fault in force. */
export type Fault = {
  readonly id: string
  readonly spec: FaultSpec
  /** Its effect in a few words. */
  readonly words: string
  /** ISO 8601, by the control plane's clock. */
  readonly startedAt: string
  /** When it heals by itself; null: when a command heals it. */
  readonly endsAt: string | null
}

/** The effect of a byte-level proxy on the bytes that pass it. */
export type LinkFault =
  | { readonly kind: 'slow'; readonly latencyMs: number; readonly jitterMs: number }
  | { readonly kind: 'drop'; readonly rate: number }
  | { readonly kind: 'reset' }
/** A link that loses all bytes. */
export const DROP_ALL: LinkFault = { kind: 'drop', rate: 1 }

/** A process without faults. */
export const NO_FAULTS = {
  lie: null as LieKind | null,
  /** The address of the only client that gets the lie; null: all do. */
  lieTo: null as string | null,
  clockOffsetMs: 0,
  /** The fault of the engine that the process owns. */
  engine: null as 'killed' | 'paused' | null,
  isDiskFull: false,
  /** Nodes whose engines it cannot reach. */
  cutPeers: [] as readonly string[],
  edges: { http: [], log: [], redis: [], p2p: [] } as Readonly<
    Record<EdgeName, readonly LinkFault[]>
  >,
}
/** The faults in force, as one process receives them. */
export type ProcessFaults = Readonly<typeof NO_FAULTS>

/** Of two faults in the same slot, the later one replaces the earlier one. */
export function slotOf(spec: FaultSpec): string {
  return `${spec.node}/${dataOf(spec).slot(spec)}`
}

/** The nodes that a fault concerns. */
export function nodesOf(spec: FaultSpec): readonly string[] {
  return 'others' in spec ? [spec.node, ...spec.others] : [spec.node]
}

/** Whether everyone who asks the node can see the fault: monitors see no lie to one reader. */
export function isVisibleFault(spec: {
  readonly kind: string
  readonly lie?: LieKind
  readonly to?: string | undefined
}) {
  return spec.lie === undefined || (isVisibleLie(spec.lie) && spec.to === undefined)
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
