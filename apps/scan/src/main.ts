/** The scan process. */
import { runProcess } from '@quorumscan/base'
import { readScanConfig } from '@quorumscan/config'
import { startScan } from './server.ts'

await runProcess(async (signal) => startScan(readScanConfig(process.env), { signal }))
