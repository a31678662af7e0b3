/** `mirror`: a cache of certified answers that needs no trust. */
import { createUndiciTransport, UsageError } from '@quorumscan/runtime'
import { integer, printResult, untilInterrupted } from './options.ts'
import type { CommandContext } from './rig.ts'

export function addMirrorCommand({ plain, clock }: CommandContext): void {
  plain('mirror', 'serve certified answers of nodes from a cache that needs no trust')
    .argument('<url...>', 'nodes, or other mirrors; if one does not answer, it asks the next')
    .requiredOption('--port <port>', 'the port it listens on; 0: any free port', integer(0, 65_535))
    .option('--host <address>', 'the address it listens on', '127.0.0.1')
    .addHelpText(
      'after',
      `
It checks nothing and has no key: readers verify each answer with the genesis
document. Every reader detects a mirror that alters an answer, and, by asking
others, one that withholds new answers. It caches answers for as long as nodes
allow, which is a second, and runs until it is interrupted.`,
    )
    .action(async (sources: string[], options: { port: number; host: string; json?: boolean }) => {
      const { buildMirror } = await import('@quorumscan/mirror')
      await using transport = createUndiciTransport()
      const server = buildMirror({ sources, transport, clock })
      const url = await server.listen(options).catch((cause: unknown) => {
        throw new UsageError(`cannot listen on ${options.host}, port ${options.port}`, { cause })
      })
      printResult(options, { url }, `mirrors ${sources.join(', ')}\nat ${url}`)
      await untilInterrupted()
      await server.close()
    })
}
