/** A Byzantine member that answers each poll of its statements immediately, without newer statements. */
import { createServer } from 'node:http'
import { again, childArgument } from '../support/child.ts'
import type { StaleNodeArgument, StaleNodeCount } from './stale-statements.ts'

const { port, answer, body } = childArgument<StaleNodeArgument>()
const text = answer === 'empty' ? '{"statements":[]}' : body
let polls = 0
let onPoll = () => {}
const polled = new Promise<void>((resolve) => {
  onPoll = resolve
})
const server = createServer((request, response) => {
  if (!request.url?.startsWith('/v0/state-statements')) return response.destroy()
  polls++
  onPoll()
  return response.setHeader('content-type', 'application/json').end(text)
})
server.listen(port, '127.0.0.1')
await polled
await again({}, async () => ({ polls }) satisfies StaleNodeCount)
process.exit()
