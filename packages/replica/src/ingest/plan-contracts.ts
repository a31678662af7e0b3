/** Plans the changes of a batch to contracts, their index and due work: the net of all its steps. */
import { dueOf, type FiledContract, keysOf, type StateDelta } from '@quorumscan/ledger'
import type { Contract, ContractId } from '@quorumscan/model'
import type { CommandSink } from '../storage/commands.ts'
import {
  contractIdBytes,
  type Interned,
  internContractId,
  internedBytes,
  internKey,
} from '../storage/intern.ts'
import { contractsKey, dueKey, indexKey } from '../storage/keys.ts'
import type { Layout } from '../storage/layout.ts'

/** Steps with the contracts that they create and archive. */
type Steps = readonly { readonly delta: Pick<StateDelta, 'created' | 'archived'> }[]

export function planContracts(commands: CommandSink, steps: Steps, layout: Layout): void {
  const { created, archived } = netOf(steps)
  for (const contract of archived) deleteContract(filed(contract), { commands, layout })
  for (const contract of created)
    putContract(filed(contract), layout.codec.encode(contract), { commands, layout })
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
  return { contract, keys: keysOf(contract), due: dueOf(contract) }
}

function indexMembers({ keys }: FiledContract, interned: Interned) {
  const id = internedBytes(interned)
  return keys.map((key) => {
    const { bucket, rest } = internKey(key)
    return { key: indexKey(bucket), member: Buffer.concat([rest, id]) }
  })
}

function dueMembers({ contract, due }: FiledContract, { hasDue }: Layout) {
  const id = contractIdBytes(contract.contractId)
  return due.filter(({ job }) => hasDue(job)).map(({ job, at }) => ({ key: dueKey(job), at, id }))
}
