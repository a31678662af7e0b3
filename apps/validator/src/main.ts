/** The validator process. */
import { runProcess } from '@quorumscan/base'
import { readValidatorConfig } from '@quorumscan/config'
import { startValidator } from './server.ts'

await runProcess(async () => startValidator(readValidatorConfig(process.env)))
