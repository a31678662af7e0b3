/** `log repair`: makes a damaged log whole again, or says what to do instead. */

import { dirname, join } from 'node:path'
import type { Clock } from '@quorumscan/base'
import type { OffsetRange, Refusal } from '@quorumscan/log'
import type { DataDirectory, RepairOutcome } from '@quorumscan/operator'
import { repairOperatorLog } from '@quorumscan/operator/log'
import { describeOffset } from '@quorumscan/runtime'
import { VALIDATOR } from '../cluster-shape.ts'
import { call, connectControl } from '../control/client.ts'
import { readControlFile } from '../control/control-file.ts'
import { controlOptions } from '../control/control-options.ts'
import { holdControlPlane } from '../control/launch.ts'
import { readClusterGenesis } from './verify.ts'

/** Reading, writing and verifying the largest log of one machine; longer than that work waits for itself. */
const CALL_TIMEOUT_MS = 660_000

type Repaired = { readonly isWhole: boolean; readonly text: string; readonly json: unknown }

/** What is another for a cluster than for the operator of a synchronizer. */
type Words = {
  readonly reasonOf: (outcome: RepairOutcome & { readonly kind: 'refused' }) => string
  /** Begins a sentence that ends in `it` or `them`. */
  readonly notApplied: string
  readonly alsoApplied?: string
  /** To be typed. */
  readonly cut: string
  /** What else is to be typed when the log is whole. */
  readonly next: readonly string[]
}

/** Works on the running cluster in the data directory, or on one that is stopped, which it leaves so. */
export async function repairLogOf(
  directory: DataDirectory,
  options: { readonly isCutAllowed: boolean; readonly redisServer: string; readonly clock: Clock },
): Promise<Repaired> {
  const { isCutAllowed, redisServer, clock } = options
  readClusterGenesis(directory)
  const isRunning = readControlFile(directory) !== null
  const repair = () =>
    call(
      connectControl(directory, { timeoutMs: CALL_TIMEOUT_MS }).cluster.repairLog.mutate({
        isCutAllowed,
      }),
    )
  const work = async () => {
    const idle = controlOptions({ dataDir: directory.path, redisServer, isIdle: true })
    await using _ = await holdControlPlane(idle, clock)
    return await repair()
  }
  const outcome = isRunning ? await repair() : await work()
  return repaired(outcome, {
    reasonOf: ({ refusal, logDirectory }) => reasonOf(refusal, { logDirectory, isRunning }),
    notApplied: 'No node that answered has applied',
    cut: `${isRunning ? '`quorumscan down`, then ' : ''}\`quorumscan log repair --cut\``,
    next: isRunning ? [] : ['`quorumscan up` starts the cluster.'],
  })
}

/** Works on the log of an operator's synchronizer, which is stopped. */
export async function repairLogOfOperator(
  options: Parameters<typeof repairOperatorLog>[0],
): Promise<Repaired> {
  return repaired(await repairOperatorLog(options), {
    reasonOf: ({ refusal }) => reasonForOperator(refusal),
    notApplied: 'When it sent what it keeps, no super-validator had applied',
    alsoApplied: 'A validator that has reports LOG_REGRESSED: restore it from a backup of its own.',
    cut: 'The same command with --cut',
    next: ['`quorumscan run synchronizer` starts it.'],
  })
}

function repaired(outcome: RepairOutcome, words: Words): Repaired {
  const isWhole = outcome.kind === 'whole' || outcome.kind === 'repaired'
  return { isWhole, text: describe(outcome, words), json: outcome }
}

function describe(outcome: RepairOutcome, words: Words): string {
  switch (outcome.kind) {
    case 'whole':
      return `The log is whole, from its start to offset ${outcome.end}; there is nothing to repair.`
    case 'refused':
      return `Nothing was changed: ${words.reasonOf(outcome)}`
    case 'to-cut':
      return [
        `Nothing was changed yet. ${whatIsGivenUp(outcome, words)}`,
        ...(outcome.refilled.length === 0
          ? []
          : [`${capitalized(listed(outcome.refilled))} can be refilled.`]),
        `${words.cut} gives that up: what was ` +
          'submitted in it, and not answered, has to be submitted again. The log as it is will be kept.',
      ].join('\n')
    case 'repaired': {
      const { refilled, cut, end, isUnloadable, keptDirectory } = outcome
      return [
        ...(isUnloadable ? ['Replaced the files of the log, which Redis could not load.'] : []),
        ...(refilled.length === 0
          ? []
          : [`Refilled ${listed(refilled)} from what the nodes keep.`]),
        ...(cut === null
          ? []
          : [`Cut off ${offsets(cut)}, which no node that answered had applied.`]),
        `The log is whole, from its start to offset ${end}. As it was, it is kept in`,
        keptDirectory,
        'which can be deleted when all goes well.',
        ...words.next,
      ].join('\n')
    }
  }
}

function whatIsGivenUp(
  outcome: RepairOutcome & { readonly kind: 'to-cut' },
  { notApplied, alsoApplied }: Words,
): string {
  const { cut, end, nowMicros } = outcome
  if (cut === null)
    return (
      `Redis cannot load the files of the log. Everything that a node has applied, up to offset ${end}, is there; ` +
      'whether the log held more is unknown.'
    )
  const isOne = cut.from === cut.to
  const it = isOne ? 'it' : 'them'
  const why =
    cut.recordTime === null
      ? `${isOne ? 'is' : 'are'} damaged, and too few nodes have ${it}`
      : `${isOne ? 'lies' : 'lie'} ${describeOffset(cut.recordTime - nowMicros, "this machine's clock")}`
  const sentences = [`${capitalized(offsets(cut))} ${why}.`, `${notApplied} ${it}.`]
  return [...sentences, ...(alsoApplied === undefined ? [] : [alsoApplied])].join(' ')
}

/** Why the log was not repaired, and what to do next. */
function reasonOf(
  refusal: Refusal,
  { logDirectory, isRunning }: { readonly logDirectory: string; readonly isRunning: boolean },
): string {
  const directoryOf = (name: string) => join(dirname(logDirectory), name)
  const stopThen = (work: string) => (isRunning ? `stop the cluster, ${work}` : work)
  const restore = `${capitalized(stopThen(`put a whole copy of ${logDirectory} back`))}; wipe no replica before.`
  switch (refusal.kind) {
    case 'too-few': {
      const [first = ''] = refusal.silent
      return (
        `${namesOf(refusal.silent)} ${refusal.silent.length === 1 ? 'does' : 'do'} not answer, and ` +
        `${refusal.needed} nodes must. Start them, and try again; \`quorumscan logs ${first}.redis\` says more. ` +
        `A node whose files are broken answers, with nothing, once ${directoryOf(first)} is moved away.`
      )
    }
    case 'another-log':
      return (
        `${namesOf(refusal.nodes)} followed another log than the one in ${logDirectory}. ` +
        `${capitalized(stopThen('put the right directory back'))}. If it is lost, move this one away, and try ` +
        'again: the log is then rebuilt if the nodes keep all of it.'
      )
    case 'not-kept':
      return `${offsets(refusal)} cannot be refilled: ${whyNotKept(refusal, 'node')}. ${restore}`
    case 'applied': {
      const { by, needed } = refusal
      const away = stopThen(`move ${namesOf(by.map(directoryOf))} away, and try again`)
      const giveUp = by.includes(VALIDATOR)
        ? "The validator's directory cannot be moved away: it also holds its users, which no node has."
        : `Or give them up: ${away}.`
      return (
        `only ${namesOf(by)} applied ${offsets(refusal)}, and ${needed} nodes must have them to refill them. ` +
        `${restore} ${giveUp}`
      )
    }
    case 'forked':
      return (
        `${whatForked(refusal)} Keep everything: it is evidence. Decide which history holds; then ` +
        `${stopThen(`move the directories of the nodes with another one out of ${dirname(logDirectory)}`)}, and try again.`
      )
    case 'unknown-heads': {
      const [first = ''] = refusal.silent
      return (
        `the end of the log could be cut off, but how much of it ${namesOf(refusal.silent)} applied is unknown, ` +
        `because its Redis does not answer. Start it, and try again; \`quorumscan logs ${first}.redis\` says more.`
      )
    }
  }
}

function whyNotKept(
  { by, needed, from, keptFrom }: Refusal & { readonly kind: 'not-kept' },
  kind: 'node' | 'super-validator',
): string {
  const begin =
    keptFrom !== null && keptFrom > from ? ` (what ${kind}s keep begins at offset ${keptFrom})` : ''
  if (by.length === 0)
    return `${needed} ${kind}s must keep the same there, and none keeps anything${begin}`
  const isKept = by.length === 1 ? `only ${by[0]} keeps anything` : `${namesOf(by)} do not`
  return `${needed} ${kind}s must keep the same there, and ${isKept}${begin}`
}

/** Each version with the members that hold it. */
function whatForked({ at, holders }: Refusal & { readonly kind: 'forked' }): string {
  const versions = holders.map(
    (names, index) => `${namesOf(names)} hold ${index === 0 ? 'one' : 'another'}`,
  )
  return `the synchronizer signed ${holders.length} groups at offset ${at}: ${versions.join(', ')}.`
}

/** As above, for an operator who has the log and nothing else of the network. */
function reasonForOperator(refusal: Refusal): string {
  const restore = 'Restore a backup of the synchronizer.'
  switch (refusal.kind) {
    case 'too-few':
      return (
        `${refusal.needed} super-validators must say what they keep of the log, and no file is of ${namesOf(refusal.silent)}. ` +
        'Ask them for the file that `backup sv --log` writes, and name all files after `--log`.'
      )
    case 'another-log':
      return `${namesOf(refusal.nodes)} followed another log than this one. ${restore}`
    case 'not-kept':
      return `${offsets(refusal)} cannot be refilled: ${whyNotKept(refusal, 'super-validator')}. ${restore}`
    case 'applied':
      return (
        `only ${namesOf(refusal.by)} applied ${offsets(refusal)}, and ${refusal.needed} must have them to refill ` +
        `them. Have the others send what they keep now. If they lack it still: ${restore}`
      )
    case 'forked':
      return (
        `${whatForked(refusal)} Keep everything: it is evidence. Decide which history holds, and leave out the files ` +
        'of the super-validators with another one: they start from scratch.'
      )
    case 'unknown-heads':
      return (
        `the end of the log could be cut off, but no file says how much ${namesOf(refusal.silent)} has applied. Ask for ` +
        'the file that `backup sv --log` writes, and name it after `--log`.'
      )
  }
}

function listed(ranges: readonly OffsetRange[]): string {
  return ranges.map(offsets).join(', ')
}

function offsets({ from, to }: OffsetRange): string {
  return from === to ? `offset ${from}` : `offsets ${from} to ${to}`
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

function namesOf(names: readonly string[]): string {
  return names.join(', ').replace(/, ([^,]*)$/, ' and $1')
}
