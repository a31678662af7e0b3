/** Reads the metrics that the `run` of an operator serves. */
import { describeFailure } from '@quorumscan/errors/node-words'
import { CommandError, createFetch } from '@quorumscan/runtime'
import type { OperatorConfig } from './operator-config.ts'

const ANSWER_MS_MAX = 10_000
/** Where it listens on all addresses, it answers on this one. */
const LOOPBACK_OF = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])

/** @throws {CommandError} If it serves none, or does not answer. */
export async function readOperatorMetrics({
  operatorAddress,
}: Pick<OperatorConfig, 'operatorAddress'>): Promise<string> {
  if (operatorAddress === null)
    throw new CommandError('QS_OPERATOR_ADDRESS is not set, so `run` serves no metrics')
  const { port } = operatorAddress
  const host = LOOPBACK_OF.get(operatorAddress.host) ?? operatorAddress.host
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}/metrics`
  try {
    const answer = await createFetch(null)(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) })
    return await answer.text()
  } catch (cause) {
    throw new CommandError(
      `\`run\` does not answer at QS_OPERATOR_ADDRESS=${operatorAddress.host}:${port} (${describeFailure(cause)}): start it, or look at its output`,
      { cause },
    )
  }
}
