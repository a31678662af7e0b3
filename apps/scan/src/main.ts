/** The scan process. */
import { runProcess } from '@quorumscan/base'
import { envToConfig } from './config.ts'
import { startScan } from './start.ts'

await runProcess(async (signal) => startScan(envToConfig(process.env), { signal }))
