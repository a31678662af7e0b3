/** Plans the changes of a batch to `names` and `documents`, and to the sets that find names. */
import { assert, concatBytes, utf8 } from '@quorumscan/base'
import {
  ansEntry,
  type ContractCodec,
  isOf,
  payloadOf,
  type StateDelta,
  svPartyOf,
} from '@quorumscan/ledger'
import type { Contract, PartyId } from '@quorumscan/model'
import { DSO_ENTRY_NAME, type Genesis, memberSetOf, svEntryName } from '@quorumscan/verifier'
import type { CommandSink } from './commands.ts'
import { type EntryBody, encodeEntryBody } from './entry-body.ts'
import { tagOf } from './intern.ts'
import { KEYS } from './keys.ts'
import { entityOf, type Step } from './step.ts'
import { encodeEnded, encodeVersions, type Version } from './versions.ts'

/** Versions by name and by entity, of every name and document that the steps touch. */
export type StoredVersions = Readonly<
  Record<'names' | 'documents', ReadonlyMap<string, readonly Version[]>>
>

/** Templates of which lookups need the state at an offset. */
export const DOCUMENT_ENTITIES = new Set([
  'DsoRules',
  'AnsRules',
  'CoinRules',
  'OpenMiningRound',
  'ScanAddress',
])

/** The field with the versions of a contract, for lookups. Null: no lookup reads contracts of its template. */
export function versionFieldOf(contract: Contract) {
  if (isOf(ansEntry, contract))
    return { kind: 'names', field: payloadOf(ansEntry, contract).name } as const
  const entity = entityOf(contract)
  return DOCUMENT_ENTITIES.has(entity) ? ({ kind: 'documents', field: entity } as const) : null
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
      if (found?.kind === 'names') begun.push(beginEntry(versions.names, contract))
      else if (found !== null)
        begin(versions.documents, found.field, documentVersion(contract, codec.encode(contract)))
    }
    return endedCount
  })
  putNames(commands, versions.names, begun)
  putVersions(commands, 'documents', versions.documents)
  return endedCounts
}

/** The synthetic entries as ordinary versions. */
export function planSyntheticEntries(commands: CommandSink, entries: readonly EntryFacts[]): void {
  const names = new Map(entries.map((entry) => [entry.name, [versionOf(entry, 0)]]))
  putNames(commands, names, entries)
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

/** The fields of an entry that lookups return and the state tree proves. */
export type EntryFacts = Omit<EntryBody, 'url' | 'description'> & { readonly body: Uint8Array }

/**
 * D-2: the operator's entry, and one for each super-validator. They exist from offset 0, without a contract. Members
 * never change (D-34).
 */
export function syntheticEntries(genesis: Genesis): readonly EntryFacts[] {
  const empty = { contractId: null, url: '', description: '', expiresAt: null }
  return [
    factsOf({ ...empty, name: DSO_ENTRY_NAME, user: genesis.dso }),
    ...memberSetOf(genesis).members.map((node) =>
      factsOf({ ...empty, name: svEntryName(node.name), user: svPartyOf(node) }),
    ),
  ]
}

export function entryFacts(contract: Contract): EntryFacts {
  return factsOf({ contractId: contract.contractId, ...payloadOf(ansEntry, contract) })
}

function factsOf(entry: EntryBody): EntryFacts {
  const { contractId, user, name, expiresAt } = entry
  return { contractId, user, name, expiresAt, body: encodeEntryBody(entry) }
}

function versionOf({ expiresAt, body }: EntryFacts, from: number): Version {
  return { from, to: null, expires: expiresAt, body }
}

export function documentVersion({ offset }: Contract, body: Uint8Array): Version {
  return { from: offset, to: null, expires: null, body }
}

/** Adds the version that begins with an entry. */
export function beginEntry(names: Map<string, Version[]>, contract: Contract): EntryFacts {
  const facts = entryFacts(contract)
  begin(names, facts.name, versionOf(facts, contract.offset))
  return facts
}

/** The newest first. */
function begin(all: Map<string, Version[]>, field: string, version: Version): void {
  const versions = [version, ...(all.get(field) ?? [])].sort((a, b) => b.from - a.from)
  all.set(field, versions)
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
