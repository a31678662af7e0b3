/** `log repair`: makes a damaged log whole again, or says what to do instead. */

import { dirname, join } from 'node:path'
import { type Clock, describeOffset } from '@quorumscan/base'
import type { OffsetRange, Refusal } from '@quorumscan/log'
import { VALIDATOR } from '../cluster-shape.ts'
import { call, connectControl } from '../control/client.ts'
import { readControlFile } from '../control/control-file.ts'
import { controlOptions } from '../control/control-options.ts'
import { holdControlPlane } from '../control/launch.ts'
import type { DataDirectory } from '../data-directory.ts'
import type { RepairOutcome } from '../log-repair.ts'
import { readGenesis } from './verify.ts'

/** Reading, writing and verifying the largest log of one machine; longer than that work waits for itself. */
const CALL_TIMEOUT_MS = 660_000

/** Works on the running cluster in the data directory, or on one that is stopped, which it leaves so. */
export async function repairLogOf(
  directory: DataDirectory,
  options: { readonly isCutAllowed: boolean; readonly redisServer: string; readonly clock: Clock },
): Promise<{ readonly isWhole: boolean; readonly text: string; readonly json: unknown }> {
  const { isCutAllowed, redisServer, clock } = options
  readGenesis(directory.genesisFile)
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
  const isWhole = outcome.kind === 'whole' || outcome.kind === 'repaired'
  return { isWhole, text: describe(outcome, isRunning), json: outcome }
}

function describe(outcome: RepairOutcome, isRunning: boolean): string {
  switch (outcome.kind) {
    case 'whole':
      return `The log is whole, from its start to offset ${outcome.end}; there is nothing to repair.`
    case 'refused':
      return `Nothing was changed: ${reasonOf(outcome.refusal, outcome.logDirectory)}`
    case 'to-cut':
      return [
        `Nothing was changed yet. ${whatIsGivenUp(outcome)}`,
        ...(outcome.refilled.length === 0
          ? []
          : [`${capitalized(listed(outcome.refilled))} can be refilled.`]),
        `${isRunning ? '`quorumscan down`, then ' : ''}\`quorumscan log repair --cut\` gives that up: what was ` +
          'submitted in it, and not answered, has to be submitted again. The log as it is will be kept.',
      ].join('\n')
    case 'repaired': {
      const { refilled, cut, end, isUnloadable, keptDirectory } = outcome
      return [
        ...(isUnloadable ? ['Made the files of the log anew, which Redis could not load.'] : []),
        ...(refilled.length === 0
          ? []
          : [`Refilled ${listed(refilled)} from what the nodes keep.`]),
        ...(cut === null ? [] : [`Cut off ${offsets(cut)}, which nobody had applied.`]),
        `The log is whole, from its start to offset ${end}. As it was, it is kept in`,
        keptDirectory,
        'which can be deleted when all goes well.',
        ...(isRunning ? [] : ['`quorumscan up` starts the cluster.']),
      ].join('\n')
    }
  }
}

function whatIsGivenUp(outcome: RepairOutcome & { readonly kind: 'to-cut' }): string {
  const { cut, end, nowMicros } = outcome
  if (cut === null)
    return (
      `Redis cannot load the files of the log. All that anybody has applied, up to offset ${end}, is there; ` +
      'whether there was more, nobody knows.'
    )
  const why =
    cut.recordTime === null
      ? 'are damaged, and too few nodes have them'
      : `lie ${describeOffset(cut.recordTime - nowMicros, "this machine's clock")}`
  return `${capitalized(offsets(cut))} ${why}. Nobody has applied them.`
}

/** Why the log was not repaired, and what an operator can do. */
function reasonOf(refusal: Refusal, logDirectory: string): string {
  const directoryOf = (name: string) => join(dirname(logDirectory), name)
  const restore = `Stop the cluster and put a whole copy of ${logDirectory} back; wipe no replica before.`
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
        `${namesOf(refusal.nodes)} have followed another log than the one in ${logDirectory}. Stop the cluster ` +
        'and put the right directory back; or move this one away, and try again: the log is then rebuilt if the ' +
        'nodes keep all of it.'
      )
    case 'not-kept':
      return (
        `${offsets(refusal)} cannot be refilled, because fewer than ${refusal.needed} nodes keep the same of them` +
        `${refusal.keptFrom === null ? '' : ` (what nodes keep begins at offset ${refusal.keptFrom})`}. ${restore}`
      )
    case 'applied': {
      // A validator's directory holds users as well, which nothing brings back.
      const giveUp = refusal.by.includes(VALIDATOR)
        ? ''
        : ` Or give them up: stop the cluster, move ${refusal.by.map(directoryOf).join(' and ')} away, and try again.`
      return (
        `only ${namesOf(refusal.by)} applied ${offsets(refusal)}, and ${refusal.needed} nodes must have them to ` +
        `refill them. ${restore}${giveUp}`
      )
    }
    case 'forked':
      return (
        `the synchronizer signed two groups at offset ${refusal.at}, and enough nodes hold each. Keep everything: ` +
        'it is evidence. Move the directories of the nodes whose history is not to hold away, and try again.'
      )
    case 'unknown-heads':
      return (
        `the end of the log could be cut off, but nobody knows how much of it ${namesOf(refusal.silent)} has ` +
        `applied. Start its Redis, and try again; \`quorumscan logs ${refusal.silent[0]}.redis\` says more.`
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
