/** What a batch changes in contracts, their index and what is due: the net of all its steps. */
import { concatBytes } from '@quorumscan/base'
import { dueOf, keysOf, type StateDelta } from '@quorumscan/ledger'
import type { Contract, ContractId } from '@quorumscan/model'
import {
  contractIdBytes,
  type Place,
  placeBytes,
  placeOfId,
  placeOfKey,
} from '../storage/intern.ts'
import { contractsKey, dueKey, indexKey } from '../storage/keys.ts'
import type { Layout } from '../storage/layout.ts'
import { type Argument, type Command, cutCommand } from '../storage/scripts.ts'

/** What a step changes of them. */
type Steps = readonly { readonly delta: Pick<StateDelta, 'created' | 'archived'> }[]

export function planContracts(steps: Steps, layout: Layout): Command[] {
  const { created, archived } = netOf(steps)
  const gone = archived.map(placed)
  const added = created.map(placed)
  return [
    ...byKey(
      'HDEL',
      gone.map(({ place }) => [contractsKey(place.bucket), [place.rest]]),
    ),
    ...byKey(
      'ZREM',
      gone.flatMap(indexMembers).map(([key, member]) => [key, [member]]),
    ),
    ...byKey(
      'ZREM',
      gone.flatMap((each) => dueMembers(each, layout)).map(({ key, id }) => [key, [id]]),
    ),
    ...byKey(
      'HSET',
      added.map(({ contract, place }) => [
        contractsKey(place.bucket),
        [place.rest, layout.codec.encode(contract)],
      ]),
    ),
    ...byKey(
      'ZADD',
      added.flatMap(indexMembers).map(([key, member]) => [key, [0, member]]),
    ),
    ...byKey(
      'ZADD',
      added.flatMap((each) => dueMembers(each, layout)).map(({ key, at, id }) => [key, [at, id]]),
    ),
  ]
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

type Placed = { readonly contract: Contract; readonly place: Place }

function placed(contract: Contract): Placed {
  const place = placeOfId(contract.contractId)
  if (place === undefined) throw new RangeError(`no contract id: ${contract.contractId}`)
  return { contract, place }
}

function indexMembers({ contract, place }: Placed): [key: string, member: Uint8Array][] {
  const id = placeBytes(place)
  return keysOf(contract).map((key) => {
    const { bucket, rest } = placeOfKey(key)
    return [indexKey(bucket), concatBytes([rest, id])]
  })
}

function dueMembers({ contract }: Placed, layout: Layout) {
  const due = dueOf(contract).filter(({ job }) => layout.hasDue(job))
  if (due.length === 0) return []
  const id = contractIdBytes(contract.contractId) ?? new Uint8Array(0)
  return due.map(({ job, at }) => ({ key: dueKey(job), at, id }))
}

/** One command for all that changes in one key. */
function byKey(
  name: string,
  changes: readonly (readonly [key: string, args: readonly Argument[]])[],
): Command[] {
  const groups = new Map<string, (readonly Argument[])[]>()
  for (const [key, args] of changes) {
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [args])
    else group.push(args)
  }
  return [...groups].flatMap(([key, group]) => cutCommand(name, key, group))
}
