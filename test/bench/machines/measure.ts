/** What distance costs: each operator on a machine of its own, and the same way from any to any other. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseGenesis } from '@quorumscan/consensus'
import {
  createNetwork,
  type Operator,
  type Ordering,
  run,
  untilReady,
} from '../../support/operators.ts'
import type { SdkArgument } from '../certified/sdk-child.ts'
import { CHILD_STDIO, type Child, startChild } from '../child.ts'
import type { Load } from '../load.ts'
import type { LoadArgument } from '../proxy/load-child.ts'
import { print, printRow } from '../report.ts'
import type { DelayArgument } from './delay-child.ts'
import type { RegisterArgument } from './register-child.ts'

/** From one machine to another and back. */
const ROUND_TRIPS_MS = [0, 40]
const PREFIX = 'near'
const RATE_LIMIT = 100_000

const programOf = (name: string) => new URL(`${name}.js`, import.meta.url)

export async function measureMachines(options: {
  readonly drivers: readonly Ordering[]
  readonly registrationCount: number
  readonly ms: number
}): Promise<void> {
  for (const ordering of options.drivers) {
    const near: DelayArgument = { between: null, delayMs: 0 }
    await using ways = startChild(programOf('./delay-child'), near)
    await ways.result()
    await using network = await createNetwork({
      ...{ ordering, svCount: 4, variables: { QS_RATE_LIMIT: String(RATE_LIMIT) } },
      between: async (announced, address) => {
        await ways.again({ between: { announced, address } })
      },
    })
    if (network.machines.kind !== 'namespaces') {
      print('SKIPPED  machines: this process may make no network namespaces')
      return
    }
    for (const operator of network.all) run(operator)
    for (const operator of network.all) await untilReady(operator)
    await measureNetwork(network, { ...options, ordering, ways })
  }
}

async function measureNetwork(
  network: Awaited<ReturnType<typeof createNetwork>>,
  options: {
    readonly ordering: Ordering
    readonly registrationCount: number
    readonly ms: number
    readonly ways: Child
  },
): Promise<void> {
  const { ordering, registrationCount: count, ms, ways } = options
  const { client, validator, svs } = network
  const [sv] = svs
  if (sv === undefined) throw new Error('there is no super-validator')
  const genesisFile = join(sv.machine.directory, 'etc/genesis.json')
  const genesis = parseGenesis(JSON.parse(readFileSync(genesisFile, 'utf8')))
  const names = Array.from({ length: count }, (_, index) => `${PREFIX}-${index}.unverified.ns`)
  const token = await client.token('registrant')

  await using registrant = startOn(validator, './register-child', {
    ...{ validator: client.urls.validator, token, prefix: PREFIX, count },
  } satisfies RegisterArgument)
  await registrant.result()
  await using voted = startOn(validator, '../proxy/load-child', {
    ...{ origin: client.urls.validator, connections: 1, ms },
    paths: names.map((name) => `/v0/scan-proxy/ans-entries/by-name/${name}`),
  } satisfies LoadArgument)
  const url = `https://${sv.machine.address}:4611`
  const sdk: SdkArgument = { ...{ kind: 'resolve', url, names, genesis }, connections: 1, ms }
  await using certified = startOn(sv, '../certified/sdk-child', sdk)
  await using far = startOn(validator, '../certified/sdk-child', sdk)
  // The first ones open connections, and compile what runs.
  for (const one of [voted, certified, far]) await one.result()

  const p50Of = async (child: Child): Promise<number> => {
    const { p50Ms, firstFailure } = await child.again<Load>()
    if (firstFailure !== null) print(`  the first that failed: ${firstFailure}`)
    return p50Ms
  }
  const measured: number[][] = []
  for (const roundTripMs of ROUND_TRIPS_MS) {
    await ways.again({ delayMs: roundTripMs / 2 })
    // What was under way comes to its end.
    await registrant.again({ prefix: `warm-${roundTripMs}`, count: 1 })
    const { p50Ms } = await registrant.again<{ p50Ms: number }>({ prefix: `at-${roundTripMs}` })
    measured.push([await p50Of(voted), await p50Of(certified), await p50Of(far), p50Ms])
  }
  const rows = [
    'voted lookup, its client near the validator',
    'certified lookup, its client near a node',
    'certified lookup, its client near no node',
    'registration until it is found',
  ]
  for (const [at, what] of rows.entries()) {
    const row = (how: string, value: number, unit: string) =>
      printRow({ what: `${ordering}: ${what}: ${how}`, value, unit, budget: null })
    const [near = Number.NaN, far = Number.NaN] = measured.map((values) => values[at])
    row('p50 at 0 ms', near, 'ms')
    row('p50 at 40 ms', far, 'ms')
    row('40 ms ÷ 0 ms', far / near, '')
  }
}

/** On the machine of an operator, with the certificates that it trusts. */
function startOn({ machine }: Operator, program: string, argument: object): Child {
  const env = { NODE_EXTRA_CA_CERTS: join(machine.directory, 'etc/tls/ca.pem') }
  return startChild(programOf(program), argument, (command, ...args) =>
    machine.start({ stdio: [...CHILD_STDIO], env }, command, ...args),
  )
}
