/** The addresses on which the processes of an operator listen: whether they are free. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { parseAddress } from '@quorumscan/config'
import { LOOPBACK } from '../plan.ts'
import type { OperatorConfig } from '../run/operator-config.ts'
import { type Check, failed, ok } from './check.ts'

type Address = ReturnType<typeof parseAddress>

const IN_USE = 'is used by another process'
const REASON: Readonly<Record<string, string>> = {
  EADDRINUSE: IN_USE,
  EADDRNOTAVAIL: 'is not an address of this machine',
  ENOTFOUND: 'is not a name that this machine can resolve',
  EAI_AGAIN: 'is not a name that this machine can resolve',
  EACCES: 'needs the right to listen on ports below 1024',
}

/** Listens on each address for a moment. */
export async function checkAddresses(
  config: Pick<OperatorConfig, 'variables' | 'genesis' | 'synchronizerPort'>,
): Promise<Check> {
  const addresses = addressesOf(config)
  const problems = await Promise.all(
    addresses.map(async ([variable, { host, port }]) => {
      const code = await tryListening({ host, port })
      const where = `${host.includes(':') ? `[${host}]` : host}:${port}`
      return code === null ? [] : [`${where} (${variable}) ${REASON[code] ?? code}`]
    }),
  )
  const found = problems.flat()
  if (found.length === 0)
    return ok('addresses', `${addresses.map(([, { port }]) => port).join(', ')} are free`)
  return failed(
    'addresses',
    found.join('; '),
    found.some((problem) => problem.endsWith(IN_USE))
      ? 'Stop the process that listens there (`ss -ltnp` names it), or change the variable'
      : 'Change the variable; 0.0.0.0 is every address of this machine',
  )
}

function addressesOf({
  variables,
  genesis,
  synchronizerPort,
}: Parameters<typeof checkAddresses>[0]): readonly (readonly [variable: string, Address])[] {
  const { QS_OPERATOR_ADDRESS: operator, QS_ENGINE_ADDRESS: engine } = variables
  const isMemberOrdered = genesis.ordering.driver === 'cometbft'
  return [
    [
      'QS_HOST, QS_PORT',
      { host: variables['QS_HOST'] || LOOPBACK, port: Number(variables['QS_PORT']) },
    ],
    ...(operator ? [['QS_OPERATOR_ADDRESS', parseAddress(operator)] as const] : []),
    ...(isMemberOrdered
      ? [['QS_SYNCHRONIZER_PORT', { host: LOOPBACK, port: synchronizerPort }] as const]
      : []),
    ...(isMemberOrdered && engine ? [['QS_ENGINE_ADDRESS', parseAddress(engine)] as const] : []),
  ]
}

/** The code of the error; null if it can listen there. */
async function tryListening(address: Address): Promise<string | null> {
  const server = createServer((socket) => socket.destroy())
  try {
    server.listen(address)
    await once(server, 'listening')
    return null
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'cannot be used'
  } finally {
    await new Promise((closed) => server.close(closed))
  }
}
