/** The validator process. */
import { runProcess } from '@quorumscan/base'
import { readValidatorConfig } from './config.ts'
import { startValidator } from './start.ts'

await runProcess(async () => startValidator(readValidatorConfig(process.env)))
