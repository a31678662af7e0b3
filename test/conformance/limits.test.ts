/**
 * Each number of the table "Limits" of the specification has a test at the limit and on both sides of it. A row without one
 * fails here, and so does a number that no row had before.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { memberOf } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { routeCases } from '../support/routes.ts'
import { boundsOf } from './schema-bounds.ts'
import { LIMITS } from './suites/boundaries.ts'

const ROOT = join(import.meta.dirname, '../..')

/** What tests a number: a request of `boundaries.ts`, a bound of a schema, or a test of a unit. */
type Test =
  | { readonly request: string }
  | { readonly bound: readonly [operation: string, part: string, member: string, limit: number] }
  | { readonly file: string; readonly title: string }

const request = (name: string): Test => ({ request: name })
const bound = (operation: string, place: string, limit: number): Test => {
  const [part = '', ...member] = place.split('.')
  return { bound: [operation, part, member.join('.'), limit] }
}
const unit = (file: string, title: string): Test => ({ file, title })

const POOLS = unit('test/tidy/pools.test.ts', 'the numbers of a row are those of the code')
const CONNECTIONS = 'packages/server/src/connection-limiter.test.ts'
const SLOTS = unit(
  CONNECTIONS,
  'has as many slots of %s as its limit says, and makes room for one more',
)
const LIFECYCLE = 'packages/server/src/lifecycle.test.ts'
const RULES = 'packages/ledger/src/submission-rules.test.ts'
const COIN = 'packages/ledger/src/coin.test.ts'
const BUDGETS = 'apps/synchronizer/src/budgets.test.ts'
const PRICES = 'packages/api/src/routes.test.ts'
const BUCKETS = 'packages/server/src/token-buckets.test.ts'
const MOUNT = 'packages/ledger-api/src/http/mount.test.ts'
const FEED = 'packages/log/src/feed.integration.test.ts'
const TIMELINE = 'packages/replica/src/storage/timeline.test.ts'
const PAYMENTS = 'packages/wallet/src/wallet/payments.test.ts'

/** By the first cell of a row: its numbers in their order, and the tests of them. */
const ROWS: Readonly<Record<string, readonly [numbers: string, ...tests: readonly Test[]]>> = {
  page_size: ['1 1000', bound('listEntries', 'query.page_size', 1000)],
  'lookups in a batch': ['256', bound('lookupEntries', 'body.lookups', 256)],
  body: [
    '1 8 256',
    request('bytes of a body'),
    request('bytes of a body under /v2'),
    request('bytes of a body under /v2 that is decoded before the token is checked'),
  ],
  'JSON of a body': [
    '64 4096 32768',
    request('levels of JSON'),
    request('values of a body'),
    request('values of a body under /v2'),
  ],
  "a request's headers, its body, its answer": [
    '10 10 20 60',
    unit(LIFECYCLE, 'a client that never finishes sending %s is cut off with 408'),
    unit(LIFECYCLE, 'a request whose handler takes too long gets 503, and its signal aborts'),
    unit(MOUNT, 'a body may take 20 s to arrive, then it is 408, as text'),
    unit(MOUNT, 'an operation that takes longer than 20 s is 503, as text'),
  ],
  'WebSocket frame': [
    '1 16 10',
    request('bytes of a frame under /v2'),
    request('bytes of a frame of the proxy'),
    unit(
      'packages/ledger-api/src/http/ledger-sockets.test.ts',
      'without a request within 10 s the connection ends',
    ),
  ],
  WebSockets: ['4096 1024 64', POOLS, SLOTS],
  connections: ['8192 512', POOLS, SLOTS],
  'answers that are not read': [
    '256 64',
    unit(
      'packages/server/src/unread-answers.test.ts',
      'keeps as many bytes of %s as the bound says, and not one more',
    ),
  ],
  'long polls of a node': [
    '1024 64',
    POOLS,
    SLOTS,
    unit(
      'packages/server/src/long-polls.test.ts',
      'the oldest poll of an address makes room for its 65th, and no other',
    ),
  ],
  'elements of a list under `/v2`': ['200', request('elements of a list under /v2')],
  'commands, nodes of a transaction, disclosed contracts': [
    '100 1000 100',
    request('commands of a submission'),
    bound('submitAndWait', 'body.commands', 100),
    unit(RULES, 'a transfer has at most 100 outputs, a transaction at most 1000 events'),
    bound('submitAndWait', 'body.disclosedContracts', 100),
  ],
  'contracts named, parties of a submission': [
    '200 200',
    unit(
      RULES,
      'a submission names at most 200 contracts, and more are refused before one is loaded',
    ),
    bound('submitAndWait', 'body.actAs', 200),
    bound('submitAndWait', 'body.readAs', 200),
  ],
  'log entry': [
    '256 32',
    unit(
      'packages/ledger/src/entry.test.ts',
      'an entry has at most 256 KiB, for writer and reader',
    ),
    unit('packages/ledger/src/entry.test.ts', 'a body with 32 levels of nesting is accepted'),
    unit('packages/ledger/src/entry.test.ts', '33 levels'),
  ],
  'coin of a tap or a reward': ['10^12', request('coin of a tap')],
  'open requests, payments in flight, open offers of a party': [
    '16 16 100',
    unit(COIN, 'a party has at most 16 open requests and 16 payments in flight, renewals included'),
    unit(COIN, 'a party has at most 100 open offers, and only its own offers count'),
  ],
  requests: [
    '200 64 400 48 1 1 16 1 3 8 3 30 60 30 1 5 1 4 1',
    unit(
      BUCKETS,
      'a client gets at most the units of one second at once, and then the rate, in any pattern',
    ),
    unit(PRICES, 'a page of %d costs %d'),
    unit(PRICES, '%d lookups cost %d'),
    unit(PRICES, 'a lookup through the proxy costs 3, a document of the network 8'),
    unit(
      PRICES,
      'each submission of a user costs 30, one that pays 60, and each other operation less',
    ),
  ],
  entries: [
    '50 48 500 25',
    unit(BUDGETS, 'are available to one address again when the others have stopped'),
    unit(
      BUDGETS,
      'belongs to an operator key, whichever client submits; other keys have no budget',
    ),
  ],
  'addresses of a super-validator': [
    '10',
    unit(
      'packages/ledger/src/confirmations.test.ts',
      'a super-validator changes its address every ten seconds at most, to the microsecond',
    ),
  ],
  'streams of the log': [
    '128 4',
    unit(FEED, 'are limited in number, and one that leaves makes room'),
    unit(FEED, 'of one peer are limited: its oldest stream ends when it opens another'),
  ],
  'history at an offset': [
    '10 200000 1000000',
    unit(TIMELINE, 'reads go back ten minutes of record time'),
    unit(TIMELINE, 'reads go back 200 000 ended versions'),
    unit(
      'packages/replica/src/storage/timeline-offsets.test.ts',
      'reads go back a million offsets',
    ),
  ],
  'deduplication period, ledger time ahead, life of a submission': [
    '24 60 10',
    unit(
      RULES,
      'a period beyond the genesis maximum is refused, and records beyond it are forgotten',
    ),
    request('seconds that a ledger time is ahead'),
    unit(RULES, 'an entry is accepted until notAfter, which lies at most ten minutes ahead'),
  ],
  'expiry of a transfer; records of payments per user, each until its expiry and 24 h': [
    '24 30 10000',
    unit('apps/validator/src/transfers.integration.test.ts', 'expires within 30 days'),
    unit(PAYMENTS, 'PAYMENTS_PER_USER_MAX'),
  ],
  'clocks of two nodes apart': [
    '2',
    unit(
      'packages/runtime/src/clock-comparison.test.ts',
      'is off when the needed number of peers disagrees, and fewer agree',
    ),
  ],
}

const specification = await readFile(join(ROOT, 'docs/specification.md'), 'utf8')
const table = (/^## Limits\n([\s\S]*?)^An address/m.exec(specification)?.[1] ?? '')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(1)
  .map((line) => line.slice(2, -2).split(' | '))

/** Numbers of a row in their order, without those of decisions and operations. */
const numbersOf = (cells: readonly string[]) =>
  cells
    .join(' ')
    .replaceAll(/\bD-[0-9]+|\/v[02]|IPv[46]/g, '')
    .replaceAll(/(?<=[0-9]) (?=[0-9]{3}\b)/g, '')
    .match(/[0-9]+(?:\^[0-9]+)?/g)
    ?.join(' ')

it('each row has tests, and each test is of a row', () => {
  expect(table.length).toBeGreaterThan(20)
  expect(table.map(([name]) => name)).toEqual(Object.keys(ROWS))
})

it.each(table)('the tests of “%s” are of its numbers', async (name, ...cells) => {
  const [numbers, ...tests] = ROWS[name ?? ''] ?? ['']
  expect(numbersOf([name ?? '', ...cells])).toBe(numbers)
  expect(tests.length).toBeGreaterThan(0)
  for (const test of tests) {
    if ('request' in test) expect(Object.keys(LIMITS)).toContain(test.request)
    else if ('file' in test)
      expect(await readFile(join(ROOT, test.file), 'utf8'), test.file).toContain(test.title)
    else {
      const [operation, part, member, limit] = test.bound
      const { route } = routeCases.find((one) => one.route.operationId === operation) ?? {}
      const bounds = boundsOf(memberOf(route, part) as object)
      expect(bounds.map(({ path, limit: size }) => [path.join('.'), size])).toContainEqual([
        member,
        limit,
      ])
    }
  }
})
