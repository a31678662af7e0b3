/** What a batch changes in `names` and `documents`, and in the sets that find names. */
import { assert, concatBytes, utf8 } from '@quorumscan/base'
import type { ContractCodec, StateDelta } from '@quorumscan/ledger'
import { type Contract, type Offset, type PartyId, parseTime } from '@quorumscan/model'
import { type Command, cutCommand } from '../storage/commands.ts'
import { type EndedVersion, encodeEnded } from '../storage/ended.ts'
import { type EntryBody, encodeEntryBody } from '../storage/entry-body.ts'
import { tagOf } from '../storage/intern.ts'
import { KEYS } from '../storage/keys.ts'
import { encodeVersions, type Version } from '../storage/versions.ts'
import { entityOf, type Step } from './step.ts'

/** Versions by name and by entity, of every name and document that the steps touch. */
export type StoredVersions = {
  readonly names: ReadonlyMap<string, readonly Version[]>
  readonly documents: ReadonlyMap<string, readonly Version[]>
}

/** An entry of the operator or of a super-validator (D-2): there from offset 0, without a contract. */
export type SyntheticEntry = { readonly name: string; readonly party: PartyId }

/** Templates of which lookups need the state at an offset. */
export const DOCUMENT_ENTITIES = new Set([
  'DsoRules',
  'AnsRules',
  'CoinRules',
  'OpenMiningRound',
  'ScanAddress',
])

export function touchedVersions(steps: readonly Step[]): { names: string[]; documents: string[] } {
  const names = new Set<string>()
  const documents = new Set<string>()
  for (const { delta } of steps)
    for (const contract of [...delta.created, ...delta.archived]) {
      const entity = entityOf(contract)
      if (entity === 'AnsEntry') names.add(textOf(contract, 'name'))
      else if (DOCUMENT_ENTITIES.has(entity)) documents.add(entity)
    }
  return { names: [...names], documents: [...documents] }
}

/** What a step changes of them. */
type VersionStep = Pick<Step, 'offset'> & {
  readonly delta: Pick<StateDelta, 'created' | 'archived'>
}

/** `endedCounts[i]` is how many versions ended with step i. */
export function planVersions(
  steps: readonly VersionStep[],
  { stored, codec }: { readonly stored: StoredVersions; readonly codec: ContractCodec },
): { commands: Command[]; endedCounts: number[] } {
  const names = copyOf(stored.names)
  const documents = copyOf(stored.documents)
  const entries: EntryFacts[] = []
  const ended: EndedVersion[] = []
  const endedCounts: number[] = []

  for (const step of steps) {
    const endedBefore = ended.length
    for (const contract of step.delta.archived) {
      const entity = entityOf(contract)
      if (entity === 'AnsEntry') {
        const name = textOf(contract, 'name')
        end(names, name, step.offset, (version) => version.from === contract.offset)
        ended.push({ to: step.offset, kind: 'names', field: name })
      } else if (DOCUMENT_ENTITIES.has(entity)) {
        const isOf = (version: Version) =>
          codec.decode(version.body).contractId === contract.contractId
        end(documents, entity, step.offset, isOf)
        ended.push({ to: step.offset, kind: 'documents', field: entity })
      }
    }
    for (const contract of step.delta.created) {
      const entity = entityOf(contract)
      if (entity === 'AnsEntry') {
        const facts = entryFacts(contract)
        beginEntry(names, facts, contract.offset)
        entries.push(facts)
      } else if (DOCUMENT_ENTITIES.has(entity)) {
        const body = codec.encode(contract)
        begin(documents, entity, { from: contract.offset, to: null, expires: null, body })
      }
    }
    endedCounts.push(ended.length - endedBefore)
  }

  return {
    commands: [
      ...putNames(names, entries),
      ...putVersions('documents', documents),
      ...cutCommand(
        'RPUSH',
        KEYS.ended,
        ended.map((version) => [encodeEnded(version)]),
      ),
    ],
    endedCounts,
  }
}

/** The synthetic entries as ordinary versions. */
export function planSyntheticEntries(entries: readonly SyntheticEntry[]): Command[] {
  const names = new Map(entries.map((entry) => [entry.name, [syntheticVersion(entry)]]))
  return putNames(names, entries.map(syntheticFacts))
}

/** All versions of each name that changed, and the entries that have begun. */
export function putNames(
  names: ReadonlyMap<string, readonly Version[]>,
  begun: readonly Pick<EntryFacts, 'name' | 'user'>[],
): Command[] {
  return [
    ...putVersions('names', names),
    ...cutCommand(
      'ZADD',
      KEYS.lex,
      [...names.keys()].map((name) => [0, name]),
    ),
    ...cutCommand(
      'ZADD',
      KEYS.parties,
      begun.map(({ user, name }) => [0, partyMember(user, name)]),
    ),
  ]
}

/** A member of `parties`. */
export function partyMember(party: PartyId, name: string): Uint8Array {
  return concatBytes([tagOf(party), utf8(name)])
}

export function putVersions(
  key: 'names' | 'documents',
  changed: ReadonlyMap<string, readonly Version[]>,
): Command[] {
  return cutCommand(
    'HSET',
    KEYS[key],
    [...changed].map(([field, versions]) => [field, encodeVersions(versions)]),
  )
}

/** What lookups say of an entry, and the state tree proves. */
export type EntryFacts = Omit<EntryBody, 'url' | 'description'> & { readonly body: Uint8Array }

export function syntheticFacts({ name, party }: SyntheticEntry): EntryFacts {
  return factsOf({
    contractId: null,
    user: party,
    name,
    url: '',
    description: '',
    expiresAt: null,
  })
}

export function entryFacts(contract: Contract): EntryFacts {
  const expiresAt = parseTime(textOf(contract, 'expiresAt'))
  assert(expiresAt !== undefined, 'an AnsEntry expires at an instant')
  return factsOf({
    contractId: contract.contractId,
    user: textOf(contract, 'user'),
    name: textOf(contract, 'name'),
    url: textOf(contract, 'url'),
    description: textOf(contract, 'description'),
    expiresAt,
  })
}

function factsOf(entry: EntryBody): EntryFacts {
  const { contractId, user, name, expiresAt } = entry
  return { contractId, user, name, expiresAt, body: encodeEntryBody(entry) }
}

export function syntheticVersion(entry: SyntheticEntry): Version {
  return versionOf(syntheticFacts(entry), 0)
}

function versionOf({ expiresAt, body }: EntryFacts, from: number): Version {
  return { from, to: null, expires: expiresAt, body }
}

/** Adds the version that begins with an entry. */
export function beginEntry(names: Map<string, Version[]>, facts: EntryFacts, from: Offset): void {
  begin(names, facts.name, versionOf(facts, from))
}

/** The newest first. */
function begin(all: Map<string, Version[]>, field: string, version: Version): void {
  const versions = [version, ...(all.get(field) ?? [])]
  all.set(
    field,
    versions.sort((a, b) => b.from - a.from),
  )
}

function end(
  all: Map<string, Version[]>,
  field: string,
  to: number,
  isSame: (version: Version) => boolean,
): void {
  const versions = all.get(field) ?? []
  const index = versions.findIndex((version) => version.to === null && isSame(version))
  const version = versions[index]
  assert(version !== undefined, `the archived contract has a version in ${field}`)
  versions[index] = { ...version, to }
}

function copyOf(stored: ReadonlyMap<string, readonly Version[]>): Map<string, Version[]> {
  return new Map([...stored].map(([field, versions]) => [field, [...versions]]))
}

function textOf(contract: Contract, field: string): string {
  const value = contract.payload[field]
  assert(typeof value === 'string', `${field} of an AnsEntry is a text`)
  return value
}
