/** Steps of stories on a MemoryLedger: parties, payments, confirmations. A step that fails throws. */
import { assert, type KeyPair, toHex } from '@quorumscan/base'
import {
  type Amount,
  type Command,
  type ContractId,
  type DamlValue,
  type EntryResult,
  type PartyId,
  parseAmount,
  partyIdOf,
} from '@quorumscan/model'
import { createTestNetwork, type TestNetwork, testKeyPair } from '@quorumscan/testkit'
import { encodeAddressStatement } from '@quorumscan/verifier'
import {
  acceptRequestCommand,
  allocatePartyCommand,
  confirmResolveCommand,
  requestEntryCommand,
  setScanUrlCommand,
  tapCommand,
} from '../commands.ts'
import { svPartyOf } from '../genesis-state.ts'
import type { Template } from '../template.ts'
import { ansRules } from '../templates/ans-rules.ts'
import { coin } from '../templates/coin.ts'
import { coinRules } from '../templates/coin-rules.ts'
import { dsoRules } from '../templates/dso-rules.ts'
import { lockedCoin } from '../templates/locked-coin.ts'
import { MemoryLedger, type SubmitOptions } from './memory-ledger.ts'

export type Actor = { readonly party: PartyId; readonly keyPair: KeyPair }
type Result = { readonly [member: string]: DamlValue }

/** The result of the exercise at the root of an accepted submission. */
export function resultOf(result: EntryResult): Result {
  assert(
    result.kind === 'accepted',
    `accepted, not ${result.kind === 'rejected' ? `${result.code}: ${result.message}` : result.kind}`,
  )
  const [root] = result.update.events
  assert(root?.kind === 'exercised', 'the root is an exercise')
  return root.result as Result
}

/** `REJECTED_CODE`, `ignored: reason`, or `accepted`. */
export function outcomeOf(result: EntryResult): string {
  if (result.kind === 'rejected') return result.code
  return result.kind === 'ignored' ? `ignored: ${result.reason}` : result.kind
}

/** A text such as '12.5' as an amount. */
export function amountOf(text: string): Amount {
  const amount = parseAmount(text)
  assert(amount !== undefined, `${text} is an amount`)
  return amount
}

export class Scenario {
  readonly network: TestNetwork
  readonly ledger: MemoryLedger
  readonly svs: readonly Actor[]

  constructor(options: Parameters<typeof createTestNetwork>[0] = {}) {
    this.network = createTestNetwork(options)
    this.ledger = new MemoryLedger(this.network)
    this.svs = this.network.genesis.nodes.map((node, index) => ({
      party: svPartyOf(node),
      keyPair: this.network.operators[index] as KeyPair,
    }))
  }

  /** Allocates a party on a new participant, or on that of the label. */
  actor(hint: string, participant = hint): Actor {
    const keyPair = testKeyPair(participant)
    const party = partyIdOf(hint, keyPair.publicKey)
    assert(party !== undefined, `${hint} is a hint`)
    const result = this.ledger.submit({ keyPair, commands: [allocatePartyCommand({ hint })] })
    assert(result.kind === 'accepted', 'the party is allocated')
    return { party, keyPair }
  }

  /** Submits one transaction. */
  submit(
    actor: Actor,
    commands: Command | readonly Command[],
    more: Partial<SubmitOptions> = {},
  ): EntryResult {
    return this.ledger.submit({
      keyPair: actor.keyPair,
      actAs: [actor.party],
      commands: Array.isArray(commands) ? commands : [commands as Command],
      ...more,
    })
  }

  /** As `submit`; the result of the choice. */
  do(actor: Actor, command: Command): Result {
    return resultOf(this.submit(actor, command))
  }

  /** The id of a singleton. */
  the(template: Template<unknown>): ContractId {
    const [found] = this.ledger.byKey(`singleton:${template.entity}`)
    assert(found !== undefined, `there is a ${template.entity}`)
    return found.contractId
  }

  tap(actor: Actor, amount: string): ContractId {
    const { coinCid } = this.do(
      actor,
      tapCommand({
        coinRules: this.the(coinRules),
        receiver: actor.party,
        amount: amountOf(amount),
      }),
    )
    return coinCid as ContractId
  }

  coins(actor: Actor): readonly ContractId[] {
    return this.ledger
      .all(coin)
      .filter(({ payload }) => payload.owner === actor.party)
      .map(({ contractId }) => contractId)
  }

  balance(actor: Actor): { unlocked: Amount; locked: Amount } {
    const sum = (amounts: readonly Amount[]) => amounts.reduce((a, b) => a + b, 0n)
    const own = ({ owner }: { owner: PartyId }) => owner === actor.party
    return {
      unlocked: sum(
        this.ledger
          .all(coin)
          .filter(({ payload }) => own(payload))
          .map(({ payload }) => payload.amount.initialAmount),
      ),
      locked: sum(
        this.ledger
          .all(lockedCoin)
          .filter(({ payload }) => own(payload.coin))
          .map(({ payload }) => payload.coin.amount.initialAmount),
      ),
    }
  }

  request(actor: Actor, name: string): { context: ContractId; request: ContractId } {
    const { entryCid, requestCid } = this.do(
      actor,
      requestEntryCommand({
        ansRules: this.the(ansRules),
        user: actor.party,
        name,
        url: '',
        description: '',
      }),
    )
    return { context: entryCid as ContractId, request: requestCid as ContractId }
  }

  /** Requests a name and pays with the coin of the party. */
  pay(actor: Actor, name: string): { context: ContractId; payment: ContractId } {
    const { context, request } = this.request(actor, name)
    const { paymentCid } = this.do(
      actor,
      acceptRequestCommand({ request, inputs: this.coins(actor) }),
    )
    return { context, payment: paymentCid as ContractId }
  }

  /** One super-validator confirms. Returns the outcome. */
  confirm(index: number, payment: ContractId): EntryResult {
    const sv = this.svs[index]
    assert(sv !== undefined, `there is a super-validator ${index}`)
    const rules = this.the(dsoRules)
    return this.submit(sv, confirmResolveCommand({ dsoRules: rules, confirmer: sv.party, payment }))
  }

  /** Publishes an address of a super-validator, signed by its scan key over `signedUrl` or the url itself. */
  publish(
    index: number,
    address: { readonly sequence: number; readonly url?: string; readonly signedUrl?: string },
  ): EntryResult {
    const sv = this.svs[index]
    const scan = this.network.scans[index]
    const name = this.network.genesis.nodes[index]?.name
    assert(sv !== undefined && scan !== undefined && name !== undefined, `there is an SV ${index}`)
    const { sequence, url = `http://127.0.0.1:${sequence}` } = address
    const statement = encodeAddressStatement({
      genesisHash: this.network.genesisHash,
      name,
      url: address.signedUrl ?? url,
      sequence,
    })
    const signature = toHex(scan.sign(statement))
    const dsoRulesCid = this.the(dsoRules)
    return this.submit(
      sv,
      setScanUrlCommand({ dsoRules: dsoRulesCid, sv: sv.party, url, sequence, signature }),
    )
  }

  /** The first three super-validators confirm; the outcome of the third confirmation. */
  resolve(payment: ContractId): Result {
    const results = [0, 1, 2].map((index) => resultOf(this.confirm(index, payment)))
    return results[2]?.['outcome'] as Result
  }

  /** A name from request to entry. */
  register(actor: Actor, name: string): ContractId {
    this.tap(actor, '200')
    const outcome = this.resolve(this.pay(actor, name).payment)
    return (outcome['value'] as Result)['entryCid'] as ContractId
  }
}
