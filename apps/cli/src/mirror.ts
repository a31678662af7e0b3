/** `mirror`: a cache of certified answers that needs no trust. */
import { readGenesis } from '@quorumscan/operator'
import { createUndiciTransport, UsageError } from '@quorumscan/runtime'
import { hashGenesis, NETWORK_NAMES, type NetworkName } from '@quorumscan/verifier'
import { choice, integer, printResult, untilInterrupted } from './options.ts'
import type { CommandContext } from './rig.ts'
import { openTrust } from './trust.ts'

type MirrorFlags = {
  port: number
  host: string
  network?: NetworkName
  genesis?: string
  json?: boolean
}

export function addMirrorCommand({ plain, clock }: CommandContext): void {
  plain('mirror', 'serve certified answers of nodes from a cache that needs no trust')
    .argument('<url...>', 'nodes, or other mirrors; if one does not answer, it asks the next')
    .requiredOption('--port <port>', 'the port it listens on; 0: any free port', integer(0, 65_535))
    .option('--host <address>', 'the address it listens on', '127.0.0.1')
    .addOption(choice('--network <name>', 'also serve party names of this network', NETWORK_NAMES))
    .option('--genesis <file>', 'the genesis document that proves answers')
    .addHelpText(
      'after',
      `
It verifies answers with the genesis document, and does not ask a source again
for a minute that proves nothing. Without --genesis it uses the document that
most sources answer. Readers verify each answer again: every reader detects a
mirror that alters an answer, and, by asking others, one that withholds new
answers. It caches answers for as long as nodes allow, which is a second, and
runs until it is interrupted.

With --network, which needs --genesis, it serves /v0/resolve and
/v0/reverse-resolve as well, whose readers trust it.`,
    )
    .action(async (sources: string[], options: MirrorFlags) => {
      const { buildMirror } = await import('@quorumscan/mirror')
      const network = await networkOf(options)
      await using transport = createUndiciTransport({ trust: openTrust(process.env) })
      const server = buildMirror({ sources, transport, clock, ...network })
      const url = await server.listen(options).catch((cause: unknown) => {
        throw new UsageError(`cannot listen on ${options.host}, port ${options.port}`, { cause })
      })
      printResult(options, { url }, `mirrors ${sources.join(', ')}\nat ${url}`)
      await untilInterrupted()
      await server.close()
    })
}

/** @throws {UsageError} If `--genesis` is missing or not a genesis document. */
async function networkOf({ network: networkName, genesis: file }: MirrorFlags) {
  if (file === undefined) {
    if (networkName === undefined) return {}
    throw new UsageError('a mirror serves names with both of `--network` and `--genesis`')
  }
  const genesis = readGenesis(file)
  const network = { genesis, genesisHash: await hashGenesis(genesis) }
  if (networkName === undefined) return { network }
  return { network, names: { ...network, networkName, trustRule: null } }
}
