/** What a batch changes in `contracts`, `index` and `due`: the net of all its steps. */
import { concatBytes, utf8 } from '@quorumscan/base'
import { dueOf, keysOf } from '@quorumscan/ledger'
import type { Contract, ContractId } from '@quorumscan/model'
import { packContract } from './contract-packing.ts'
import { contractIdBytes, tagOf } from './intern.ts'
import { type Argument, type Command, cutCommand } from './scripts.ts'
import type { Step } from './step.ts'

export function planContracts(steps: readonly Step[]): Command[] {
  const { created, archived } = netOf(steps)
  return [
    ...cutCommand(
      'HDEL',
      'contracts',
      archived.map((contract) => [idOf(contract)]),
    ),
    ...cutCommand('ZREM', 'index', archived.flatMap(indexMembers)),
    ...cutCommand(
      'ZREM',
      'due',
      archived.flatMap((contract) => dueMembers(contract).map(([, member]) => [member])),
    ),
    ...cutCommand(
      'HSET',
      'contracts',
      created.map((contract) => [idOf(contract), packContract(contract)]),
    ),
    ...cutCommand(
      'ZADD',
      'index',
      created.flatMap(indexMembers).map(([member]) => [0, member as Uint8Array]),
    ),
    ...cutCommand('ZADD', 'due', created.flatMap(dueMembers)),
  ]
}

// A contract that the batch both creates and archives never reaches Redis.
function netOf(steps: readonly Step[]) {
  const created = new Map<ContractId, Contract>()
  const archived: Contract[] = []
  for (const { delta } of steps) {
    for (const contract of delta.archived)
      if (!created.delete(contract.contractId)) archived.push(contract)
    for (const contract of delta.created) created.set(contract.contractId, contract)
  }
  return { created: [...created.values()], archived }
}

function indexMembers(contract: Contract): Argument[][] {
  return keysOf(contract).map((key) => [concatBytes([tagOf(key), idOf(contract)])])
}

function dueMembers(contract: Contract): [score: number, member: Uint8Array][] {
  return dueOf(contract).map((due) => [due.at, concatBytes([idOf(contract), utf8(due.job)])])
}

function idOf(contract: Contract): Uint8Array {
  const bytes = contractIdBytes(contract.contractId)
  if (bytes === undefined) throw new RangeError(`no contract id: ${contract.contractId}`)
  return bytes
}
