/** The synchronizer process. */
import { runProcess } from '@quorumscan/base'
import { readProcessConfig, readSynchronizerConfig } from '@quorumscan/config'
import { startSynchronizer } from './server.ts'

await runProcess(async (signal) =>
  startSynchronizer(readProcessConfig(process.env, readSynchronizerConfig), { signal }),
)
