// Which pages the site has, in the order of its sidebar. Paths on the left are files of the repository.

const decisions = [
  ['names', 'Names and payment'],
  ['lookups', 'Lookups'],
  ['votes', 'Votes'],
  ['proofs', 'Proofs'],
  ['activities', 'Activities'],
  ['ledger', 'Ledger'],
  ['log', 'Log'],
  ['ordering', 'Ordering'],
  ['replication', 'Replication'],
  ['http', 'HTTP'],
  ['server', 'Server'],
  ['operators', 'Operators'],
  ['sdk', 'SDK'],
].map(([name, text]) => ({
  file: `docs/decisions/${name}.md`,
  page: `decisions/${name}`,
  text,
}))

const modules = [
  'main',
  'naming',
  'receipts',
  'splice',
  'react',
  'node',
  'testing',
  'fakes',
  'raw',
].map((name) => ({
  make: 'sdk',
  page: `reference/sdk/${name}`,
  text: name === 'main' ? '@quorumscan/sdk' : `/${name}`,
}))

/** `page`: without its ending; `file`: of the repository; `make`: the function of generated pages that makes it. */
export const sections = [
  {
    text: 'Start',
    items: [
      { file: 'docs/README.md', page: 'index', text: 'Overview' },
      { file: 'docs/start.md', page: 'start', text: 'Five minutes' },
      { file: 'README.md', page: 'about', text: 'About quorumscan' },
    ],
  },
  {
    text: 'Guides',
    items: [
      {
        file: 'docs/guides/wallet.md',
        page: 'guides/wallet',
        text: 'Wallet developer',
        items: [{ file: 'sdk/README.md', page: 'guides/sdk', text: 'The SDK' }],
      },
      {
        file: 'docs/guides/proxy.md',
        page: 'guides/proxy',
        text: 'Consumer of the scan proxy',
      },
      {
        file: 'docs/guides/operator.md',
        page: 'guides/operator',
        text: 'Operator',
        items: [
          { file: 'docs/operations.md', page: 'operations', text: 'Operations' },
          { file: 'deploy/README.md', page: 'deploy', text: 'Deployment and metrics' },
        ],
      },
      {
        file: 'docs/guides/contributor.md',
        page: 'guides/contributor',
        text: 'Contributor',
        items: [
          { file: 'CONTRIBUTING.md', page: 'contributing', text: 'Contributing' },
          { file: 'docs/cluster.md', page: 'cluster', text: 'The cluster and its faults' },
          { file: 'test/bench/README.md', page: 'benchmarks', text: 'Benchmarks' },
        ],
      },
    ],
  },
  {
    text: 'Reference',
    items: [
      { make: 'scan', page: 'reference/scan', text: 'HTTP: scan node' },
      { make: 'validator', page: 'reference/validator', text: 'HTTP: validator' },
      { make: 'ledger', page: 'reference/ledger', text: 'HTTP: ledger interface' },
      { make: 'asyncapi', page: 'reference/websockets', text: 'WebSockets' },
      { make: 'synchronizer', page: 'reference/synchronizer', text: 'HTTP: synchronizer' },
      { make: 'sdk', page: 'reference/sdk/index', text: 'SDK', collapsed: true, items: modules },
      {
        file: 'docs/configuration.md',
        page: 'configuration',
        text: 'Configuration',
        items: [
          { page: 'configuration', anchor: 'commands-and-their-flags', text: 'Command line' },
        ],
      },
      { file: 'sdk/ERRORS.md', page: 'reference/errors', text: 'Errors' },
      { make: 'metrics', page: 'reference/metrics', text: 'Metrics' },
      { file: 'docs/certified-reads.md', page: 'certified-reads', text: 'Certified reads' },
      { file: 'packages/verifier/STATEMENTS.md', page: 'statements', text: 'Statements' },
    ],
  },
  {
    text: 'Explanation',
    items: [
      { file: 'docs/architecture.md', page: 'architecture', text: 'Architecture' },
      { file: 'SECURITY.md', page: 'security', text: 'Security and trust' },
      { file: 'docs/specification.md', page: 'specification', text: 'Specification' },
      { file: 'docs/upstream.md', page: 'upstream', text: 'Upstream interfaces' },
      {
        file: 'docs/decisions/README.md',
        page: 'decisions/index',
        text: 'Decisions',
        collapsed: true,
        items: decisions,
      },
      { file: 'CHANGELOG.md', page: 'changelog', text: 'Changes of the service' },
      { file: 'sdk/CHANGELOG.md', page: 'sdk-changelog', text: 'Changes of the SDK' },
    ],
  },
]

const withNested = (items) => items.flatMap((item) => [item, ...withNested(item.items ?? [])])

export const pages = withNested(sections.flatMap(({ items }) => items)).map((item) => ({
  ...item,
  page: `${item.page}.md`,
}))

const linkOf = ({ page, anchor }) =>
  `/${page.replace(/(^|\/)index$/, '$1')}${anchor === undefined ? '' : `#${anchor}`}`

const entryOf = (item) => ({
  text: item.text,
  link: linkOf(item),
  ...(item.items === undefined ? {} : { items: item.items.map(entryOf) }),
  ...(item.collapsed === undefined ? {} : { collapsed: item.collapsed }),
})

/** As VitePress reads it. */
export const sidebar = sections.map(({ text, items }) => ({ text, items: items.map(entryOf) }))
