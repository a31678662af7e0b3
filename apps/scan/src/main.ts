/** The scan process. */
import { runProcess } from '@quorumscan/base'
import { readProcessConfig, readScanConfig } from '@quorumscan/config'
import { startScan } from './server.ts'

await runProcess(async (signal) =>
  startScan(readProcessConfig(process.env, readScanConfig), { signal }),
)
