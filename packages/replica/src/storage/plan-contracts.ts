/** Plans the changes of a batch to contracts, their index, totals and due work: the net of all its steps. */
import { amountsOf, dueOf, type FiledContract, keysOf, type StateDelta } from '@quorumscan/ledger'
import type { Contract, ContractId } from '@quorumscan/model'
import type { CommandSink } from './commands.ts'
import {
  contractIdBytes,
  type Interned,
  internContractId,
  internedBytes,
  internKey,
} from './intern.ts'
import { contractsKey, dueKey, indexKey } from './keys.ts'
import type { Layout } from './layout.ts'
import { largestFirst, newestFirst } from './order.ts'
import { changeTotal, putTotals, type Totals } from './totals.ts'

/** Steps with the contracts that they create and archive. */
type Steps = readonly { readonly delta: Pick<StateDelta, 'created' | 'archived'> }[]

/** Keys of the lists by amount whose totals a batch may change. */
export function touchedTotals(steps: Steps): readonly string[] {
  const contracts = steps.flatMap(({ delta }) => [...delta.created, ...delta.archived])
  return [...new Set(contracts.flatMap(amountsOf).map(({ key }) => key))]
}

/** @param input.totals - The stored ones of `touchedTotals`. */
export function planContracts(
  commands: CommandSink,
  steps: Steps,
  { layout, totals: stored }: { readonly layout: Layout; readonly totals: Totals },
): void {
  const { created, archived } = netOf(steps)
  const totals = new Map(stored)
  for (const contract of archived) {
    deleteContract(filed(contract), { commands, layout })
    for (const entry of amountsOf(contract)) changeTotal(totals, entry, -1)
  }
  for (const contract of created) {
    putContract(filed(contract), layout.codec.encode(contract), { commands, layout })
    for (const entry of amountsOf(contract)) changeTotal(totals, entry, 1)
  }
  putTotals(commands, totals)
}

type Target = { readonly commands: CommandSink; readonly layout: Layout }

/** @param bytes - The contract as the codec of the layout writes it. */
export function putContract(filed: FiledContract, bytes: Uint8Array, { commands, layout }: Target) {
  const interned = internContractId(filed.contract.contractId)
  commands.add('HSET', contractsKey(interned.bucket), interned.rest, bytes)
  for (const { key, member } of indexMembers(filed, interned)) commands.add('ZADD', key, 0, member)
  for (const { key, at, id } of dueMembers(filed, layout)) commands.add('ZADD', key, at, id)
}

function deleteContract(filed: FiledContract, { commands, layout }: Target): void {
  const interned = internContractId(filed.contract.contractId)
  commands.add('HDEL', contractsKey(interned.bucket), interned.rest)
  for (const { key, member } of indexMembers(filed, interned)) commands.add('ZREM', key, member)
  for (const { key, id } of dueMembers(filed, layout)) commands.add('ZREM', key, id)
}

// A contract that the batch both creates and archives never reaches Redis.
function netOf(steps: Steps) {
  const created = new Map<ContractId, Contract>()
  const archived: Contract[] = []
  for (const { delta } of steps) {
    for (const contract of delta.archived)
      if (!created.delete(contract.contractId)) archived.push(contract)
    for (const contract of delta.created) created.set(contract.contractId, contract)
  }
  return { created: [...created.values()], archived }
}

function filed(contract: Contract): FiledContract {
  const [keys, amounts, due] = [keysOf(contract), amountsOf(contract), dueOf(contract)]
  return { contract, keys, amounts, due }
}

function indexMembers({ contract, keys, amounts }: FiledContract, interned: Interned) {
  const id = internedBytes(interned)
  const memberOf = (key: string, order: Uint8Array) => {
    const { bucket, rest } = internKey(key)
    return { key: indexKey(bucket), member: Buffer.concat([rest, order, id]) }
  }
  const byAge = newestFirst(contract.offset)
  return [
    ...keys.map((key) => memberOf(key, byAge)),
    ...amounts.map(({ key, amount }) => memberOf(key, largestFirst(amount))),
  ]
}

function dueMembers({ contract, due }: FiledContract, { hasDue }: Layout) {
  const id = contractIdBytes(contract.contractId)
  return due.filter(({ job }) => hasDue(job)).map(({ job, at }) => ({ key: dueKey(job), at, id }))
}
