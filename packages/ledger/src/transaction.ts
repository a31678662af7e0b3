/**
 * One transaction in the making: reads through the view, collects events, and lets nothing be created,
 * exercised or archived without the authority that it needs. Choices see it as `Transaction`.
 *
 * Authority is that of Daml: an exercise needs the authority of its controllers; its body has theirs and that of
 * the signatories. The operator signs every contract, so no submission creates one directly (D-29).
 * A submission sees the contracts of its parties, disclosed contracts (whose blob hashes to the id), rules and rounds.
 * Super-validators sign `DsoRules` and see what the operator sees.
 * A contract that was archived before is CONTRACT_NOT_FOUND; CONTRACT_CONSUMED means twice in one transaction.
 */
import { assert } from '@quorumscan/base'
import type {
  Contract,
  ContractId,
  CreatedEvent,
  DamlValue,
  ExercisedEvent,
  LedgerEvent,
  Micros,
  Offset,
  PartyId,
  TemplateId,
} from '@quorumscan/model'
import type { Genesis } from '@quorumscan/verifier'
import { contractIdOf, rememberPayloadText } from './contract-id.ts'
import { keysOf } from './contract-keys.ts'
import { MissingCells, refuse } from './refusal.ts'
import { REGISTRY, type Registry } from './registry.ts'
import type { Rules } from './rules.ts'
import type { CellKey, StateView } from './state.ts'
import {
  type Active,
  type Choice,
  encodePayload,
  isOf,
  rememberPayload,
  sortedUnique,
  stakeholdersOf,
  type Template,
  type Transaction,
} from './template.ts'

export type FinishedTransaction = {
  readonly events: readonly LedgerEvent[]
  readonly created: readonly Contract[]
  readonly archived: readonly Contract[]
}

export type TransactionInput = {
  readonly rules: Rules
  readonly view: StateView
  readonly genesis: Genesis
  readonly genesisHash: string
  readonly offset: Offset
  readonly recordTime: Micros
  readonly updateId: string
  /** Parties whose authority the submission carries. */
  readonly authority: readonly PartyId[]
  readonly registry?: Registry
}

type OpenEvent = CreatedEvent | { -readonly [K in keyof ExercisedEvent]: ExercisedEvent[K] }

export class LedgerTransaction implements Transaction {
  readonly now: Micros
  readonly rules: Rules
  readonly genesis: Genesis
  readonly genesisHash: string
  readonly #input: TransactionInput
  readonly #registry: Registry
  readonly #events: OpenEvent[] = []
  readonly #created = new Map<ContractId, Contract>()
  readonly #createdByKey = new Map<string, ContractId[]>()
  readonly #archived: Contract[] = []
  readonly #consumed = new Set<ContractId>()
  #authority: ReadonlySet<PartyId>

  constructor(input: TransactionInput) {
    this.now = input.recordTime
    this.rules = input.rules
    this.genesis = input.genesis
    this.genesisHash = input.genesisHash
    this.#input = input
    this.#registry = input.registry ?? REGISTRY
    this.#authority = new Set(input.authority)
  }

  finish(): FinishedTransaction {
    return {
      events: this.#events,
      created: [...this.#created.values()].filter((c) => !this.#consumed.has(c.contractId)),
      archived: this.#archived,
    }
  }

  /** @throws {Refusal} If the contract is not active. */
  active(id: ContractId): Contract {
    if (this.#consumed.has(id)) refuse('CONTRACT_CONSUMED', `the contract ${id} is used twice`)
    const contract = this.#created.get(id) ?? this.#stored(id)
    return contract ?? refuse('CONTRACT_NOT_FOUND', `no active contract has the id ${id}`)
  }

  is(template: Template<unknown>, id: ContractId): boolean {
    return isOf(template, this.active(id))
  }

  fetch<P>(template: Template<P>, id: ContractId): Active<P> {
    const contract = this.active(id)
    if (!isOf(template, contract))
      refuse('WRONGLY_TYPED_CONTRACT', `the contract ${id} is no ${template.entity}`)
    return { contractId: id, contract, payload: this.#registry.payloadOf(template, contract) }
  }

  byKey<P>(template: Template<P>, key: string): readonly Active<P>[] {
    const ids = this.#idsByKey(key)
    const missing: CellKey[] = []
    const found: Active<P>[] = []
    for (const id of ids) {
      const contract = this.#created.get(id) ?? this.#input.view.contract(id)
      if (contract === undefined) missing.push({ kind: 'contract', id })
      else {
        assert(contract !== null, 'an index lists active contracts only')
        if (isOf(template, contract))
          found.push({
            contractId: id,
            contract,
            payload: this.#registry.payloadOf(template, contract),
          })
      }
    }
    if (missing.length > 0) throw new MissingCells(missing)
    return found
  }

  countByKey(key: string): number {
    return this.#idsByKey(key).length
  }

  isPartyAllocated(party: PartyId): boolean {
    const known = this.#input.view.isPartyAllocated(party)
    if (known === undefined) throw new MissingCells([{ kind: 'party', id: party }])
    return known
  }

  /** The contract is of the newest version of the template that is in force, whichever version the choice names. */
  create<P>(named: Template<P>, given: P): ContractId {
    const { template, payload } = this.#registry.inForce(named, given, this.rules.version)
    const stakeholders = stakeholdersOf(template, payload)
    this.#demandAuthority(stakeholders.signatories, `create ${template.entity}`)
    // D-29: contracts of the service must name this operator.
    if (template.dso(payload) !== this.genesis.dso)
      refuse(
        'TEMPLATE_PRECONDITION_VIOLATED',
        `dso of ${template.entity} is not the operator of this network`,
      )
    if (!template.ensure(payload))
      refuse('TEMPLATE_PRECONDITION_VIOLATED', `the arguments break a rule of ${template.entity}`)
    const encoded = encodePayload(template, payload)
    rememberPayloadText(encoded)
    const identified = {
      templateId: this.#registry.templateIdOf(template),
      payload: encoded,
      updateId: this.#input.updateId,
      nodeId: this.#events.length,
    }
    const contract: Contract = {
      ...identified,
      ...stakeholders,
      contractId: contractIdOf(identified),
      packageName: template.packageName,
      createdAt: this.now,
      offset: this.#input.offset,
    }
    rememberPayload(contract, payload)
    this.#append({
      kind: 'created',
      nodeId: contract.nodeId,
      contractId: contract.contractId,
      templateId: contract.templateId,
      packageName: contract.packageName,
      payload: contract.payload,
      signatories: contract.signatories,
      observers: contract.observers,
    })
    this.#created.set(contract.contractId, contract)
    for (const key of keysOf(contract, this.#registry)) {
      const ids = this.#createdByKey.get(key)
      if (ids === undefined) this.#createdByKey.set(key, [contract.contractId])
      else ids.push(contract.contractId)
    }
    return contract.contractId
  }

  exercise<P, A, R>(choice: Choice<P, A, R>, id: ContractId, argument: A): R {
    assert(
      choice.template.since <= this.rules.version,
      `${choice.name} of version ${choice.template.since} is in force`,
    )
    choice.checkArgument?.(argument, this.rules)
    const self = this.fetch(choice.template, id)
    const controllers = sortedUnique(choice.controllers(self.payload, argument))
    this.#demandAuthority(controllers, choice.name)
    const event = this.#beginExercise(self.contract, {
      templateId: this.#registry.exercisedId(choice, self.contract),
      choice: choice.name,
      consuming: choice.consuming,
      argument: choice.argument.encode(argument),
      controllers,
    })
    const outer = this.#authority
    this.#authority = new Set([...self.contract.signatories, ...controllers])
    const result = choice.run(this, self, argument)
    this.#authority = outer
    event.result = choice.result.encode(result)
    event.lastDescendantNodeId = this.#events.length - 1
    return result
  }

  archive(template: Template<unknown>, id: ContractId): void {
    const { contract } = this.fetch(template, id)
    this.#demandAuthority(contract.signatories, `archive ${template.entity}`)
    this.#beginExercise(contract, {
      templateId: contract.templateId,
      choice: 'Archive',
      consuming: true,
      argument: {},
      controllers: contract.signatories,
    })
  }

  #beginExercise(
    contract: Contract,
    step: {
      templateId: TemplateId
      choice: string
      consuming: boolean
      argument: DamlValue
      controllers: readonly PartyId[]
    },
  ) {
    const nodeId = this.#events.length
    const event: Extract<OpenEvent, { kind: 'exercised' }> = {
      kind: 'exercised',
      nodeId,
      lastDescendantNodeId: nodeId,
      contractId: contract.contractId,
      templateId: step.templateId,
      packageName: contract.packageName,
      choice: step.choice,
      argument: step.argument,
      result: {},
      consuming: step.consuming,
      actingParties: step.controllers,
      signatories: contract.signatories,
      observers: contract.observers,
    }
    this.#append(event)
    if (step.consuming) {
      this.#consumed.add(contract.contractId)
      if (!this.#created.has(contract.contractId)) this.#archived.push(contract)
    }
    return event
  }

  #append(event: OpenEvent): void {
    const { eventsMax } = this.rules
    if (this.#events.length >= eventsMax)
      refuse('LIMIT_EXCEEDED', `a transaction has at most ${eventsMax} events`)
    this.#events.push(event)
  }

  #demandAuthority(parties: readonly PartyId[], what: string): void {
    for (const party of parties)
      if (!this.#authority.has(party))
        refuse('PERMISSION_DENIED', `${what} needs the authority of ${party}`)
  }

  #stored(id: ContractId): Contract | null {
    const contract = this.#input.view.contract(id)
    if (contract === undefined) throw new MissingCells([{ kind: 'contract', id }])
    return contract
  }

  #idsByKey(key: string): readonly ContractId[] {
    const stored = this.#input.view.index(key)
    if (stored === undefined) throw new MissingCells([{ kind: 'index', key }])
    const created = this.#createdByKey.get(key)
    if (created === undefined && !stored.some((id) => this.#consumed.has(id))) return stored
    return [...stored, ...(created ?? [])].filter((id) => !this.#consumed.has(id))
  }
}
