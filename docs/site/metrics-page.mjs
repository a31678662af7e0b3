// The page of metrics, made of the calls that declare them.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const TEXT = /(?:'((?:[^'\\]|\\.)*)'|`([^`]*)`)/.source
const LABELS = /(?:\s*labels: \[([^\]]*)\],)?/.source
/** `metrics.sampled('gauge', { name, help, labels })`, `counted({ … })`, `durations({ … })`. */
const DECLARATION = new RegExp(
  `\\.(sampled|counted|durations)\\((?:'(gauge|counter)', )?\\{\\s*name: '(\\w+)',\\s*help:\\s*${TEXT},${LABELS}`,
  'g',
)
/** Functions and tables that pass a name and a help on to such a call, with the labels that it adds. */
const HELPERS = [
  {
    file: 'packages/runtime/src/measurements.ts',
    call: new RegExp(`\\bgauge\\(()\\s*'(\\w+)',\\s*${TEXT}`, 'g'),
    labels: '',
  },
  {
    file: 'apps/validator/src/metrics.ts',
    call: new RegExp(`\\[\\s*'(gauge|counter)',\\s*'(\\w+)',\\s*${TEXT}`, 'g'),
    labels: 'node',
  },
]
const CALLS = /\.(?:sampled|counted|durations)\(/g
const KINDS = { counted: 'counter', durations: 'histogram' }

/** Which processes serve the metrics of a folder or file; the first that fits. */
const PROCESSES = [
  ['apps/validator/', 'validator'],
  ['apps/synchronizer/', 'synchronizer'],
  ['packages/cometbft/', 'synchronizer'],
  ['packages/log/src/chain-check.ts', 'synchronizer'],
  ['packages/log/', 'all'],
  ['packages/snapshots/', 'node, validator'],
  ['packages/replica/', 'node, validator'],
  ['packages/certifier/', 'node, validator'],
  ['packages/follower/', 'node, validator'],
  ['packages/jobs/', 'node, validator'],
  ['packages/operator/', 'run'],
  ['packages/wallet/', 'validator'],
  ['packages/runtime/', 'all'],
  ['packages/server/', 'all'],
]

/** A help as it is served: constants of the same file have their values. */
const helpOf = (text, source) =>
  text
    .replaceAll("\\'", "'")
    .replaceAll(
      /\$\{(\w+)\}/g,
      (_, name) => new RegExp(`const ${name} = (\\d+)`).exec(source)?.[1] ?? '…',
    )
const labelsOf = (list = '') => list.match(/\w+/g) ?? []

function metricsOf(file, text) {
  const declared = [...text.matchAll(DECLARATION)].map(
    ([, call, kind = KINDS[call], name, quoted, template, labels]) => ({
      name,
      kind,
      help: helpOf(quoted ?? template, text),
      labels: labelsOf(labels),
    }),
  )
  const helper = HELPERS.find((one) => one.file === file)
  const passedOn = [...text.matchAll(helper?.call ?? /(?!)/g)].map(
    ([, kind, name, quoted, template]) => ({
      name,
      kind: kind === '' ? 'gauge' : kind,
      help: helpOf(quoted ?? template, text),
      labels: labelsOf(helper.labels),
    }),
  )
  const calls = [...text.matchAll(CALLS)].length - (helper === undefined ? 0 : 1)
  if (calls !== declared.length)
    throw new Error(
      `${file} declares a metric in a form that docs/site/metrics-page.mjs cannot read.`,
    )
  const process = PROCESSES.find(([start]) => file.startsWith(start))?.[1]
  if (process === undefined && calls > 0)
    throw new Error(
      `docs/site/metrics-page.mjs does not know which processes have the metrics of ${file}.`,
    )
  return [...declared, ...passedOn].map((metric) => ({ ...metric, process }))
}

/** Names that alerts use must be metrics. */
function checkAlerts(root, metrics) {
  const known = new Set(metrics.map(({ name }) => name))
  const alerts = readFileSync(join(root, 'deploy/prometheus/alerts.yml'), 'utf8')
  for (const [, name] of alerts.matchAll(/\bquorumscan_(\w+)/g))
    if (!known.has(name) && !known.has(name.replace(/_(bucket|sum|count)$/, '')))
      throw new Error(
        `deploy/prometheus/alerts.yml names quorumscan_${name}, which no code declares.`,
      )
}

export function metricsPage(root) {
  const files = execFileSync('git', ['ls-files', 'apps/*.ts', 'packages/*.ts'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => file !== '' && !file.endsWith('.test.ts'))
    .filter((file) => file !== 'packages/runtime/src/metrics.ts')
  const metrics = files
    .flatMap((file) => metricsOf(file, readFileSync(join(root, file), 'utf8')))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
  checkAlerts(root, metrics)
  const rows = metrics.map(
    ({ name, kind, labels, process, help }) =>
      `| \`quorumscan_${name}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${process} | ${help.replaceAll('|', '\\|')} |`,
  )
  return [
    '# Metrics',
    '',
    '`quorumscan run` serves these metrics of all its processes at `QS_OPERATOR_ADDRESS`, in the text format of Prometheus. Each has the label `process`.',
    'A histogram has the suffixes `_bucket`, `_sum` and `_count`. Metrics of the Node process (`process_…`, `nodejs_…`) are there as well.',
    '[Deployment](../deploy.md#metrics) describes how to scrape them, and [Alerts](../operations.md#alerts) what each alert means.',
    '',
    '| metric | kind | labels | process | meaning |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}
