/** Entry of the validator of a cluster: the app, with edges and a clock that can be broken. */
import { runProcess } from '@quorumscan/base'
import { readValidatorConfig } from '@quorumscan/config'
import { startValidator } from '@quorumscan/validator'
import { createFaultyProcess, readFaultEnvironment } from './process.ts'

await runProcess(async () => {
  const config = readValidatorConfig(process.env)
  const faulty = createFaultyProcess(readFaultEnvironment(process.env))
  const routed = await faulty.route({
    redis: config.redis,
    logUrl: config.log.url,
  })
  const validator = await startValidator(
    {
      ...config,
      redis: routed.redis,
      log: { ...config.log, url: routed.logUrl },
    },
    {
      clock: faulty.clock,
      extend: ({ server }) => faulty.guard(server),
    },
  )
  await faulty.listen({})
  return validator
})
