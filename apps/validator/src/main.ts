/** The validator process. */
import { runProcess } from '@quorumscan/base'
import { readValidatorConfig } from '@quorumscan/config'
import { startValidator } from './start.ts'

await runProcess(async () => startValidator(readValidatorConfig(process.env)))
