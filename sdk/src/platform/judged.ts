/** Options of calls, judged before anything else happens, by code that is loaded with the first call that has some. */
import type { CALLS } from '../call-options.ts'
import { type Judge, loadPart } from './load-part.ts'

/** Clients whose calls begin with a text: alone it needs no judgement. */
const BEGIN_WITH_TEXT: readonly string[] = ['names', 'resolver']

/** The judge of a client. Without options a call needs no more code. */
export function judgeOf(client: keyof typeof CALLS): Judge {
  return async (method, input) => {
    const [first, ...others] = input
    const isPlain = typeof first === 'string' && BEGIN_WITH_TEXT.includes(client)
    if (others.length === 0 && (isPlain || first === undefined)) return
    const { assertCall } = await loadPart(() => import('../call-options.ts'))
    assertCall(client, method, input)
  }
}
