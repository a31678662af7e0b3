/** Shows the supervisor of this process that its event loop turns: a byte a second, through a pipe that it inherits. */
import { Socket } from 'node:net'

/** In the environment of a process that must show it; the value is the descriptor of the pipe. */
export const HEARTBEAT_VARIABLE = 'QUORUMSCAN_HEARTBEAT'
const EVERY_MS = 1000

/** Does nothing in a process without a supervisor that listens. It keeps no process running. */
export function startHeartbeat(): void {
  // biome-ignore lint/style/noProcessEnv: the variable belongs to the process, as its signals do.
  const descriptor = Number(process.env[HEARTBEAT_VARIABLE] || Number.NaN)
  // Programs that this process starts do not have the pipe.
  // biome-ignore lint/style/noProcessEnv: as above.
  delete process.env[HEARTBEAT_VARIABLE]
  if (!Number.isInteger(descriptor)) return
  const pipe = new Socket({ fd: descriptor, readable: false, writable: true }).unref()
  const beat = () => {
    // A supervisor that does not read must not fill the memory of this process.
    if (pipe.writableLength === 0) pipe.write('.')
  }
  // biome-ignore lint/style/noRestrictedGlobals: it must end with the event loop, which a delay of a clock keeps running.
  const timer = setInterval(beat, EVERY_MS).unref()
  // The supervisor was killed: this process continues without it.
  pipe.on('error', () => clearInterval(timer))
  beat()
}
