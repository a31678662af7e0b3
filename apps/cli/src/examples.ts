/** An example of each command, shown by its help. */
import type { Command } from 'commander'

/** By command; a command of a group is behind its name. */
export type Examples = Readonly<Record<string, readonly string[]>>

export const EXAMPLES: Examples = {
  help: ['help', 'help log verify'],
  check: [
    'check',
    'check --json',
    'check --genesis genesis.json --members /etc/quorumscan/members',
  ],
  resolve: [
    'resolve alice.unverified.ns --quorum strong --receipt alice.json',
    'resolve alice.unverified.ns --votes',
    'resolve alice.unverified.ns --genesis genesis.json --members DIR',
    'resolve alice::1220ab… --json',
  ],
  verify: [
    'resolve alice.unverified.ns --json | quorumscan verify -',
    'verify receipt.json --name alice.unverified.ns',
    'verify - < evidence.json',
  ],
  mirror: ['mirror http://127.0.0.1:4602 http://127.0.0.1:4603 --port 4700'],
  'cometbft install': ['cometbft install', 'cometbft install --json'],
  'cometbft vote': ['cometbft vote sv-2'],
  'keys new': [
    'keys new --name sv-1 --out sv-1 --url https://sv-1.example',
    'keys new --role validator --name v --out v',
  ],
  'genesis create': ['genesis create *.json --set devnet=false --out genesis.json'],
  'genesis verify': ['genesis verify genesis.json *.member.json'],
  run: ['run sv --config /etc/quorumscan/sv.env'],
  backup: [
    'backup sv --config /etc/quorumscan/sv.env --out sv-1.backup',
    'backup sv --log --config /etc/quorumscan/sv.env --out log.backup',
  ],
  restore: ['restore sv-1.backup --to /var/lib/quorumscan --set QS_PORT=4711'],
  'log repair': [
    'log repair',
    'log repair --cut',
    'log repair --config synchronizer.env --log sv-1.backup …',
  ],
  'log verify': [
    'log verify',
    'log verify --config /etc/quorumscan/synchronizer.env',
    'log verify --json | jq .damages',
  ],
  'jobs list': ['jobs list', 'jobs list sv --config /etc/quorumscan/sv.env'],
  'jobs retry': [
    'jobs retry sv-1',
    'jobs retry sv expire-entry/00ab… --config /etc/quorumscan/sv.env',
  ],
  'config get': ['config get --json', 'config get --scan https://sv-1.example'],
  'config set': [
    'config set entry-fee=2.5 entry-lifetime=90d',
    'config set entry-fee=2.5 --key sv-1.operator --scan http://… …',
  ],
  'config pending': ['config pending', 'config pending --scan http://127.0.0.1:4611'],
  'protocol get': ['protocol get --scan http://127.0.0.1:4611'],
  'protocol vote': ['protocol vote 4 --not-before 2030-01-31T12:00:00Z …'],
}

/** Shows the examples of the commands that do not show their own; `group` is what these are typed behind. */
export function addExamples(program: Command, all: Examples, group = ''): void {
  for (const command of program.commands) {
    const name = `${group}${command.name()}`
    addExamples(command, all, `${name} `)
    const examples = all[name]
    if (examples === undefined) continue
    const title = examples.length === 1 ? 'Example' : 'Examples'
    const lines = examples.map((example) => `  $ quorumscan ${example}`)
    command.addHelpText('after', `\n${title}:\n${lines.join('\n')}`)
  }
}
