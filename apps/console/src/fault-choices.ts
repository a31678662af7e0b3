/** The faults that the page offers. Pure. */
import { LIES } from 'quorumscan/view'
import type { FaultSpec } from './api.ts'

type WithoutNode<Spec> = Spec extends unknown ? Omit<Spec, 'node'> : never
type Row = readonly [id: string, label: string, fault: WithoutNode<FaultSpec>]

const lieChoices = (Object.keys(LIES) as (keyof typeof LIES)[]).map(
  (lie): Row => [`lie ${lie}`, `${lie}: ${LIES[lie][1]}`, { kind: 'lie', lie }],
)
/** Some faults that are not lies. The command line has all of them, with every option. */
const otherChoices: Readonly<Record<string, readonly Row[]>> = {
  Network: [
    ['slow', 'slow by 300 ms', { kind: 'slow', edge: 'http', latencyMs: 300, jitterMs: 100 }],
    ['drop', '30 % of connections stall', { kind: 'drop', edge: 'http', rate: 0.3 }],
    ['requests', 'flooded with 1000 requests a second', { kind: 'flood', rate: 1000 }],
    ['reset', 'connections reset', { kind: 'reset', edge: 'http' }],
    ['log', 'disconnected from the log', { kind: 'partition', from: 'log' }],
    ['proxy', 'disconnected from the proxy', { kind: 'partition', from: 'proxy' }],
    ['engines', 'disconnected from the other engines', { kind: 'drop', edge: 'p2p' }],
  ],
  Machine: [
    ['clock', 'clock 30 s slow', { kind: 'clock', offsetMs: -30_000 }],
    ['memory', 'Redis out of memory', { kind: 'memory' }],
    ['redis', 'Redis killed', { kind: 'kill', part: 'redis' }],
    ['cometbft', 'CometBFT killed', { kind: 'kill', part: 'cometbft' }],
  ],
}
/** Faults of the engine, which only an ordering member has. */
const ORDERING_FAULTS = ['engines', 'cometbft']

/** The faults of a node in the order of the menu. */
export function faultChoicesOf(node: string, isOrderingMember: boolean) {
  return Object.entries({ Lies: lieChoices, ...otherChoices }).map(([title, rows]) => ({
    title,
    faults: rows
      .filter(([id]) => isOrderingMember || !ORDERING_FAULTS.includes(id))
      .map(([id, label, fault]) => ({ id, label, fault: { ...fault, node } as FaultSpec })),
  }))
}
