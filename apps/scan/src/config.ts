/** What the process is told by its environment. Files are read in `context.ts`. */
import { type Env, readEnv } from '@quorumscan/base'
import { readFollowerConfig } from '@quorumscan/http'

export type ScanConfig = ReturnType<typeof envToConfig>

/** @throws {EnvError} That names every missing or bad variable. */
export function envToConfig(env: Env) {
  return readEnv(env, (variables) => {
    const publicUrl = variables.optional('QS_PUBLIC_URL')
    if (publicUrl !== null && !(/^https?:\/\/[!-~]+$/.test(publicUrl) && URL.canParse(publicUrl)))
      variables.problem(`QS_PUBLIC_URL is no http URL: ${JSON.stringify(publicUrl)}`)
    return {
      ...readFollowerConfig(variables),
      /** This node's name in the genesis. Of `nodes` it is left out. */
      nodeName: variables.text('QS_NODE_NAME'),
      /** Hex seeds of the node's two keys: `scan` signs addresses and states, `operator` submissions. */
      scanKeyFile: variables.text('QS_SCAN_KEY_FILE'),
      operatorKeyFile: variables.text('QS_OPERATOR_KEY_FILE'),
      /** The address that others reach this node at; null: the one it listens on. */
      publicUrl: publicUrl === null ? null : publicUrl.replace(/\/+$/, ''),
      /** Tokens of callers who may ask for more (D-33), one a line; null: there are none. */
      peerTokensFile: variables.optional('QS_PEER_TOKENS_FILE'),
    }
  })
}
