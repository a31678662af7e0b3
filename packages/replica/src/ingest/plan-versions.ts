/** What a batch changes in `names` and `documents`, and in the sets that find names. */
import { assert, concatBytes, utf8 } from '@quorumscan/base'
import type { ContractCodec, StateDelta } from '@quorumscan/ledger'
import { type Contract, type Offset, type PartyId, parseTime } from '@quorumscan/model'
import type { CommandSink } from '../storage/commands.ts'
import { type EntryBody, encodeEntryBody } from '../storage/entry-body.ts'
import { tagOf } from '../storage/intern.ts'
import { KEYS } from '../storage/keys.ts'
import { encodeEnded, encodeVersions, type Version } from '../storage/versions.ts'
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

/** Where lookups find the versions of a contract. */
type VersionField = { readonly kind: 'names' | 'documents'; readonly field: string }

/** Null where no lookup reads contracts of its template. */
export function versionFieldOf(contract: Contract): VersionField | null {
  const entity = entityOf(contract)
  if (entity === 'AnsEntry') return { kind: 'names', field: textOf(contract, 'name') }
  return DOCUMENT_ENTITIES.has(entity) ? { kind: 'documents', field: entity } : null
}

export function touchedVersions(steps: readonly Step[]): { names: string[]; documents: string[] } {
  const touched = { names: new Set<string>(), documents: new Set<string>() }
  for (const { delta } of steps)
    for (const contract of [...delta.created, ...delta.archived]) {
      const found = versionFieldOf(contract)
      if (found !== null) touched[found.kind].add(found.field)
    }
  return { names: [...touched.names], documents: [...touched.documents] }
}

/** Returns how many versions ended with each step. */
export function planVersions(
  commands: CommandSink,
  steps: readonly (Pick<Step, 'offset'> & {
    readonly delta: Pick<StateDelta, 'created' | 'archived'>
  })[],
  { stored, codec }: { readonly stored: StoredVersions; readonly codec: ContractCodec },
): number[] {
  const versions = { names: copyOf(stored.names), documents: copyOf(stored.documents) }
  const begun: EntryFacts[] = []
  const endedCounts = steps.map(({ offset, delta }) => {
    let endedCount = 0
    for (const contract of delta.archived) {
      const found = versionFieldOf(contract)
      if (found === null) continue
      const isSame = ({ from, body }: Version) =>
        found.kind === 'names'
          ? from === contract.offset
          : codec.decode(body).contractId === contract.contractId
      end(versions[found.kind], found.field, offset, isSame)
      commands.add('RPUSH', KEYS.ended, encodeEnded({ ...found, to: offset }))
      endedCount++
    }
    for (const contract of delta.created) {
      const found = versionFieldOf(contract)
      if (found?.kind === 'names') {
        const facts = entryFacts(contract)
        beginEntry(versions.names, facts, contract.offset)
        begun.push(facts)
      } else if (found !== null) {
        const body = codec.encode(contract)
        const version = { from: contract.offset, to: null, expires: null, body }
        begin(versions.documents, found.field, version)
      }
    }
    return endedCount
  })
  putNames(commands, versions.names, begun)
  putVersions(commands, 'documents', versions.documents)
  return endedCounts
}

/** The synthetic entries as ordinary versions. */
export function planSyntheticEntries(
  commands: CommandSink,
  entries: readonly SyntheticEntry[],
): void {
  const names = new Map(entries.map((entry) => [entry.name, [syntheticVersion(entry)]]))
  putNames(commands, names, entries.map(syntheticFacts))
}

/** All versions of each name that changed, and the entries that have begun. */
export function putNames(
  commands: CommandSink,
  names: ReadonlyMap<string, readonly Version[]>,
  begun: readonly Pick<EntryFacts, 'name' | 'user'>[],
): void {
  putVersions(commands, 'names', names)
  for (const name of names.keys()) commands.add('ZADD', KEYS.lex, 0, name)
  for (const { user, name } of begun) commands.add('ZADD', KEYS.parties, 0, partyMember(user, name))
}

/** A member of `parties`. */
export function partyMember(party: PartyId, name: string): Uint8Array {
  return concatBytes([tagOf(party), utf8(name)])
}

export function putVersions(
  commands: CommandSink,
  key: 'names' | 'documents',
  changed: ReadonlyMap<string, readonly Version[]>,
): void {
  for (const [field, versions] of changed)
    commands.add('HSET', KEYS[key], field, encodeVersions(versions))
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
