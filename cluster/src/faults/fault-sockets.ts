/** The sockets on which the processes of a cluster accept faults. The rig plans them as a variable of each process. */
import { redisSocketOf, type Service } from '@quorumscan/supervisor'

/** What the paths of the sockets of a process begin with. */
export function faultSocketsOf(machine: { readonly socketDirectory: string }, name: string) {
  return redisSocketOf(machine.socketDirectory, `f-${name}`)
}

/** The socket of the agent in a process (`agent.ts`). */
export function faultSocketOf(service: { readonly app: Pick<Service['app'], 'env'> }): string {
  const prefix = service.app.env['QS_FAULT_SOCKETS']
  if (prefix === undefined) throw new Error('the process has no QS_FAULT_SOCKETS')
  return `${prefix}.faults`
}
