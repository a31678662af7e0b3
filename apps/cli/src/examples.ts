/** Examples of the commands, which their help shows. */
import type { Command } from 'commander'

/** What is typed after `quorumscan`. An example belongs to its first command, or to the one that it pipes into. */
export const EXAMPLES = [
  'help',
  'help log verify',
  'check',
  'check --json',
  'check --genesis genesis.json --members /etc/quorumscan/members',
  'resolve alice.unverified.ns --quorum strong --receipt alice.json',
  'resolve alice.unverified.ns --votes',
  'resolve alice.unverified.ns --genesis genesis.json --members DIR',
  'resolve alice::1220ab… --json',
  'resolve alice.unverified.ns --json | quorumscan verify -',
  'verify receipt.json --name alice.unverified.ns',
  'verify - < evidence.json',
  'mirror http://127.0.0.1:4611 http://127.0.0.1:4612 --port 4700',
  'cometbft install',
  'cometbft install --json',
  'cometbft vote sv-2',
  'cometbft vote --config /etc/quorumscan/sv.env',
  'keys new --name sv-1 --out sv-1 --url https://sv-1.example',
  'keys new --role validator --name v --out v',
  'member file --name sv-1 --out sv-1 --url https://new.example',
  'genesis create *.json --set devnet=false --out genesis.json',
  'genesis verify genesis.json *.member.json',
  'run sv --config /etc/quorumscan/sv.env',
  'run sv --check --config /etc/quorumscan/sv.env',
  'status --config /etc/quorumscan/sv.env',
  'status --config /etc/quorumscan/sv.env --backups /backup --json',
  'backup sv --config /etc/quorumscan/sv.env --out sv-1.backup',
  'backup sv --config sv.env --encrypt-to age1… --out sv.backup.age',
  'backup validator --config /etc/quorumscan/validator.env --keep 14',
  'backup sv --log --config /etc/quorumscan/sv.env --out log.backup',
  'restore sv.backup.age --identity key.txt --to /var/lib/quorumscan',
  'restore sv-1.backup --to /var/lib/quorumscan --set QS_PORT=4711',
  'rewards show --config /etc/quorumscan/sv.env',
  'rewards send alice::1220… 250 --config /etc/quorumscan/sv.env',
  'replica wipe --config /etc/quorumscan/sv.env',
  'capacity --config /etc/quorumscan/sv.env',
  'support-bundle --config /etc/quorumscan/sv.env --out sv-1.txt',
  'log repair',
  'log repair --cut',
  'log repair --config synchronizer.env --log sv-1.backup …',
  'log verify',
  'log verify --config /etc/quorumscan/synchronizer.env',
  'log verify --json | jq .damages',
  'jobs list',
  'jobs list sv --config /etc/quorumscan/sv.env',
  'jobs retry sv-1',
  'jobs retry sv expire-entry/00ab… --config /etc/quorumscan/sv.env',
  'config get --json',
  'config get --scan https://sv-1.example',
  'config set entry-fee=2.5 entry-lifetime=90d',
  'config set entry-fee=2.5 --key sv-1.operator --scan http://… …',
  'config pending',
  'config pending --scan http://127.0.0.1:4611',
  'protocol get --scan http://127.0.0.1:4611',
  'protocol vote 4 --not-before 2030-01-31T12:00:00Z …',
]

/** The examples of one command. */
export function examplesOf(command: string, examples: readonly string[]): readonly string[] {
  return examples.filter((example) =>
    `${example.split('| quorumscan ').at(-1)} `.startsWith(`${command} `),
  )
}

/** Adds its examples to the help of each command; `group` is the name of the group that these belong to. */
export function addExamples(program: Command, examples: readonly string[], group = ''): void {
  for (const command of program.commands) {
    const name = `${group}${command.name()}`
    addExamples(command, examples, `${name} `)
    const own = examplesOf(name, examples)
    if (own.length === 0 || command.commands.length > 0) continue
    const title = own.length === 1 ? 'Example' : 'Examples'
    const lines = own.map((example) => `  $ quorumscan ${example}`)
    command.addHelpText('after', `\n${title}:\n${lines.join('\n')}`)
  }
}
