export { readEnvironment } from './environment.ts'
export { EXAMPLES, examplesOf } from './examples.ts'
export { EXIT } from './exit-codes.ts'
export type { LogReport } from './local-cluster.ts'
export {
  capitalized,
  namesOf,
  offsets,
  reportRepair,
  whatForked,
  whyNotKept,
} from './log-repair.ts'
export { verifyLogOf } from './log-verify.ts'
export { main } from './main.ts'
export { openReader } from './network.ts'
export {
  answer,
  COLUMNS,
  hint,
  integer,
  print,
  repeat,
  slowly,
  tell,
  untilInterrupted,
  wrap,
} from './options.ts'
export { createProgram, runCommandLine } from './program.ts'
export { judgeProof } from './proof.ts'
export { type ResolveOptions, resolve, resolvedJson } from './resolve.ts'
export type { CommandContext, Common, Rig } from './rig.ts'
export { printable } from './text.ts'
export { readClusterGenesis } from './verify.ts'
export { askVotes, type Voted } from './votes.ts'
