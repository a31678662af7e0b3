/** `mirror`: a cache of certified answers that needs no trust. */
import { readGenesis } from '@quorumscan/operator'
import { createUndiciTransport, UsageError } from '@quorumscan/runtime'
import { hashGenesis, NETWORK_NAMES, type NetworkName } from '@quorumscan/verifier'
import { choice, integer, printResult, untilInterrupted } from './options.ts'
import type { CommandContext } from './rig.ts'

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
    .option('--genesis <file>', 'with --network: the genesis document that proves them')
    .addHelpText(
      'after',
      `
It checks nothing and has no key: readers verify each answer with the genesis
document. Every reader detects a mirror that alters an answer, and, by asking
others, one that withholds new answers. It caches answers for as long as nodes
allow, which is a second, and runs until it is interrupted.

With --network it serves /v0/resolve and /v0/reverse-resolve as well. It
verifies these answers itself, so their readers trust it.`,
    )
    .action(async (sources: string[], options: MirrorFlags) => {
      const { buildMirror } = await import('@quorumscan/mirror')
      const names = await namesOf(options)
      await using transport = createUndiciTransport()
      const server = buildMirror({ sources, transport, clock, ...names })
      const url = await server.listen(options).catch((cause: unknown) => {
        throw new UsageError(`cannot listen on ${options.host}, port ${options.port}`, { cause })
      })
      printResult(options, { url }, `mirrors ${sources.join(', ')}\nat ${url}`)
      await untilInterrupted()
      await server.close()
    })
}

/** @throws {UsageError} If one of the options is missing, or the file is not a genesis document. */
async function namesOf({ network, genesis: file }: MirrorFlags) {
  if ((network === undefined) !== (file === undefined))
    throw new UsageError(
      'a mirror serves names with both of `--network` and `--genesis`, or without them',
    )
  if (network === undefined || file === undefined) return {}
  const genesis = readGenesis(file)
  const genesisHash = await hashGenesis(genesis)
  return { names: { genesis, genesisHash, networkName: network, trustRule: null } }
}
