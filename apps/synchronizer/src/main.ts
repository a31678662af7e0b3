/** The synchronizer process. */
import { runProcess } from '@quorumscan/base'
import { readSynchronizerConfig } from '@quorumscan/config'
import { startSynchronizer } from './server.ts'

await runProcess(async (signal) =>
  startSynchronizer(readSynchronizerConfig(process.env), { signal }),
)
