/** The validator process. */
import { runProcess } from '@quorumscan/base'
import { envToConfig } from './config.ts'
import { startValidator } from './start.ts'

await runProcess(async () => startValidator(envToConfig(process.env)))
