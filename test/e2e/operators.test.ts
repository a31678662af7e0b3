/**
 * Operators that share no machine, user or key. Each makes its keys, all make the same genesis, and each runs its own
 * part with `run` and TLS. Machines are killed, cut off, or lost with their disks. Backups are restored on others. Each kind of ordering has one network, and each test leaves all of it up.
 *
 * @module-tag long
 */

import { once } from 'node:events'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { NEWEST_RULES } from '@quorumscan/ledger'
import { createLedgerClient } from '@quorumscan/sdk/raw'
import { send, until, untilTrue } from '@quorumscan/testkit'
import { memberOf } from '@quorumscan/verifier'
import { enginePath } from 'quorumscan/testing/engine'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { clock, createUser, lookup, untilFound, unwrap } from '../support/client.ts'
import {
  acceptOffer,
  createNetwork,
  decide,
  type Network,
  type Operator,
  outputOf,
  rewardsOf,
  run,
  runCli,
  stop,
  untilReady,
} from '../support/operators.ts'
import {
  copySoftware,
  EARLY_BLOCK_RULES,
  EARLY_BLOCK_RULES_MS,
  newestKnown,
  nextVersion,
} from '../support/software.ts'

const ALICE = 'alice.unverified.ns'
/** Keeps a client below its rate limit, which a fast machine would otherwise exceed. */
const LOOKUP_EVERY_MS = 20
const BACKUP = 'one.backup'
/** The identity of the recipient of all backups, as `age-keygen` made it. */
const IDENTITY = 'AGE-SECRET-KEY-1VFVP0QNDKXQDW6W0F8KRYZG3L2ZQ29YP7XTPD2G2XSG6E5AXX95QQDESG2'
const RECIPIENT = 'age14hxtwd4zacy7y5pn6ch7q6me406eve426m900jp8pku4y7ra6f0q6sjfxk'
/** On the machine to which a backup is restored. */
const IDENTITY_FILE = 'key.txt'
const ROOT = join(import.meta.dirname, '../..')
/** Limit of a tap in the newer version, in coin times 10^10. */
const TAP_MAX = 10n ** 16n

for (const ordering of enginePath === null ? ['redis'] : ['redis', 'cometbft'])
  describe(`operators on separate machines, ordered by ${ordering},`, {
    tags: [`operators-${ordering}`],
  }, () => {
    const isCometBft = ordering === 'cometbft'
    let network: Network
    let alice: Awaited<ReturnType<typeof createUser>>
    let count = 0

    beforeAll(async () => {
      network = await createNetwork({ ordering: isCometBft ? 'cometbft' : 'redis', svCount: 4 })
      const { all, client, machines } = network
      process.stdout.write(`machines are ${machines.kind}\n`)
      for (const operator of all) run(operator)
      for (const operator of all) await untilReady(operator)
      alice = await createUser(client, 'alice', '1000.0')
      await alice.pay(ALICE)
      await untilFound(client, ALICE)
    })
    afterAll(() => network?.[Symbol.asyncDispose]())
    afterEach(untilWhole)

    /** Registers a new name, and waits until lookups find it. */
    async function register(): Promise<void> {
      const name = `name-${++count}.unverified.ns`
      await alice.pay(name)
      await untilFound(network.client, name)
    }

    async function untilWhole(): Promise<void> {
      await untilTrue('all nodes to vote on the newest state', async () => {
        const answer = await lookup(network.client, ALICE, { 'x-quorum': 'all' })
        return answer.status === 200
      })
      // Lookups need no log. After 15 s without one the validator refuses writes until its replica has caught up.
      await untilTrue('the validator to accept writes', async () => {
        const { urls, fetch } = network.client
        return (await send(`${urls.validator}/readyz`, { fetch })).status === 200
      })
    }

    function sv(number: number): Operator {
      const operator = network.svs[number - 1]
      if (operator === undefined) throw new Error(`there is no sv-${number}`)
      return operator
    }

    async function runAgain(operator: Operator): Promise<void> {
      run(operator)
      await untilReady(operator)
    }

    /** The ids of processes with this text in an argument. */
    async function processesWith(text: string): Promise<readonly number[]> {
      const entries = (await readdir('/proc')).filter((entry) => /^[0-9]+$/.test(entry))
      const commands = await Promise.all(
        entries.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
      )
      return entries.filter((_, index) => commands[index]?.includes(text)).map(Number)
    }

    const processesOf = async ({ machine }: Operator) =>
      JSON.parse(await readFile(join(machine.directory, 'var/processes.json'), 'utf8')).content

    it('cannot start a second `run`, and `run` restarts a process that exits', async () => {
      const operator = sv(1)
      // A second `run` would end the processes of the first one.
      const { running } = operator
      const twice = run(operator)
      await once(twice, 'exit')
      expect(twice.exitCode).toBe(1)
      expect(outputOf(operator)).toContain('runs the processes of')
      operator.running = running

      const find = async () =>
        (await processesOf(operator)).find(({ id }: { id: string }) => id === operator.name)
      const { pid } = await find()
      process.kill(pid, 'SIGKILL')
      await untilTrue('another process', async () => {
        const again = await find()
        return again !== undefined && again.pid !== pid
      })
      await untilWhole()
    })

    it.runIf(isCometBft)(
      'register names while an engine hangs, which is ended and started again',
      async () => {
        const operator = sv(2)
        const home = join(operator.machine.directory, 'var/engines')
        const find = async () => (await processesWith(home))[0]
        const pid = await until('its engine', find)
        process.kill(pid, 'SIGSTOP')
        await register()
        await untilTrue('it to be ended', () =>
          outputOf(operator).includes('the engine hung: it did not answer for 60 s, and is ended'),
        )
        await untilTrue('another engine', async () => ![undefined, pid].includes(await find()))
        expect(outputOf(operator)).toContain('the engine exited; restarting it')
        await untilWhole()
      },
    )

    it('register names while one machine is down', async () => {
      await sv(2).machine.kill()
      await register()
      await runAgain(sv(2))
    })

    it('register names while one machine is cut off, which then catches up without a restart', async () => {
      await sv(3).machine.cutOff()
      await register()
      await sv(3).machine.reconnect()
    })

    /** Checks the replicas from the validator's machine, with the public files. */
    async function expectEqual(): Promise<void> {
      const files = ['--genesis', 'etc/genesis.json', '--members', 'etc/members']
      expect(await runCli(network.validator, 'check', ...files)).toContain('all replicas are equal')
      const found = await runCli(network.validator, 'resolve', ALICE, '--quorum', 'all', ...files)
      expect(found).toContain(': verified')
    }

    it('can check from any machine that all replicas are equal', expectEqual)

    it('send rewards to a user of the validator', async () => {
      await rewardsOf(sv(2), 'send', alice.party, '1')
      const before = Number((await alice.balance()).effective_unlocked_qty)
      await acceptOffer(alice)
      expect(Number((await alice.balance()).effective_unlocked_qty)).toBe(before + 1)
    })

    /** All super-validators have signed the same history, whatever machine they run on. */
    async function expectOneHistory(): Promise<void> {
      const { fetch } = network.client
      const ask = async ({ machine }: Operator): Promise<Map<number, string>> => {
        const url = `https://${machine.address}:4611/v0/state-statements?after=0`
        const { body } = await send(url, { fetch })
        const statements: { offset: number; historyHash: string }[] = body.statements
        return new Map(statements.map(({ offset, historyHash }) => [offset, historyHash]))
      }
      const histories = await until('an offset that all have signed', async () => {
        const [first = new Map(), ...others] = await Promise.all(network.svs.map(ask))
        const offset = [...first.keys()].findLast((one) => others.every((other) => other.has(one)))
        return offset && [first, ...others].map((signed) => signed.get(offset))
      })
      expect(histories).toHaveLength(4)
      expect(new Set(histories).size).toBe(1)
    }

    /** Makes a backup of a running operator, destroys its machine, and copies the backup to another one. */
    async function lose(
      operator: Operator,
      { address, meanwhile = register }: { address?: string; meanwhile?(): Promise<void> } = {},
    ): Promise<void> {
      const { role, name, machine } = operator
      const to = ['--out', BACKUP, '--encrypt-to', RECIPIENT]
      await runCli(operator, 'backup', role, '--config', operator.configFile, ...to)
      const backup = await readFile(join(machine.directory, BACKUP))
      await meanwhile()
      await machine.destroy()
      operator.machine = await network.machines.add(name, address)
      operator.machine.write(BACKUP, backup)
      operator.machine.write(IDENTITY_FILE, IDENTITY)
    }

    async function restore(operator: Operator, ...flags: readonly string[]): Promise<void> {
      await rm(join(operator.machine.directory, 'var'), { recursive: true, force: true })
      const identity = ['--identity', IDENTITY_FILE]
      await runCli(operator, 'restore', BACKUP, '--to', 'var', ...identity, ...flags)
      operator.configFile = join(operator.machine.directory, 'var/run.env')
    }

    it('restore a super-validator at another address, which votes and does not equivocate', async () => {
      const operator = sv(4)
      const heightOf = async () => {
        const { directory } = operator.machine
        const file = join(directory, 'var/engines/sv-4/data/priv_validator_state.json')
        return Number(JSON.parse(await readFile(file, 'utf8')).height)
      }
      await lose(operator)
      await register()
      await network.certify(operator.machine)
      const { address, directory } = operator.machine
      const changes = [
        `QS_PUBLIC_URL=https://${address}:4611`,
        `QS_TLS_CERT=${directory}/etc/tls/cert.pem`,
        `QS_TLS_KEY=${directory}/etc/tls/key.pem`,
      ]
      await restore(operator, '--set', ...changes)
      await runAgain(operator)
      await untilWhole()
      await expectOneHistory()
      await moveMember(operator)
      await expectEqual()
      if (isCometBft) await untilTrue('it to vote on blocks', async () => (await heightOf()) > 0)
      // With another member down, names need its confirmation and blocks need its vote.
      await sv(1).machine.kill()
      await register()
      await runAgain(sv(1))
      await expectNoContradiction()
    })

    /** Issues the member file with the new addresses, and gives it to all, whose processes run. */
    async function moveMember(operator: Operator): Promise<void> {
      const { name, machine } = operator
      const addresses = ['--url', `https://${machine.address}:4611`]
      if (isCometBft) addresses.push('--engine-address', `${machine.address}:26656`)
      await runCli(operator, 'member', 'file', '--name', name, '--out', 'var', ...addresses)
      const file = `${name}.member.json`
      const text = await readFile(join(machine.directory, 'var', file), 'utf8')
      operator.machine.write(`var/members/${file}`, text)
      for (const other of network.all)
        if (other !== operator) other.machine.write(`etc/members/${file}`, text)
      for (const other of network.all)
        await untilTrue(`${other.name} to have the new addresses`, () =>
          outputOf(other).includes(`the super-validator ${name} has other addresses`),
        )
    }

    it.runIf(isCometBft)(
      'remove and admit a validator by its member file, without a restart',
      async () => {
        const { svs, validator } = network
        const path = 'etc/members/v.member.json'
        const text = await readFile(join(validator.machine.directory, path), 'utf8')
        const before = await Promise.all(svs.map(processesOf))
        // Each operator has its member files at one of two places.
        const change = async (present: boolean) => {
          for (const { machine, configFile } of svs) {
            const [, members = ''] =
              /^QS_MEMBERS=(.*)$/m.exec(await readFile(configFile, 'utf8')) ?? []
            const file = join(members, 'v.member.json')
            if (present) machine.write(relative(machine.directory, file), text)
            else await rm(file)
          }
        }
        await change(false)
        await untilTrue('the engines to refuse the validator', () =>
          outputOf(validator).includes('no other engine is connected'),
        )
        await change(true)
        await untilWhole()
        await register()
        expect(await Promise.all(svs.map(processesOf))).toEqual(before)
      },
    )

    it('restore a validator with its users, rights, renewals and coin', async () => {
      const { validator, client } = network
      const { urls, fetch } = client
      const users = createLedgerClient({
        baseUrl: urls.validator,
        fetch,
        token: () => client.token('participant_admin'),
      })
      const rights = [{ kind: { CanReadAs: { value: { party: alice.party } } } }]
      const body = { user: { id: 'carol' }, rights }
      unwrap(await users.POST('/v2/users', { body }))
      await alice.accept(await alice.request('renewed.unverified.ns'), { autoRenew: true })
      await untilFound(client, 'renewed.unverified.ns')

      const coinOf = async () => (await alice.balance()).effective_unlocked_qty
      const coin = await coinOf()
      const since = { name: 'who-came-since', party: '', coin: '' }
      await lose(validator, {
        address: validator.machine.address,
        async meanwhile() {
          const user = await createUser(client, since.name)
          since.party = user.party
          since.coin = (await user.balance()).effective_unlocked_qty
        },
      })
      await restore(validator)
      await runAgain(validator)
      await untilWhole()
      expect(await coinOf()).toBe(coin)
      const params = { path: { id: 'carol' } }
      expect(unwrap(await users.GET('/v2/users/{id}/rights', { params })).rights).toEqual(rights)
      const { subscriptions } = unwrap(await alice.client.GET('/v0/wallet/subscriptions'))
      expect(subscriptions.filter(({ auto_renew }) => auto_renew)).toHaveLength(1)
      await register()
      // The backup does not contain this user, who registers again and spends the same coin.
      const again = await createUser(client, since.name, null)
      expect(again.party).toBe(since.party)
      expect((await again.balance()).effective_unlocked_qty).toBe(since.coin)
      await again.pay('since.unverified.ns')
      await untilFound(client, 'since.unverified.ns')
      const late = await createUser(client, 'who-comes-later')
      await late.pay('late.unverified.ns')
      await untilFound(client, 'late.unverified.ns')
    })

    it.skipIf(isCometBft)(
      'restore the synchronizer from the log copies of super-validators',
      async () => {
        const operator = network.synchronizer
        if (operator === null) throw new Error('the network has no synchronizer')
        await lose(operator, { address: operator.machine.address })
        await restore(operator)
        run(operator)
        const { fetch } = network.client
        await untilTrue('the synchronizer to report its regressed log', async () => {
          const url = `https://${operator.machine.address}:4611/readyz`
          const answer = await send(url, { fetch }).catch(() => null) // It does not listen yet.
          return answer?.body.code === 'LOG_REGRESSED'
        })
        await untilTrue('its supervisor to report the regressed log', () =>
          outputOf(operator).includes('on a machine of its own `quorumscan restore --log`'),
        )
        expect(outputOf(operator)).not.toContain('quorumscan logs')
        expect(await stop(operator)).toBe(0)
        await restore(operator, '--log', ...(await logCopiesOf(operator, 1, 2)))
        await runAgain(operator)
        await untilWhole()
        await register()
        await expectNoContradiction()
      },
    )

    /** Copies the logs of these super-validators to files on the synchronizer's machine. */
    function logCopiesOf(operator: Operator, ...numbers: readonly number[]): Promise<string[]> {
      const copies = numbers.map(sv).map(async (one) => {
        const { machine, configFile, name } = one
        await rm(join(machine.directory, 'log.backup'), { force: true })
        await runCli(one, 'backup', 'sv', '--log', '--config', configFile, '--out', 'log.backup')
        const backup = await readFile(join(machine.directory, 'log.backup'))
        operator.machine.write(`${name}.backup`, backup)
        return `${name}.backup`
      })
      return Promise.all(copies)
    }

    it.skipIf(isCometBft)(
      'repair a damaged log from the log copies of super-validators',
      async () => {
        const operator = network.synchronizer
        if (operator === null) throw new Error('the network has no synchronizer')
        const own = ['--config', operator.configFile]
        expect(await runCli(operator, 'log', 'verify', ...own)).toContain('The log is whole')
        expect(await stop(operator)).toBe(0)
        const files = join(operator.machine.directory, 'var/redis/orderer/appendonlydir')
        for (const name of await readdir(files)) {
          const bytes = await readFile(join(files, name))
          const at = bytes.indexOf(`name-${count}.`)
          if (at >= 0) bytes[at] = (bytes[at] ?? 0) ^ 0xff
          await writeFile(join(files, name), bytes)
        }
        await expect(runCli(operator, 'log', 'verify', ...own)).rejects.toMatchObject({
          code: 1,
          stdout: expect.stringContaining('The log is damaged at'),
        })
        const copies = ['--log', ...(await logCopiesOf(operator, 1, 2, 4))]
        expect(await runCli(operator, 'log', 'repair', ...own, ...copies)).toContain(
          'Refilled offset',
        )
        await runAgain(operator)
        expect(await runCli(operator, 'log', 'verify', ...own)).toContain('The log is whole')
        await untilWhole()
        await register()
        await expectNoContradiction()
      },
    )

    it('restart one after the other without a failed lookup, and decide by votes', async () => {
      const { client, svs, validator, synchronizer } = network
      let isOver = false
      const lookups = (async () => {
        const answers = { count: 0, failed: [] as unknown[] }
        for (; !isOver; answers.count++) {
          const { status, body } = await lookup(client, ALICE)
          if (status !== 200) answers.failed.push(body)
          await clock.delay(LOOKUP_EVERY_MS)
        }
        return answers
      })()
      for (const operator of [...svs, ...(synchronizer === null ? [] : [synchronizer])]) {
        expect(await stop(operator)).toBe(0)
        expect(await processesOf(operator)).toEqual([])
        await runAgain(operator)
        await untilWhole()
      }
      isOver = true
      const { count, failed } = await lookups
      expect(failed).toEqual([])
      expect(count).toBeGreaterThan(0)
      expect(await stop(validator)).toBe(0)
      await runAgain(validator)

      const outputs: string[] = []
      for (const operator of svs.slice(0, 3))
        outputs.push(await decide(network, operator, 'config', 'set', 'entry-fee=2.5'))
      expect(outputs.map((text) => text.includes('They are in force:'))).toEqual([
        false,
        false,
        true,
      ])
      const { version } = NEWEST_RULES
      expect(await decide(network, sv(1), 'protocol', 'vote', String(version))).toContain(
        `sv-1 has voted for version ${version}`,
      )
    })

    it.runIf(isCometBft)(
      'vote for a newer protocol version, which applies to blocks later than to entries, without a late member',
      { tags: ['operators-version'] },
      async () => {
        const { svs, validator, machines } = network
        const [version, late] = [(await newestKnown(ROOT)) + 1, sv(4)]
        const copies = [[EARLY_BLOCK_RULES], [EARLY_BLOCK_RULES, nextVersion(TAP_MAX)]].map(
          (edits, index) => copySoftware(join(machines.directory, `copy-${index}`), edits),
        )
        const [old = '', newer = ''] = await Promise.all(copies)
        const install = async (operator: Operator, bin = newer) => {
          expect(await stop(operator)).toBe(0)
          operator.bin = bin
          await runAgain(operator)
        }
        await install(late, old)
        for (const operator of [...svs.slice(0, 3), validator]) {
          await install(operator)
          await untilWhole()
        }
        for (const operator of svs.slice(0, 3))
          await decide(network, operator, 'protocol', 'vote', String(version))
        await untilTrue('the late member to report SOFTWARE_OUTDATED', async () => {
          const url = `https://${late.machine.address}:4611/readyz`
          const { body } = await send(url, { fetch: network.client.fetch })
          return memberOf(body, 'code') === 'SOFTWARE_OUTDATED'
        })
        await register()
        const blocksOf = async (operator: Operator) =>
          JSON.parse(
            await runCli(
              operator,
              'protocol',
              'get',
              '--json',
              '--scan',
              `https://${operator.machine.address}:4611`,
            ),
          )
        expect(await blocksOf(sv(1))).toMatchObject({ version, next: null })
        await clock.delay(EARLY_BLOCK_RULES_MS)
        await register()
        await install(late)
        await untilWhole()
        await sv(1).machine.kill()
        await register()
        await runAgain(sv(1))
        await expectNoContradiction()
      },
    )

    it.skipIf(isCometBft)('get all mistakes of a configuration at once', async () => {
      const operator = sv(1)
      const { running, configFile, machine } = operator
      const text = (await readFile(configFile, 'utf8'))
        .replace(/^QS_LOG=.*$/m, 'QS_LOG=nowhere')
        .replace(/^QS_PORT=.*$/m, 'QS_PORT=many')
      operator.configFile = machine.write('wrong.env', `${text}QS_RATE_LIMTI=5\n`)
      const child = run(operator)
      await once(child, 'exit')
      Object.assign(operator, { running, configFile })
      expect(child.exitCode).toBe(2)
      const { level, msg: outputs } = JSON.parse(outputOf(operator).trim().split('\n').at(-1) ?? '')
      expect(level).toBe('error')
      expect(outputs).toContain('QS_LOG: "nowhere" does not begin with https://')
      expect(outputs).toContain('QS_PORT must be an integer')
      expect(outputs).toContain('QS_RATE_LIMTI is not a variable')
    })

    async function expectNoContradiction(): Promise<void> {
      const { urls, fetch } = network.client
      const { body } = await send(`${urls.validator}/v0/scan-proxy/evidence`, { fetch })
      expect(body).toEqual({ evidence: [] })
    }
  })
