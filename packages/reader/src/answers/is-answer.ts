/** Whether what enough nodes said is an answer to what was asked (D-35). */
import type { Asked } from '../voted/item.ts'
import type { Vote } from '../votes/tally.ts'
import { isEntryAnswer } from './batch.ts'
import { parseJson } from './reply.ts'

export function isAnswer(asked: Asked, { answer, recordTime }: Vote): boolean {
  if (asked.kind === 'lookup') return isEntryAnswer(answer, asked.lookup, recordTime)
  const body = parseJson(answer)
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  return isObject && asked.request.isValid?.(body) !== false
}
