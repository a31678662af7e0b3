// `node test/vectors/record-log.mjs`: records the log of the newest version of the protocol, from the sources. A version
// that has a recorded log keeps it.
import { runFromSources } from '../support/from-sources.mjs'

await runFromSources('test/vectors/record-log.ts')
