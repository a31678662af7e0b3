/** The validator process. */
import { runProcess } from '@quorumscan/base'
import { readProcessConfig, readValidatorConfig } from '@quorumscan/config'
import { startValidator } from './server.ts'

await runProcess(async () => startValidator(readProcessConfig(process.env, readValidatorConfig)))
