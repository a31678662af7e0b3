/** The help of every command. */

import { createProgram, runCommandLine } from '@quorumscan/cli'
import { testEnvironment } from '@quorumscan/cli/testing'
import { UsageError } from '@quorumscan/runtime'
import { captureOutput } from '@quorumscan/testkit/fixtures'
import { CommanderError } from 'commander'
import { expect, it } from 'vitest'
import { LIE_KINDS, LIES } from '../view/lies.ts'
import { RIG } from './cluster-commands.ts'

const environment = testEnvironment()

/** The output of a command with `--help`. */
async function helpOf(...command: readonly string[]): Promise<string> {
  using output = captureOutput()
  const words = command[0] === 'help' ? command : [...command, '--help']
  const ended = await runCommandLine(words, environment, RIG).catch((error) => error)
  expect(ended).toBeInstanceOf(CommanderError)
  return output.stdout
}

const tooWide = (text: string) => text.split('\n').filter((line) => line.length > 80)

/** The commands that a help lists. */
function commandsIn(help: string): string[] {
  return [...help.matchAll(/^ {2}([a-z][a-z-]*) /gm)].map(([, name = '']) => name)
}

it('every command has examples and an answer as JSON, in 80 columns', async () => {
  const whole = await helpOf()
  const names = commandsIn(whole)
  expect(names.length).toBeGreaterThan(20)
  expect(tooWide(whole)).toEqual([])
  const groups = [
    'cometbft',
    'config',
    'genesis',
    'jobs',
    'keys',
    'log',
    'member',
    'protocol',
    'replica',
    'rewards',
  ]
  const grouped = await Promise.all(
    groups.map(async (group) => commandsIn(await helpOf(group)).map((name) => [group, name])),
  )
  for (const group of groups) expect(tooWide(await helpOf(group))).toEqual([])
  for (const command of [
    ...names.filter((name) => !groups.includes(name)).map((name) => [name]),
    ...grouped.flat(),
  ]) {
    const help = await helpOf(...command)
    expect(help, command.join(' ')).toMatch(/\nExamples?:\n {2}\$ quorumscan /)
    expect(help, command.join(' ')).toContain('--json')
    expect(tooWide(help)).toEqual([])
    // A time is shown as it is typed.
    expect(help, command.join(' ')).not.toMatch(/<time>(?:(?!\n {2}-).)*\(default: \d+\)/s)
  }
})

it('lists each command in its group', async () => {
  const help = await helpOf()
  expect(help).not.toContain('Commands:')
  const { commands } = createProgram(environment, RIG).program
  const listed = commands.map((command) => command.name()).filter((name) => name !== 'help')
  expect(commandsIn(help).sort()).toEqual(listed.sort())
  const operators = help.slice(help.indexOf("One operator's part of a network:"))
  expect(commandsIn(operators)).toEqual(
    expect.arrayContaining(['keys', 'genesis', 'run', 'backup']),
  )
})

it('the help of `lie` has each lie, with what it does', async () => {
  const help = await helpOf('lie')
  const listed = help.slice(help.indexOf('Kinds:'))
  for (const kind of LIE_KINDS)
    expect(listed).toMatch(new RegExp(`^ {2}${kind} +${LIES[kind][1]}$`, 'm'))
})

it('help is --help, of a command in a group as well', async () => {
  expect(await helpOf('help')).toBe(await helpOf())
  expect(await helpOf('help', 'kill')).toBe(await helpOf('kill'))
  expect(await helpOf('help', 'log', 'verify')).toBe(await helpOf('log', 'verify'))
  const unknown = runCommandLine(['help', 'nonsense'], environment, RIG)
  await expect(unknown).rejects.toThrow(UsageError)
})
