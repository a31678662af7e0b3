/** Entry of a scan node of a cluster: the app, composed with everything that can go wrong with it. */
import { readFile } from 'node:fs/promises'
import { keyPairFromSeed, runProcess, systemRandom } from '@quorumscan/base'
import { readLogClientOptions, readScanConfig, type ScanConfig } from '@quorumscan/config'
import { createLogClient, type LogClient } from '@quorumscan/log'
import { type Overrides, startScan } from '@quorumscan/scan'
import { installLiar } from './lies/liar.ts'
import { createFalseSubmitter } from './lies/submissions.ts'
import { createFaultyProcess, type FaultyProcess, readFaultEnvironment } from './process.ts'
import type { ProcessFaults } from './process-faults.ts'
import { pruneHandlers } from './prune-handlers.ts'

type Parts = Parameters<NonNullable<Overrides['extend']>>[0]

await runProcess(async (signal) => {
  const faulty = createFaultyProcess(readFaultEnvironment(process.env))
  const config = await faulty.route(readScanConfig(process.env))
  const operatorSeed = await readFile(config.operatorKeyFile, 'utf8')
  const submitting = createLogClient(await readLogClientOptions(config))
  let start: () => Promise<void> = async () => {}
  const scan = await startScan(config, {
    signal,
    clock: faulty.clock,
    extend: (parts) => {
      faulty.guard(parts.server)
      const apply = makeByzantine(parts, {
        config,
        faulty,
        submitting,
        operatorSeed: operatorSeed.trim(),
      })
      start = () => faulty.listen(apply, pruneHandlers(parts.context.replica))
    },
  })
  await start()
  return scan
})

/** Everything by which a node can turn against the others, with its own keys. Returns the switch. */
function makeByzantine(
  { server, context }: Parts,
  options: {
    readonly config: ScanConfig
    readonly faulty: FaultyProcess
    readonly submitting: LogClient
    readonly operatorSeed: string
  },
): (faults: ProcessFaults) => void {
  const { config, faulty, submitting } = options
  const { genesisHash, party, replica, scanKey } = context
  const shared = { genesisHash, clock: faulty.clock, random: systemRandom }
  const setLie = installLiar(server, {
    ...shared,
    sign: (statement) => scanKey.sign(statement),
    liar: party,
    replica,
  })
  const submitter = createFalseSubmitter({
    ...shared,
    ledger: replica,
    submit: (bytes, signal) => submitting.submit(bytes, signal),
    operatorKey: keyPairFromSeed(options.operatorSeed),
    party,
    userId: config.nodeName,
  })
  server.addHook('onClose', async () => {
    await submitter.close()
    await submitting[Symbol.asyncDispose]()
  })
  return ({ lie }) => {
    setLie(lie)
    submitter.set(lie)
  }
}
