/** `mirror`: a cache of certified answers that nobody needs to believe. */
import { UsageError } from '@quorumscan/runtime'
import { answer, integer, untilInterrupted } from './options.ts'
import type { CommandContext } from './rig.ts'

const PORT_MAX = 65_535

export function addMirrorCommand({ plain, clock }: CommandContext): void {
  plain('mirror', 'serve certified answers of nodes from a cache that needs no trust')
    .argument('<url...>', 'nodes, or other mirrors; where one does not answer, the next is asked')
    .requiredOption('--port <port>', 'where it listens; 0: any that is free', integer(0, PORT_MAX))
    .option('--host <address>', 'from where it can be reached', '127.0.0.1')
    .addHelpText(
      'after',
      `
It checks nothing and has no key: each answer proves itself to whoever reads it,
by the genesis document alone. A mirror that alters one is found out by every
reader, and one that keeps back what is new by what others say. It keeps answers
for as long as nodes allow, a second, and runs until it is interrupted.`,
    )
    .action(async (sources: string[], options: { port: number; host: string; json?: boolean }) => {
      const [{ createUndiciTransport }, { buildMirror }] = await Promise.all([
        import('@quorumscan/runtime'),
        import('@quorumscan/mirror'),
      ])
      await using transport = createUndiciTransport()
      const server = buildMirror({ sources, transport, clock })
      const url = await server.listen(options).catch((cause: unknown) => {
        throw new UsageError(`cannot listen on ${options.host}, port ${options.port}`, { cause })
      })
      answer(options, { url }, `mirrors ${sources.join(', ')}\nat ${url}`)
      await untilInterrupted()
      await server.close()
    })
}
