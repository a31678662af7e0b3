/** The scan process. */
import { runProcess } from '@quorumscan/base'
import { readScanConfig } from '@quorumscan/config'
import { startScan } from './start.ts'

await runProcess(async (signal) => startScan(readScanConfig(process.env), { signal }))
