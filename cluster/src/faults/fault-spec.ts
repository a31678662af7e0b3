/**
 * The faults that a cluster can be given, as data: what the control plane takes, what a scenario of a chaos
 * run holds, what is listed while in force, and what of it a process is told.
 */
import { z } from 'zod'

/** How a byzantine node answers, or acts; `docOfLie` says each in words. */
export const LIE_KINDS = [
  'value',
  'invent',
  'deny',
  'equivocate',
  'stale',
  'garbage',
  'oversize',
  'trickle',
  'content-type',
  'redirect',
  'other-name',
  'signature',
  'head',
  'withhold',
  'confirm',
  'against',
  'flood',
] as const
export type LieKind = (typeof LIE_KINDS)[number]

/** What each lie is, for help texts and the console. */
export const docOfLie: Readonly<Record<LieKind, string>> = {
  value: 'names belong to the liar',
  invent: 'names that nobody registered exist',
  deny: 'names that are registered do not exist',
  equivocate: 'the truth for some, a wrong value for others; signs two states',
  stale: 'answers and proofs of the moment when the lie began, as today’s',
  garbage: 'random bytes',
  oversize: '100 MB for each answer',
  trickle: 'one byte a second',
  'content-type': 'the truth, called text/html',
  redirect: 'every request is sent elsewhere',
  'other-name': 'the entry of another name',
  signature: 'the truth, with signatures that do not fit',
  head: 'a head far beyond the log, with true answers',
  withhold: 'true answers, but no statement that it signed, and no proof',
  confirm: 'confirms payments that do not exist, and everything that it sees',
  against: 'asks for each good payment to be given back, instead of resolved',
  flood: 'submits as much as it can, all of it in vain',
}

/**
 * What shows each lie to who looks from outside: what the node answers, what it signs of the state of the ledger, or
 * nothing that is read: then it stands in the log, where interpretation does not care.
 */
export const SHOWN_BY: Readonly<Record<LieKind, 'answers' | 'signatures' | null>> = {
  value: 'answers',
  invent: 'answers',
  deny: 'answers',
  equivocate: 'signatures',
  stale: 'answers',
  garbage: 'answers',
  oversize: 'answers',
  trickle: 'answers',
  'content-type': 'answers',
  redirect: 'answers',
  'other-name': 'answers',
  signature: 'signatures',
  head: 'answers',
  withhold: 'signatures',
  confirm: null,
  against: null,
  flood: null,
}

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

/** What a byte-level proxy does to what passes it. */
export type LinkFault =
  | { readonly kind: 'slow'; readonly latencyMs: number; readonly jitterMs: number }
  | { readonly kind: 'drop'; readonly rate: number }
  | { readonly kind: 'reset' }

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
const target = { node: nodeName, part }
const milliseconds = (max: number) => z.number().min(0).max(max)

/** One fault, as it is asked for. */
export const faultSpec = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('kill'), ...target }),
  z.strictObject({ kind: z.literal('pause'), ...target }),
  z.object({ kind: z.literal('lie'), node: nodeName, lie: z.enum(LIE_KINDS).default('value') }),
  z.object({
    kind: z.literal('slow'),
    node: nodeName,
    edge,
    latencyMs: milliseconds(LATENCY_MS_MAX),
    jitterMs: milliseconds(LATENCY_MS_MAX).default(0),
  }),
  z.object({
    kind: z.literal('drop'),
    node: nodeName,
    edge,
    rate: z.number().gt(0).max(1).default(1),
  }),
  z.object({ kind: z.literal('reset'), node: nodeName, edge }),
  z.object({
    kind: z.literal('partition'),
    node: nodeName,
    from: z.enum(['log', 'proxy', 'all']).default('all'),
  }),
  z.object({ kind: z.literal('split'), node: nodeName, others: z.array(nodeName).min(1).max(32) }),
  z.object({
    kind: z.literal('clock'),
    node: nodeName,
    offsetMs: z.number().int().min(-CLOCK_OFFSET_MS_MAX).max(CLOCK_OFFSET_MS_MAX),
  }),
  z.object({ kind: z.literal('machine-clock'), node: nodeName, run: z.enum(CLOCK_RUNS) }),
  z.object({ kind: z.literal('memory'), node: nodeName }),
  z.object({ kind: z.literal('disk'), node: nodeName }),
])
export type FaultSpec = z.output<typeof faultSpec>
/** With what may be left out. */
export type FaultInput = z.input<typeof faultSpec>

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

/** All that one process is told of the faults in force, at once. */
export type ProcessFaults = {
  readonly lie: LieKind | null
  readonly clockOffsetMs: number
  /** Of the engine that belongs to the process. */
  readonly engine: 'killed' | 'paused' | null
  /** Whether its log finds no room. */
  readonly isDiskFull: boolean
  /** Nodes whose engines it cannot reach. */
  readonly cutPeers: readonly string[]
  readonly edges: Readonly<Record<EdgeName, readonly LinkFault[]>>
}

export const NO_FAULTS: ProcessFaults = {
  lie: null,
  clockOffsetMs: 0,
  engine: null,
  isDiskFull: false,
  cutPeers: [],
  edges: { http: [], log: [], redis: [], p2p: [] },
}

/** What the processes of a node have to do about these faults; those that are done from outside do not count. */
export function processFaultsOf(node: string, specs: readonly FaultSpec[]): ProcessFaults {
  const cutPeers: string[] = []
  const edges: Record<EdgeName, LinkFault[]> = { http: [], log: [], redis: [], p2p: [] }
  let lie: LieKind | null = null
  let clockOffsetMs = 0
  let engine: ProcessFaults['engine'] = null
  let isDiskFull = false
  for (const spec of specs)
    switch (spec.kind) {
      case 'kill':
      case 'pause':
        if (spec.part === 'cometbft') engine = spec.kind === 'kill' ? 'killed' : 'paused'
        break
      case 'lie':
        lie = spec.lie
        break
      case 'clock':
        clockOffsetMs = spec.offsetMs
        break
      case 'disk':
        isDiskFull = true
        break
      case 'split':
        cutPeers.push(...(spec.node === node ? spec.others : [spec.node]))
        break
      case 'slow':
        edges[spec.edge].push({
          kind: 'slow',
          latencyMs: spec.latencyMs,
          jitterMs: spec.jitterMs,
        })
        break
      case 'drop':
        edges[spec.edge].push({ kind: 'drop', rate: spec.rate })
        break
      case 'reset':
        edges[spec.edge].push({ kind: 'reset' })
        break
      case 'partition':
        if (spec.from !== 'proxy') edges.log.push({ kind: 'drop', rate: 1 })
        if (spec.from !== 'log') edges.http.push({ kind: 'drop', rate: 1 })
        if (spec.from === 'all') edges.p2p.push({ kind: 'drop', rate: 1 })
        break
    }
  return { lie, clockOffsetMs, engine, isDiskFull, cutPeers, edges }
}

/** Two faults of the same slot cannot be in force together: the later one takes the place. */
export function slotOf(spec: FaultSpec): string {
  const place = 'edge' in spec ? spec.edge : 'part' in spec ? (spec.part ?? '') : ''
  // A process that is killed cannot be paused, and the other way round.
  const kind = spec.kind === 'pause' ? 'kill' : spec.kind
  return `${spec.node}/${kind}/${place}`
}

/** The nodes that a fault is about. */
export function nodesOf(spec: FaultSpec): readonly string[] {
  return spec.kind === 'split' ? [spec.node, ...spec.others] : [spec.node]
}

/** Whether lookups cannot count on the vote of a node with this fault, even while it is up. */
export function takesVote(spec: FaultSpec): boolean {
  switch (spec.kind) {
    case 'lie':
      return SHOWN_BY[spec.lie] !== null // Else its lookups are true.
    case 'partition':
      return spec.from !== 'log' // Cut off from the log it lags, which its state tells.
    case 'drop':
      return spec.edge === 'http' && spec.rate === 1
    case 'reset':
      return spec.edge === 'http'
    default:
      return false
  }
}

/** One fault in a few words, for tables. */
export function describeFault(spec: FaultSpec): string {
  const where = 'edge' in spec && spec.edge !== 'http' ? ` (${spec.edge})` : ''
  switch (spec.kind) {
    case 'kill':
      return `${nameOfPart(spec.part)}killed`
    case 'pause':
      return `${nameOfPart(spec.part)}paused`
    case 'lie':
      return `lies: ${spec.lie}`
    case 'slow':
      return `slow by ${spec.latencyMs}${spec.jitterMs > 0 ? `±${spec.jitterMs}` : ''} ms${where}`
    case 'drop':
      return `drops ${Math.round(spec.rate * 100)} %${where}`
    case 'reset':
      return `resets connections${where}`
    case 'partition':
      return spec.from === 'all' ? 'cut off' : `cut off from the ${spec.from}`
    case 'split':
      return `split from ${spec.others.join(', ')}`
    case 'clock':
      return `clock ${spec.offsetMs >= 0 ? '+' : ''}${spec.offsetMs} ms`
    case 'machine-clock':
      return spec.run === 'back' ? 'machine’s clock steps back' : `machine’s clock runs ${spec.run}`
    case 'memory':
      return 'Redis out of memory'
    case 'disk':
      return 'disk full'
  }
}

function nameOfPart(part: Part | null): string {
  if (part === null) return ''
  return part === 'redis' ? 'Redis ' : part === 'cometbft' ? 'CometBFT ' : `${part} `
}
