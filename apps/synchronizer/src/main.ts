/** The synchronizer process. */
import { runProcess } from '@quorumscan/base'
import { envToConfig } from './config.ts'
import { startSynchronizer } from './start.ts'

await runProcess(async (signal) => startSynchronizer(envToConfig(process.env), { signal }))
