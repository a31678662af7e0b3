/** Measures the cost of distance: each operator has a machine, with the same delay between any two. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseGenesis } from '@quorumscan/verifier'
import { CHILD_STDIO, type Child, startChild } from '../../support/child.ts'
import type { Load } from '../../support/load.ts'
import type { LoadArgument } from '../../support/load-child.ts'
import {
  createNetwork,
  type Operator,
  type Ordering,
  run,
  untilReady,
} from '../../support/operators.ts'
import type { SdkArgument } from '../certified/sdk-child.ts'
import { print, printRow, printSkipped } from '../report.ts'
import { inTurn, ratiosOf } from '../turns.ts'
import type { DelayArgument } from './delay-child.ts'
import type { RegisterArgument, RegisterResult } from './register-child.ts'

/** Round trip between two machines. */
const ROUND_TRIP_MS = 40
/** The measured operations. There is one lookup at a time. */
const WHAT = [
  'voted lookup near the validator',
  'certified lookup near a node',
  'certified lookup near no node',
  'registration until it is found',
]
const PREFIX = 'near'
const RATE_LIMIT = 100_000

const programOf = (name: string) => `bench/machines/${name}`

export async function measureMachines(options: {
  readonly drivers: readonly Ordering[]
  readonly nameCount: number
  readonly turns: number
  /** Duration of each slice of lookups. */
  readonly ms: number
}): Promise<void> {
  for (const ordering of options.drivers) {
    const near: DelayArgument = { relay: null, delayMs: 0 }
    await using relays = startChild(programOf('delay-child'), near)
    await relays.result()
    await using network = await createNetwork({
      ordering,
      svCount: 4,
      variables: { QS_RATE_LIMIT: String(RATE_LIMIT) },
      startRelay: async (announced, address) => {
        await relays.again({ relay: { announced, address } })
      },
    })
    if (network.machines.kind !== 'namespaces') {
      printSkipped('machines: this process cannot make network namespaces')
      return
    }
    for (const operator of network.all) run(operator)
    for (const operator of network.all) await untilReady(operator)
    await measureNetwork(network, { ...options, ordering, relays })
  }
}

async function measureNetwork(
  network: Awaited<ReturnType<typeof createNetwork>>,
  options: {
    readonly ordering: Ordering
    readonly nameCount: number
    readonly turns: number
    readonly ms: number
    readonly relays: Child
  },
): Promise<void> {
  const { ordering, nameCount: count, turns, ms, relays } = options
  const { client, validator, svs } = network
  const [sv] = svs
  if (sv === undefined) throw new Error('the network has no super-validator')
  const genesisFile = join(sv.machine.directory, 'etc/genesis.json')
  const genesis = parseGenesis(JSON.parse(readFileSync(genesisFile, 'utf8')))
  const names = Array.from({ length: count }, (_, index) => `${PREFIX}-${index}.unverified.ns`)
  const token = await client.token('registrant')

  await using registrant = startOn(validator, 'register-child', {
    validator: client.urls.validator,
    token,
    prefix: PREFIX,
    count,
  } satisfies RegisterArgument)
  await registrant.result()
  await using voted = startOn(validator, '../../support/load-child', {
    origin: client.urls.validator,
    connections: 1,
    ms,
    paths: names.map((name) => `/v0/scan-proxy/ans-entries/by-name/${name}`),
  } satisfies LoadArgument)
  const url = `https://${sv.machine.address}:4611`
  const sdk: SdkArgument = { kind: 'resolve', url, names, genesis, connections: 1, ms }
  await using certified = startOn(sv, '../certified/sdk-child', sdk)
  await using far = startOn(validator, '../certified/sdk-child', sdk)
  // Warm-up: connections open, and code is compiled.
  for (const one of [voted, certified, far]) await one.result()

  const p50Of = async (child: Child): Promise<number> => {
    const { p50Ms, firstFailure } = await child.again<Load>()
    if (firstFailure !== null) print(`  the first that failed: ${firstFailure}`)
    return p50Ms
  }
  let turn = 0
  const at = (roundTripMs: number) => async () => {
    await relays.again({ delayMs: roundTripMs / 2 })
    const { p50Ms } = await registrant.again<RegisterResult>({ prefix: `turn-${turn++}`, count: 1 })
    return [await p50Of(voted), await p50Of(certified), await p50Of(far), p50Ms]
  }
  const slices = await inTurn(turns, { here: at(0), apart: at(ROUND_TRIP_MS) })
  for (const [index, what] of WHAT.entries()) {
    const row = (how: string, values: readonly number[], unit: string) =>
      printRow({ what: `${ordering}: ${what}, ${how}`, values, unit, budget: null })
    const of = (slice: readonly number[]) => slice[index] ?? Number.NaN
    row('p50 at 0 ms', slices.here.map(of), 'ms')
    row(`at ${ROUND_TRIP_MS} ms`, slices.apart.map(of), 'ms')
    row(`${ROUND_TRIP_MS} ms ÷ 0 ms`, ratiosOf(slices.apart, slices.here, of), '')
  }
}

/** Starts a program on the machine of an operator, with the authority that the operator trusts. */
function startOn({ machine }: Operator, program: string, argument: object): Child {
  const env = { NODE_EXTRA_CA_CERTS: join(machine.directory, 'etc/tls/ca.pem') }
  return startChild(programOf(program), argument, (command, ...args) =>
    machine.start({ stdio: [...CHILD_STDIO], env }, command, ...args),
  )
}
