/** The parts of a template and of a choice. Pure descriptions: the engine is `transaction.ts`. */

import type { Amount, Contract, ContractId, DamlValue, Micros, PartyId } from '@quorumscan/model'
import type { Genesis } from '@quorumscan/verifier'
import type { Lf } from './lf.ts'
import type { Rules } from './rules.ts'

/** Packages of the ledger (D-31). */
export type PackageName =
  | 'quorumscan-name-service'
  | 'quorumscan-wallet'
  | 'quorumscan-coin'
  | 'quorumscan-dso'

/** A job that is due from `at` (record time, µs) on. */
export type Due = { readonly job: string; readonly at: Micros }

/** An amount of coin in which a party has a stake: of its own, or offered by it or to it. */
export type Stake = { readonly party: PartyId; readonly amount: Amount }

/** The version of the protocol with which every template began that names no other one. */
const FIRST_VERSION = 3

/** An earlier version of a template. Types are erased: `defineNextVersion` pairs the two payloads. */
export type Earlier = {
  readonly template: Template<unknown>
  /** The payload of the earlier version as one of the later. */
  upgrade(payload: unknown): unknown
}

/** One version of a template. It never changes once it was in force in any network. */
export interface Template<P> {
  readonly packageName: PackageName
  readonly module: string
  readonly entity: string
  readonly type: Lf<P>
  /** The version of the protocol from which on contracts of it are created. */
  readonly since: number
  /** Null for the first version of the template. */
  readonly earlier: Earlier | null
  /** The operator that the payload names: `dso == genesis.dso` holds for every contract (D-29). */
  dso(payload: P): PartyId
  signatories(payload: P): readonly PartyId[]
  /** May overlap the signatories; the engine removes those. */
  observers(payload: P): readonly PartyId[]
  /** The `ensure` clause apart from the operator check. */
  ensure(payload: P): boolean
  /** Index keys beyond `party:<entity>:<party>`. */
  keys(payload: P): readonly string[]
  /** The stakes in a contract of it, one for each party: lists by amount have them, with their sum. */
  stakes(payload: P): readonly Stake[]
  due(payload: P, contract: Contract): readonly Due[]
}

/** The required members of a template, and the optional ones; `type` alone determines the type of the payload. */
type TemplateOptions<P> = Partial<Omit<Template<NoInfer<P>>, 'type' | 'earlier'>> &
  Pick<Template<NoInfer<P>>, 'packageName' | 'module' | 'entity' | 'signatories'> & {
    readonly type: Lf<P>
  }

export function defineTemplate<P>(
  options: TemplateOptions<P> &
    (P extends { dso: PartyId } ? unknown : { dso(p: NoInfer<P>): PartyId }),
): Template<P> {
  return {
    since: FIRST_VERSION,
    earlier: null,
    dso: (payload) => (payload as { dso: PartyId }).dso,
    observers: () => [],
    ensure: () => true,
    keys: () => [],
    stakes: () => [],
    due: () => [],
    ...options,
  }
}

/**
 * The next version of a template: with more members, for which `upgrade` gives values to earlier contracts, or with the
 * same type, so that choices can be added to it. Options that are left out stay. Its members include those of the earlier
 * version, so that code that knows the earlier one reads contracts of both.
 */
export function defineNextVersion<Q, P extends Q>(
  earlier: Template<Q>,
  options: { readonly since: number; readonly type: Lf<P>; upgrade(payload: Q): P } & Partial<
    Pick<
      Template<NoInfer<P>>,
      'dso' | 'signatories' | 'observers' | 'ensure' | 'keys' | 'stakes' | 'due'
    >
  >,
): Template<P> {
  const { upgrade, ...changed } = options
  return {
    ...earlier,
    ...changed,
    earlier: {
      // The registry passes payloads of the earlier version only.
      template: earlier as Template<unknown>,
      upgrade: upgrade as (payload: unknown) => unknown,
    },
  }
}

/** An active contract with its payload in native form. */
export type Active<P> = {
  readonly contractId: ContractId
  readonly contract: Contract
  readonly payload: P
}

/** The operations of choices. Ids are of active contracts, those of this transaction included. */
export interface Transaction {
  /** Record time of the entry. */
  readonly now: Micros
  /** The rules in force for the entry. */
  readonly rules: Rules
  readonly genesis: Genesis
  readonly genesisHash: string
  is(template: Template<unknown>, id: ContractId): boolean
  /** @throws {Refusal} If the contract is not active or not of the template. */
  fetch<P>(template: Template<P>, id: ContractId): Active<P>
  /** The template's active contracts under an index key, in order of id, new ones last. */
  byKey<P>(template: Template<P>, key: string): readonly Active<P>[]
  countByKey(key: string): number
  isPartyAllocated(party: PartyId): boolean
  create<P>(template: Template<P>, payload: P): ContractId
  exercise<P, A, R>(choice: Choice<P, A, R>, id: ContractId, argument: A): R
  /** The built-in choice Archive: needs all signatories. */
  archive(template: Template<unknown>, id: ContractId): void
}

export interface Choice<P, A, R> {
  readonly template: Template<P>
  readonly name: string
  readonly consuming: boolean
  /**
   * Whether the log accepts it while it is full: it frees space, or completes or prolongs what exists and adds at most a few
   * contracts that another choice removes. What it adds is not counted either (`growth.ts`), so it never changes for a
   * choice that a version of the protocol has.
   */
  readonly worksWhenFull?: true
  readonly argument: Lf<A>
  readonly result: Lf<R>
  /**
   * Refuses an argument by its content alone, for example the length of its lists, before any state is read.
   *
   * @throws {Refusal} If no state could make it acceptable.
   */
  checkArgument?(argument: A, rules: Rules): void
  /** The parties whose authority the exercise needs; at least one. */
  controllers(payload: P, argument: A): readonly PartyId[]
  /** Checks and effects. Its authority is that of the signatories and of the controllers. */
  run(tx: Transaction, self: Active<P>, argument: A): R
}

export function defineChoice<P, A, R>(
  template: Template<P>,
  name: string,
  options: Omit<Choice<P, A, R>, 'template' | 'name'>,
): Choice<P, A, R> {
  return { template, name, ...options }
}

/** Both lists are sorted, and no party is in both. */
export function stakeholdersOf<P>(
  template: Template<P>,
  payload: P,
): Pick<Contract, 'signatories' | 'observers'> {
  const signatories = sortedUnique(template.signatories(payload))
  const observers = sortedUnique(template.observers(payload))
  return {
    signatories,
    observers: observers.filter((observer) => !signatories.includes(observer)),
  }
}

/** Identifiers are ASCII, so that code units order them as bytes do. */
export function sortedUnique(parties: readonly PartyId[]): readonly PartyId[] {
  return parties.length < 2 ? parties : [...new Set(parties)].sort()
}

/** `#<package name>:<Module>:<Entity>`, as commands name it. */
export function templateRef(template: Template<unknown>): string {
  return `#${template.packageName}:${template.module}:${template.entity}`
}

/** Whether the contract, or the contract of an event, was created from this template, in any version of it. */
export function isOf(template: Template<unknown>, contract: Pick<Contract, 'templateId'>): boolean {
  return contract.templateId.endsWith(`:${template.module}:${template.entity}`)
}

const decodedPayloads = new WeakMap<object, unknown>()

/** The payload in native form, as the version of the template has it with which the contract was created. */
export function ownPayloadOf<P>(template: Template<P>, contract: Contract): P {
  const known = decodedPayloads.get(contract.payload)
  // The payload object belongs to one contract, so what is cached for it has the type of its template.
  if (known !== undefined) return known as P
  const payload = template.type.decode(contract.payload, [])
  decodedPayloads.set(contract.payload, payload)
  return payload
}

/** Stores the native form of a payload that was just encoded, so that it need not be decoded. */
export function rememberPayload<P>(contract: Contract, payload: P): void {
  decodedPayloads.set(contract.payload, payload)
}

/** The wire form of a payload: records encode to objects. */
export function encodePayload<P>(
  template: Template<P>,
  payload: P,
): { readonly [field: string]: DamlValue } {
  return template.type.encode(payload) as { readonly [field: string]: DamlValue }
}
