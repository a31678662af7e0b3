/** The facts that follow from a submission and the rules alone, without the state. */
import { sha256Hex, utf8 } from '@quorumscan/base'
import type { ContractId, PartyId, Submission } from '@quorumscan/model'
import { participantOfKey, partyIdOf, partyParticipant } from '@quorumscan/model'
import { canonicalJson } from '@quorumscan/verifier'
import { type PreparedCommand, prepareCommands } from './command-preparation.ts'
import { Refusal } from './refusal.ts'
import { REGISTRY } from './registry.ts'
import type { Rules } from './rules.ts'
import type { CellKey } from './state.ts'

export type Facts = {
  readonly rules: Rules
  readonly prepared: readonly PreparedCommand[] | Refusal
  readonly changeId: string
  /** D-30: a participant submits only for its own parties. */
  readonly isBound: boolean
  /** All parties of actAs and readAs. */
  readonly parties: ReadonlySet<PartyId>
  /** Every contract that the commands name. */
  readonly mentioned: ReadonlySet<ContractId>
  /** Cells that every entry reads, none of them a contract. */
  readonly keys: readonly CellKey[]
  /** Cells that are read once no cell of `keys` refuses the entry. */
  readonly contractKeys: readonly CellKey[]
}

const factsBySubmission = new WeakMap<Submission, Facts>()

/** Computed once. Interpretation of an entry repeats after its cells were loaded. */
export function factsOf(submission: Submission, rules: Rules): Facts {
  const known = factsBySubmission.get(submission)
  if (known?.rules === rules) return known
  const participant = participantOfKey(submission.participant)
  const parties = new Set([...submission.actAs, ...submission.readAs])
  const changeId = changeIdOf(submission)
  const { prepared, mentioned } = prepareBounded(submission, rules)
  const facts: Facts = {
    rules,
    prepared,
    changeId,
    isBound: [...parties].every((party) => partyParticipant(party) === participant),
    parties,
    mentioned,
    keys:
      prepared instanceof Refusal
        ? []
        : [{ kind: 'change', id: changeId }, ...partyKeys(submission, parties), ...COMMON_KEYS],
    contractKeys: [
      ...[...mentioned].map((id): CellKey => ({ kind: 'contract', id })),
      ...COMMON_KEYS,
    ],
  }
  factsBySubmission.set(submission, facts)
  return facts
}

/**
 * Checks the commands without state, cheapest checks first: a submission that is too large in any way is refused
 * before any value of it is decoded or a cell is read.
 */
function prepareBounded(submission: Submission, rules: Rules) {
  const prepared = tooManyItems(submission, rules) ?? prepareCommands(submission.commands, rules)
  const mentioned = prepared instanceof Refusal ? new Set<ContractId>() : mentionedIds(prepared)
  if (mentioned.size <= rules.contractsNamedMax) return { prepared, mentioned }
  return { prepared: tooMany(`names at most ${rules.contractsNamedMax} contracts`), mentioned }
}

/**
 * The number of contracts that a submission makes every replica read by these rules; and the reason why every replica
 * would refuse it for its size, whatever the state is, or null.
 */
export function countContracts(
  submission: Submission,
  rules: Rules,
): {
  readonly contractCount: number
  readonly refusal: Refusal | null
} {
  const { mentioned, prepared } = factsOf(submission, rules)
  const isTooLarge = prepared instanceof Refusal && prepared.code === 'LIMIT_EXCEEDED'
  return { contractCount: mentioned.size, refusal: isTooLarge ? prepared : null }
}

/**
 * Whether the effects of a submission may add to the state, by its commands alone: anything but archivals and choices that
 * `worksWhenFull`. A full log refuses such submissions.
 */
export function addsToState({ commands }: Submission, { version }: Rules): boolean {
  return !commands.every((command) => {
    if (command.kind !== 'exercise') return false
    if (command.choice === 'Archive') return true
    const template = REGISTRY.findTemplate(command.template, version)
    return template && REGISTRY.findChoice(template, command.choice)?.worksWhenFull
  })
}

/** Nearly every choice reads these; loading them at once saves a round trip. */
const COMMON_KEYS: readonly CellKey[] = ['singleton:AnsRules', 'singleton:CoinRules', 'rounds'].map(
  (key) => ({ kind: 'index', key }),
)

function tooManyItems(submission: Submission, rules: Rules): Refusal | null {
  const { commands, disclosed, actAs, readAs } = submission
  const { commandsMax, disclosedMax, submittersMax } = rules
  if (commands.length > commandsMax || disclosed.length > disclosedMax)
    return tooMany(`has at most ${commandsMax} commands and ${disclosedMax} disclosed contracts`)
  return actAs.length + readAs.length > submittersMax
    ? tooMany(`names at most ${submittersMax} parties`)
    : null
}

function tooMany(rule: string): Refusal {
  return new Refusal('LIMIT_EXCEEDED', `a submission ${rule}`)
}

/** The triple (user, set of actAs, command id), within its participant; as a hash, hex. */
export function changeIdOf(
  submission: Pick<Submission, 'participant' | 'userId' | 'actAs' | 'commandId'>,
): string {
  const { participant, userId, actAs, commandId } = submission
  const change = { participant, userId, actAs: [...actAs].sort(), commandId }
  return sha256Hex(utf8(canonicalJson(change)))
}

function partyKeys(submission: Submission, parties: ReadonlySet<PartyId>): readonly CellKey[] {
  const [first] = submission.commands
  const hosted =
    first?.kind === 'allocateParty' ? partyIdOf(first.hint, submission.participant) : undefined
  return [...parties, ...(hosted === undefined ? [] : [hosted])].map((id) => ({
    kind: 'party',
    id,
  }))
}

function mentionedIds(prepared: readonly PreparedCommand[]): ReadonlySet<ContractId> {
  const ids = new Set<ContractId>()
  for (const command of prepared)
    if (command.kind !== 'allocateParty') for (const id of command.contractIds) ids.add(id)
  return ids
}
