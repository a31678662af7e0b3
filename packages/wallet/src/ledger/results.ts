/** What the choices of an update returned. */
import { assert } from '@quorumscan/base'
import type { ContractId, DamlValue, Update } from '@quorumscan/model'

/** The result of the first command, which must be an exercise. */
function exerciseResult(update: Update): { readonly [field: string]: DamlValue } {
  const [event] = update.events
  assert(event?.kind === 'exercised', 'the update begins with the exercise that was commanded')
  assert(
    typeof event.result === 'object' && event.result !== null && !Array.isArray(event.result),
    'choices return records',
  )
  return event.result as { readonly [field: string]: DamlValue }
}

/** A contract id in the result of the first command. */
export function resultContractId(update: Update, field: string): ContractId {
  const id = exerciseResult(update)[field]
  assert(typeof id === 'string', `the result has a contract id ${field}`)
  return id
}

/** A list of contract ids in the result of the first command. */
export function resultContractIds(update: Update, field: string): ContractId[] {
  const ids = exerciseResult(update)[field]
  assert(Array.isArray(ids), `the result has contract ids ${field}`)
  return ids.map(String)
}
