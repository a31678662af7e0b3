/** The parts of `npm run test:long`. Each takes at most five minutes on two cores, unless it says otherwise. */
import type { RedisOfDebian } from './debian-archive.ts'

export type LongPart = {
  /** Also the tag of its tests (vitest.config.ts). A test that runs in no other way also has the tag `long`. */
  readonly name: string
  /** The filter of tags that selects its tests. Default: its name. */
  readonly filter?: string
  /** What it shows, in addition to `npm test`. */
  readonly shows: string
  /** The files and folders with its tests. */
  readonly files: readonly string[]
  /** The version of Node that runs all tests of these files, in place of those with its tag. */
  readonly node?: string
  /** The Redis that all tests of these files use, in place of those with its tag. */
  readonly redis?: RedisOfDebian
  /** Where it takes longer than five minutes, because it runs all of a command that does. */
  readonly minutes?: number
  /** Files and folders: CI runs it if one of them has changed since its last pass, and not only if the commit picks it. */
  readonly changes?: readonly string[]
  /** Run by hand before a release. It takes longer than CI has for all parts. */
  readonly isOfRelease?: boolean
}

const ORDERING = ['test/e2e/ordering.test.ts']
const ENGINES = ['cluster/src/rig/ordering.integration.test.ts']
const OPERATORS = ['test/e2e/operators.test.ts']
const OPERATOR_FAULTS = ['test/e2e/operator-faults.test.ts']
const BARE_MACHINE = ['test/consumer/bare-machine.test.ts']
const SLOW_MACHINE = ['test/consumer/slow-machine.test.ts']
/** What decides whether the first command on a new machine works. */
const START_FILES = [
  'cluster/bootstrap.mjs',
  'cluster/provide-redis.mjs',
  'packages/base/src/find-redis.mjs',
  'package.json',
  'package-lock.json',
  '.npmrc',
  'build.mjs',
  'turbo.json',
  'tsconfig.base.json',
]
/** Integration tests, which are those that start Redis. */
const INTEGRATION = ['packages', 'apps', 'cluster']
const ATTACKS = ['test/attacks/attacks.test.ts']
/** What the SDK, the verifier and the replica do under another version of Node. */
const NODE_FILES = [
  'sdk/src',
  'packages/replica/src/rule-1.integration.test.ts',
  'packages/redis/src/command-timeout.integration.test.ts',
  'packages/server/src/lifecycle.test.ts',
  'packages/server/src/node-internals.test.ts',
  'packages/server/src/upgrades.integration.test.ts',
  'test/vectors',
  'test/parity',
  'test/consumer/consumer.test.ts',
  'test/browser/sdk.test.ts',
  'test/e2e/sdk.test.ts',
]

export const PARTS: readonly LongPart[] = [
  // First: it needs a clone without changes, and a pass changes test/long.json.
  {
    name: 'release',
    shows: 'an installed release starts a network and an operator, and two builds of it are equal',
    files: ['test/consumer/release.test.ts'],
  },
  {
    name: 'half-finished',
    shows: '1 000 exchanges of each kind that a client never finishes end by themselves',
    files: [
      'packages/server/src/half-finished.integration.test.ts',
      'cluster/src/control/half-finished.test.ts',
    ],
    minutes: 15,
  },
  {
    name: 'half-finished-processes',
    shows: 'the same of every process, with TLS and without; SIGTERM ends it while some are open',
    files: ['test/attacks/attacks.test.ts'],
    minutes: 12,
  },
  {
    name: 'heap',
    shows: 'no process keeps objects for the requests that it has answered',
    files: ['test/e2e/heap.test.ts'],
    minutes: 15,
  },
  {
    name: 'java',
    shows: "Java's HttpClient with its defaults reads nodes, the proxy and `/v2`",
    files: ['apps/validator/src/java-client.integration.test.ts'],
  },
  {
    name: 'bare-machine',
    shows:
      'npm start and the commands of the README work on a bare Debian 13, with and without root',
    files: BARE_MACHINE,
    minutes: 10,
    changes: START_FILES,
  },
  {
    name: 'bare-machine-12',
    shows:
      'npm start and the commands of the README work on a bare Debian 12, with and without root',
    files: BARE_MACHINE,
    minutes: 10,
    changes: START_FILES,
  },
  {
    name: 'bare-machine-test',
    shows: 'npm test passes on a bare Debian 13, without root',
    files: BARE_MACHINE,
    minutes: 15,
    changes: START_FILES,
  },
  {
    name: 'bare-machine-test-12',
    shows: 'npm test passes on a bare Debian 12, as root',
    files: BARE_MACHINE,
    minutes: 15,
    changes: START_FILES,
  },
  {
    name: 'one-core',
    shows: 'npm test passes on one core',
    files: SLOW_MACHINE,
    minutes: 40,
    isOfRelease: true,
  },
  {
    name: 'busy-machine',
    shows: 'npm test passes next to two busy processes',
    files: SLOW_MACHINE,
    minutes: 40,
    isOfRelease: true,
  },
  {
    name: 'redis-7',
    shows: 'the integration tests pass with Redis 7.0',
    files: INTEGRATION,
    redis: { release: 'bookworm', package: 'redis-server' },
    minutes: 10,
  },
  {
    name: 'redis-8',
    shows: 'the integration tests pass with Redis 8',
    files: INTEGRATION,
    redis: { release: 'trixie', package: 'redis-server' },
    minutes: 10,
  },
  {
    name: 'valkey-8',
    shows: 'the integration tests pass with Valkey 8',
    files: INTEGRATION,
    redis: { release: 'trixie', package: 'valkey-server' },
    minutes: 10,
  },
  {
    name: 'model',
    shows: 'the ledger equals its model for 200 sequences of commands',
    files: ['packages/ledger/src/model.test.ts'],
  },
  {
    name: 'properties',
    shows:
      'the verifier refuses documents with any changed byte, and rate limits hold in any pattern',
    files: [
      'packages/verifier/src/certified/document.test.ts',
      'packages/verifier/src/certified/forger.test.ts',
      'packages/server/src/token-buckets.test.ts',
    ],
  },
  {
    name: 'ledger-interface',
    shows:
      'streams of a log of 1000 entries equal the model, and 2000 invalid requests have no effect',
    files: [
      'packages/ledger-api/src/update-stream.integration.test.ts',
      'apps/validator/src/ledger-api/bad-input.integration.test.ts',
    ],
  },
  {
    name: 'replicas',
    shows: 'replicas that are killed, cut and rebuilt at random times have the state of the log',
    files: [
      'packages/replica/src/state-tree/state.integration.test.ts',
      'packages/replica/src/rule-1.integration.test.ts',
      'apps/scan/src/snapshots.integration.test.ts',
    ],
  },
  {
    name: 'snapshots',
    shows: 'snapshots that are taken under load have the same bytes, and make equal replicas',
    files: ['packages/replica/src/snapshot/snapshot.integration.test.ts'],
  },
  {
    name: 'simulation',
    shows: 'no schedule of 40 seeds makes a reader of certified answers accept a wrong one',
    files: ['test/sim/certified/certified.test.ts'],
  },
  {
    name: 'engines',
    shows: 'four engines order with a member that lost its disk, runs twice or is restored',
    files: ENGINES,
  },
  {
    name: 'engines-kills',
    shows: 'four engines lose and repeat no entry during 40 kills',
    files: ENGINES,
  },
  {
    name: 'engines-proposals',
    shows: 'a member that proposes garbage or expensive entries costs only its share of blocks',
    files: ENGINES,
  },
  {
    name: 'ordering-killed',
    shows: 'names are registered in at most twice the usual time while a member is killed',
    files: ORDERING,
  },
  {
    name: 'ordering-hung',
    shows: 'names are registered in at most twice the usual time while a member hangs',
    files: ORDERING,
  },
  {
    name: 'ordering-cut-off',
    shows: 'names are registered in at most twice the usual time while a member is cut off',
    files: ORDERING,
  },
  {
    name: 'ordering-faults',
    shows:
      'members order while a process of one hangs, halves or one are split off, or a disk is full',
    files: ORDERING,
  },
  {
    name: 'ordering-engine-kills',
    shows: 'a cluster neither loses nor repeats entries during 20 kills of engines',
    files: ORDERING,
  },
  {
    name: 'ordering-synchronizer-kills',
    shows: 'a cluster neither loses nor repeats entries during 20 kills of synchronizers',
    files: ORDERING,
  },
  {
    name: 'ordering-waiting',
    shows: 'entries wait for two members, and none is ordered after its time limit',
    files: ORDERING,
  },
  {
    name: 'ordering-snapshots',
    shows: 'members and validator recover after the first blocks and entries are gone',
    files: ORDERING,
  },
  {
    name: 'operators-redis',
    shows: 'separate operators lose, restore and upgrade machines, with one synchronizer',
    files: OPERATORS,
  },
  {
    name: 'operators-cometbft',
    filter: 'operators-cometbft && !operators-version',
    shows: 'separate operators lose, restore and upgrade machines, and order together',
    files: OPERATORS,
  },
  {
    name: 'operators-version',
    shows: 'ordering members change the protocol version of entries, then of blocks',
    files: OPERATORS,
  },
  {
    name: 'operators-faults-state',
    shows: 'the tables of faults in operations.md: rebuilding, diverged',
    files: OPERATOR_FAULTS,
  },
  {
    name: 'operators-faults-log',
    shows: 'the tables of faults in operations.md: behind, old software',
    files: OPERATOR_FAULTS,
  },
  {
    name: 'operators-faults-silence',
    shows: 'the tables of faults in operations.md: hung, cut off',
    files: OPERATOR_FAULTS,
  },
  {
    name: 'operators-faults-start',
    shows: 'the tables of faults in operations.md: wrong genesis, expired certificate',
    files: OPERATOR_FAULTS,
  },
  {
    name: 'operators-faults-machine',
    shows: 'the tables of faults in operations.md: wrong clock, full disk',
    files: OPERATOR_FAULTS,
  },
  {
    name: 'upgrade',
    shows: 'operators install newer software and vote for its version, and no lookup fails',
    files: ['test/e2e/upgrade.test.ts', 'test/e2e/going-back.test.ts'],
  },
  {
    name: 'alerts',
    shows: 'alerts of operators fire in Prometheus within a minute, and end within two',
    files: ['test/e2e/alerts.test.ts'],
  },
  {
    name: 'alerts-cluster',
    shows: 'alerts about lies and clocks fire in Prometheus within a minute, and end within two',
    files: ['test/e2e/alerts.test.ts'],
  },
  {
    name: 'chaos',
    shows: 'chaos runs within the fault budget have the verdict valid, and exercise every rule',
    files: ['test/e2e/random-faults.test.ts'],
  },
  {
    name: 'random-kills',
    shows: 'no payment is lost or taken twice for 60 names during 45 kills',
    files: ['test/e2e/random-faults.test.ts'],
  },
  {
    name: 'payments',
    shows:
      'each payment takes effect at most once and its client knows, with lost requests and answers, and processes that are killed, paused and restored',
    files: ['test/e2e/payments.test.ts'],
    minutes: 15,
  },
  {
    name: 'certified-reads',
    shows:
      '10 000 certified reads are right next to a lying member, and old after a minute without log',
    files: ['test/e2e/certified-reads.test.ts'],
  },
  {
    name: 'attacks',
    shows: 'attacks of outsiders and of members do bounded harm to one cluster',
    files: ATTACKS,
  },
  {
    name: 'attacks-sources',
    shows:
      'sources and seeds that lie, hang or count twice, and users who lost their rights, gain nothing',
    files: ATTACKS,
  },
  { name: 'attacks-cometbft', shows: 'attacks on members that order together', files: ATTACKS },
  // Attacks on a cluster of their own.
  {
    name: 'fuzz',
    shows: 'requests of any form make no process fail, grow or stall',
    files: ATTACKS,
  },
  {
    name: 'overload',
    shows: 'requests at a multiple of the capacity leave most of the goodput of the peak',
    files: ATTACKS,
  },
  {
    name: 'expensive-submissions',
    shows: 'expensive entries of fifty keys make a registration take at most three times as long',
    files: ATTACKS,
  },
  {
    name: 'restless-super-validator',
    shows: 'changes of the address of a node in a loop slow registrations by at most a half',
    files: ATTACKS,
  },
  {
    name: 'costly-answers',
    shows: 'a node whose answers are expensive to read does not slow reads through the proxy',
    files: ATTACKS,
  },
  {
    name: 'delayed-submissions',
    shows: 'a thousand delayed commands of one user do not delay those of another',
    files: ATTACKS,
  },
  {
    name: 'refused-entries',
    shows:
      'entries that the state refuses do not reach the log, or cost four addresses their bytes',
    files: ATTACKS,
  },
  {
    name: 'permanent-bytes',
    shows: 'addresses without a token add to the state what a day permits',
    files: ATTACKS,
  },
  {
    name: 'costly-lists',
    shows: 'a user that reads lists of many contracts does not delay ten modest ones',
    files: ATTACKS,
  },
  {
    name: 'expired-bundle-flood',
    shows: 'bundles of expired entries make ordering take at most three times as long',
    files: ATTACKS,
  },
  {
    name: 'unread-answers',
    shows: 'large answers that are not read, and idle connections, leave a process its memory',
    files: ATTACKS,
  },
  {
    name: 'compilers',
    shows: 'other compilers and Next.js build code that imports the SDK, and typedoc reads it',
    files: ['test/consumer/consumer.test.ts'],
  },
  {
    name: 'generators',
    shows: 'generators make clients from the documents that compile',
    files: ['test/consumer/generators.test.ts'],
  },
  {
    name: 'runtimes',
    shows:
      'the SDK reads names in Node 20.19 to 24, Deno, Bun, Workers, Chromium and its workers, Firefox',
    files: ['test/consumer/runtimes.test.ts'],
  },
  {
    name: 'tools',
    shows:
      'the SDK runs under jest and vitest with jsdom and happy-dom, and webpack and Metro bundle it',
    files: ['test/consumer/tools.test.ts'],
  },
  {
    name: 'member-sets',
    shows: 'TLC finds no violation in the model of member sets that change, and each planted fault',
    files: ['test/sim/members/member-sets.test.ts'],
  },
  {
    name: 'suites-crypto',
    shows:
      'Wycheproof, speccheck and CCTV hold for signatures, and vectors made from RFC 7515 for tokens',
    files: ['test/suites/crypto.test.ts'],
  },
  {
    name: 'suites-json',
    shows: 'JSONTestSuite holds for each parser, and RFC 8785 with two other implementations',
    files: ['test/suites/json.test.ts'],
  },
  {
    name: 'suites-texts',
    shows: 'times are read as RFC 3339 writes them, and no confusable character is one of a name',
    files: ['test/suites/texts.test.ts'],
  },
  {
    name: 'suites-http',
    shows: 'the server of all processes reads HTTP and WebSockets as RFC 9112 and RFC 6455 say',
    files: ['test/suites/http.test.ts'],
  },
  {
    name: 'suites-documents',
    shows: 'Python, Go and Java read the patterns of the OpenAPI documents as JavaScript does',
    files: ['test/suites/documents.test.ts'],
  },
  {
    name: 'site',
    shows: 'all pages of the documentation site fit and are accessible',
    files: ['test/browser/site.test.ts'],
  },
  {
    name: 'node-22',
    shows:
      'the tests of the SDK, and of what relies on internals of Node and ioredis, pass with Node 22',
    files: NODE_FILES,
    node: '22',
  },
  {
    name: 'node-24',
    shows:
      'the tests of the SDK, and of what relies on internals of Node and ioredis, pass with Node 24',
    files: NODE_FILES,
    node: '24',
  },
]
