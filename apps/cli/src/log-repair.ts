/** `log repair`: the report of a repair, or of why it was refused and what to do instead. */

import type { OffsetRange, RepairRefusal } from '@quorumscan/log'
import type { RepairOutcome } from '@quorumscan/operator'
import { repairOperatorLog } from '@quorumscan/operator/log'
import { describeClockSkew } from '@quorumscan/runtime'
import type { LogReport } from './rig.ts'

/** Sentences that differ between a cluster and the operator of a synchronizer. */
export type RepairTexts = {
  readonly reasonOf: (outcome: RepairOutcome & { readonly kind: 'refused' }) => string
  /** The start of a sentence about the entries to cut, which ends in `it` or `them`. */
  readonly notApplied: string
  readonly alsoApplied?: string
  /** The command that cuts the log, as it is typed. */
  readonly cut: string
  /** Further commands after the repair. */
  readonly next: readonly string[]
}

/** Works on the log of an operator's synchronizer, which is stopped. */
export async function repairLogOfOperator(options: Parameters<typeof repairOperatorLog>[0]) {
  return reportRepair(await repairOperatorLog(options), {
    reasonOf: ({ refusal }) => reasonForOperator(refusal),
    notApplied: 'According to the files, no super-validator had applied',
    alsoApplied:
      'A validator that applied more reports LOG_REGRESSED. Restore it from its own backup.',
    cut: 'The same command with --cut',
    next: ['`quorumscan run synchronizer` starts it.'],
  })
}

/** The outcome of a repair, as text. */
export function reportRepair(outcome: RepairOutcome, words: RepairTexts): LogReport {
  const isWhole = outcome.kind === 'whole' || outcome.kind === 'repaired'
  return { isWhole, text: describe(outcome, words).join('\n'), json: outcome }
}

function describe(outcome: RepairOutcome, words: RepairTexts): string[] {
  if (outcome.kind === 'whole')
    return [
      `The log is whole, from its start to offset ${outcome.end}; there is nothing to repair.`,
    ]
  if (outcome.kind === 'refused') return [`Nothing was changed: ${words.reasonOf(outcome)}`]
  const { refilled, cut, end, isUnloadable } = outcome
  const ranges = refilled.map(offsets).join(', ')
  if (outcome.kind === 'to-cut')
    return [
      `Nothing was changed yet. ${describeLoss(outcome, words)}`,
      ...(ranges === '' ? [] : [`${capitalized(ranges)} can be refilled.`]),
      `${words.cut} drops all entries after offset ${end}. Submissions in them that were not answered ` +
        'must be submitted again. The current log is kept.',
    ]
  return [
    ...(isUnloadable ? ['Replaced the files of the log, which Redis could not load.'] : []),
    ...(ranges === '' ? [] : [`Refilled ${ranges} from the groups that the nodes stored.`]),
    ...(cut === null ? [] : [`Cut off ${offsets(cut)}, which no node that answered had applied.`]),
    `The log is whole up to offset ${end}. The damaged log is in`,
    outcome.backupDirectory,
    'Delete it once the network works.',
    ...words.next,
  ]
}

function describeLoss(
  outcome: RepairOutcome & { readonly kind: 'to-cut' },
  { notApplied, alsoApplied }: RepairTexts,
): string {
  const { cut, end, isEmpty, nowMicros } = outcome
  if (isEmpty)
    return (
      'The log has no entries. If its files are in another directory or on a disk that is not mounted, restore them ' +
      `instead. All entries that a node applied, up to offset ${end}, are available; whether the log had more is unknown.`
    )
  if (cut === null)
    return (
      'Redis cannot load the files of the log beyond a damage. All entries that a node applied, up to offset ' +
      `${end}, are available; whether the log had more is unknown.`
    )
  const isOne = cut.from === cut.to
  const it = isOne ? 'it' : 'them'
  const why =
    cut.recordTime === null
      ? `${isOne ? 'is' : 'are'} damaged, and too few nodes have ${it}`
      : `${isOne ? 'lies' : 'lie'} ${describeClockSkew(cut.recordTime - nowMicros, "this machine's clock")}`
  const sentences = [`${capitalized(offsets(cut))} ${why}.`, `${notApplied} ${it}.`]
  return [...sentences, ...(alsoApplied === undefined ? [] : [alsoApplied])].join(' ')
}

/** Why entries cannot be refilled: too few nodes stored them. */
export function whyNotStored(
  { by, needed, from, storedFrom }: RepairRefusal & { readonly kind: 'not-stored' },
  kind: 'node' | 'super-validator',
): string {
  const begin =
    storedFrom !== null && storedFrom > from ? ` (oldest stored offset: ${storedFrom})` : ''
  const those =
    by.length < needed ? `only ${namesOf(by)} stored any` : `those of ${namesOf(by)} differ`
  const found = by.length === 0 ? `no ${kind} stored any` : those
  return `${needed} ${kind}s must have stored the same groups there; ${found}${begin}`
}

/** Each version with the members that hold it. */
export function whatForked({ at, holders }: RepairRefusal & { readonly kind: 'forked' }): string {
  const versions = holders.map(
    (names, index) => `${namesOf(names)} hold ${index === 0 ? 'one' : 'another'}`,
  )
  return `the synchronizer signed ${holders.length} groups at offset ${at}: ${versions.join(', ')}.`
}

/** Why the log was not repaired, and what an operator who has nothing but the log can do. */
function reasonForOperator(refusal: RepairRefusal): string {
  const restore = 'Restore a backup of the synchronizer.'
  switch (refusal.kind) {
    case 'too-few':
      return (
        `${refusal.needed} super-validators must provide their stored groups; the files of ${namesOf(refusal.silent)} are missing. ` +
        'Ask them for the file that `backup sv --log` writes, and name all files after `--log`.'
      )
    case 'another-log':
      return `${namesOf(refusal.nodes)} followed another log than this one. ${restore}`
    case 'not-stored':
      return `${offsets(refusal)} cannot be refilled: ${whyNotStored(refusal, 'super-validator')}. ${restore}`
    case 'applied':
      return (
        `only ${namesOf(refusal.by)} applied ${offsets(refusal)}, and ${refusal.needed} must have them to refill ` +
        `them. Ask the others for their stored groups. If those lack them too: ${restore}`
      )
    case 'forked':
      return (
        `${whatForked(refusal)} Keep everything: it is evidence. Decide which history holds, and leave out the files ` +
        'of the super-validators with another one: they start from scratch.'
      )
    case 'unknown-heads':
      return (
        `the end of the log could be cut off, but no file reports how much ${namesOf(refusal.silent)} has applied. Ask for ` +
        'the file that `backup sv --log` writes, and name it after `--log`.'
      )
  }
}

export function offsets({ from, to }: OffsetRange): string {
  return from === to ? `offset ${from}` : `offsets ${from} to ${to}`
}

export function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

export function namesOf(names: readonly string[]): string {
  return names.join(', ').replace(/, ([^,]*)$/, ' and $1')
}
