/** What every command promises, read off its help as a person reads it. */
import { CommanderError } from 'commander'
import { afterEach, expect, it, vi } from 'vitest'
import { runCommandLine } from './program.ts'

afterEach(() => vi.restoreAllMocks())

async function helpOf(...command: readonly string[]): Promise<string> {
  let text = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk)
    return true
  })
  const environment = { cwd: '/somewhere', redisServer: 'redis-server' }
  const ended = await runCommandLine([...command, '--help'], environment).catch((error) => error)
  vi.restoreAllMocks()
  expect(ended).toBeInstanceOf(CommanderError)
  return text
}

/** The commands that a help lists. */
function commandsIn(help: string): string[] {
  const [, list = ''] = help.split('Commands:\n')
  return [...list.matchAll(/^ {2}([a-z-]+) /gm)].map(([, name = '']) => name)
}

it('every command has examples and an answer as JSON, in 80 columns', async () => {
  const names = commandsIn(await helpOf())
  expect(names.length).toBeGreaterThan(20)
  const groups = ['cometbft', 'config', 'log']
  const grouped = await Promise.all(
    groups.map(async (group) => commandsIn(await helpOf(group)).map((name) => [group, name])),
  )
  for (const command of [
    ...names.filter((name) => !groups.includes(name)).map((name) => [name]),
    ...grouped.flat(),
  ]) {
    const help = await helpOf(...command)
    expect(help, command.join(' ')).toMatch(/\nExamples?:\n {2}\$ quorumscan /)
    expect(help, command.join(' ')).toContain('--json')
    expect(help.split('\n').filter((line) => line.length > 80)).toEqual([])
  }
})
