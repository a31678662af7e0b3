// `npm run sim`: runs the simulation from its sources, without a build.
//
//   npm run sim                         ten thousand reads, from a random seed
//   npm run sim -- --reads 1000000      another number of reads
//   SEED=7 npm run sim                  repeats this seed in all modes (--mode for one)
import { runFromSources } from '../support/from-sources.mjs'

await runFromSources('test/sim/main.ts')
