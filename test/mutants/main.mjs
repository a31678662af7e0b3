// `npm run mutants`: changes single lines of the product, and looks which changes the tests notice (main.ts).
import { runFromSources } from '../support/from-sources.mjs'

await runFromSources('test/mutants/main.ts')
