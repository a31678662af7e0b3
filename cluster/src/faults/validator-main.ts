/** Entry of the validator of a cluster: the app, with faults of its edges and clock. */
import { runProcess } from '@quorumscan/base'
import { readValidatorConfig } from '@quorumscan/config'
import { startValidator } from '@quorumscan/validator'
import { createFaultyProcess, readFaultEnvironment } from './process.ts'

await runProcess(async () => {
  const faulty = createFaultyProcess(readFaultEnvironment(process.env))
  const validator = await startValidator(await faulty.route(readValidatorConfig(process.env)), {
    clock: faulty.clock,
    extend: ({ server }) => faulty.guard(server),
  })
  await faulty.listen()
  return validator
})
