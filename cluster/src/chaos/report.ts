/** The report of a run: one HTML file that needs nothing else, made of its numbers alone. Pure. */
import { escapeHtml } from '../view/timeline.ts'
import { duration, milliseconds, seconds } from '../view/words.ts'
import { timelineOf } from './report-charts.ts'
import type { Outcomes, Summary } from './summary.ts'

/** Text, which is escaped, or HTML as it is. */
type Cell = string | number | { readonly html: string }

export function renderReport(summary: Summary): string {
  const { verdict, scenario } = summary
  const seed = escapeHtml(scenario.seed)
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Chaos run ${seed}: ${verdict.verdict}</title>
<style>${STYLE}</style>
<main>
<h1>Chaos run ${seed}: <span class="${verdict.verdict}">${verdict.verdict}</span></h1>
<p>${escapeHtml(verdict.sentence)}</p>
<p><strong>wrong answers served: ${summary.wrongAnswers}</strong></p>
${factsOf(summary)}
<h2>Availability, faults and latency over time</h2>
${timelineOf(summary)}
<h2>Rules</h2>
${rulesOf(verdict.rules)}
<h2>Lookups without an answer</h2>
${outagesOf(summary.outages)}
<h2>Faults</h2>
${faultsOf(summary.faults)}
<h2>Writes</h2>
${table(
  ['operation', '#acknowledged', '#refused', '#unknown'],
  Object.entries(summary.writes).map(([operation, { acknowledged, refused, unknown }]) => [
    operation,
    ...[acknowledged, refused, unknown].map((count) => count ?? 0),
  ]),
)}
<h2>Evidence</h2>
${evidenceOf(summary.evidence)}
<h2>Replicas in the end</h2>
${table(
  ['node', '#offset', 'state root'],
  summary.replicas.map(({ node, offset, state }) => [
    node,
    offset ?? '-',
    code(state?.stateRoot ?? 'none'),
  ]),
)}
<p class="note">The same as data: <code>report.json</code>, described by <code>report.schema.json</code>; every event:
<code>history.jsonl</code>.</p>
</main>
</html>
`
}

function factsOf({ run, scenario, ordering, healingMs, lookups }: Summary): string {
  const { withinBudget: within, p50Ms, p99Ms } = lookups
  const answered = (counts: { readonly answered: number; readonly attempted: number }) =>
    `${counts.answered} of ${counts.attempted} answered (${percent(counts.answered, counts.attempted)})`
  const orderer = ordering === 'cometbft' ? 'all together (CometBFT)' : 'one synchronizer'
  const faulty = scenario.budget === 'f' ? 'at most f' : 'up to 2f'
  const facts: Readonly<Record<string, Cell>> = {
    run: { html: `${code(run.id).html}, seed ${code(scenario.seed).html}` },
    begun: run.startedAt,
    software: `quorumscan ${run.version}`,
    machine: run.machine,
    network: `${scenario.nodes} nodes, ordered by ${orderer}`,
    chaos: `${seconds(scenario.durationMs)}, ${faulty} nodes faulty at once; healed in ${duration(healingMs)}`,
    lookups: `${answered(lookups)}, p50 ${milliseconds(p50Ms)}, p99 ${milliseconds(p99Ms)}`,
    'within the budget': `${answered(within)}: at most f nodes faulty, validator and log whole`,
  }
  const rows = Object.entries(facts).map(([name, cell]) => `<dt>${name}<dd>${htmlOf(cell)}`)
  return `<dl>${rows.join('')}</dl>`
}

function rulesOf(rules: Summary['verdict']['rules']): string {
  return table(
    ['rule', '#put to the test', 'found'],
    rules.map(({ rule, samples, findings: [first = '', ...more] }) => {
      const isTried = samples > 0
      return [
        rule,
        isTried ? samples : { html: '<em class="inconclusive">not exercised</em>' },
        first === ''
          ? isTried
            ? 'nothing wrong'
            : '-'
          : { html: `<span class="invalid">${more.length + 1}: ${escapeHtml(first)}</span>` },
      ]
    }),
  )
}

function outagesOf(outages: Summary['outages']): string {
  if (outages.length === 0) return '<p>There was none.</p>'
  return `<p class="note">Attempts that went without an answer, less than a second after each other, and how many between
them had one. What was broken meanwhile is listed next to them; that it was the cause is not said.</p>
${table(
  ['#from', '#for', 'how they ended', '#answered', 'broken meanwhile'],
  outages.map((outage) => [
    seconds(outage.startMs),
    duration(outage.endMs - outage.startMs),
    endings(outage),
    outage.answered,
    { html: outage.inForce.map(escapeHtml).join('<br>') || 'nothing' },
  ]),
)}`
}

function faultsOf(faults: Summary['faults']): string {
  return `${table(
    ['node', 'fault', '#from', '#whole again', 'noticed', '#recovered', '#caught up'],
    faults.map((fault) => {
      const ifDone = (text: string) => (fault.refused === null ? text : '-')
      return [
        fault.node,
        fault.fault,
        seconds(fault.startMs),
        ifDone(seconds(fault.endMs)),
        noticed(fault),
        ifDone(duration(fault.recoveryMs)),
        ifDone(duration(fault.catchUpMs)),
      ]
    }),
  )}
<p class="note">Noticed: so long after it began, by votes (the scan proxy heard something else than the quorum), by the
prober (which asks each node for itself) or by status (it was not up). Recovered: up, so long after the fault ended.
Caught up: where the others are, so long after that.</p>`
}

function noticed(fault: Summary['faults'][number]): string {
  if (fault.refused !== null) return `not done: ${fault.refused}`
  if (fault.detections.length > 0)
    return fault.detections.map(({ by, afterMs }) => `${by} ${duration(afterMs)}`).join(', ')
  return fault.isVisible ? 'not at all' : 'no read can show it'
}

function evidenceOf(evidence: Summary['evidence']): string {
  if (evidence.length === 0) return '<p>No node was caught signing two answers to one question.</p>'
  return `<p>Signed statements by which a node contradicts itself, as the scan proxy keeps them (at most 32 pairs of
each node); <code>quorumscan verify</code> checks them offline.</p>
${table(
  ['node', '#pairs'],
  evidence.map(({ node, pairs }) => [node, pairs]),
)}`
}

/** E.g. `3 refused CONSENSUS_DISPUTED, 2 timed out`. */
function endings({ refused, noConnection, timedOut }: Outcomes): string {
  const byCode = (what: string, counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .sort()
      .map(([code, count]) => `${count} ${what} ${code}`)
  return [
    ...byCode('refused', refused),
    ...byCode('no connection', noConnection),
    ...(timedOut === 0 ? [] : [`${timedOut} timed out`]),
  ].join(', ')
}

function code(text: string): { readonly html: string } {
  return { html: `<code>${escapeHtml(text)}</code>` }
}

function htmlOf(cell: Cell): string {
  return typeof cell === 'object' ? cell.html : escapeHtml(String(cell))
}

/** A head that begins with `#` is of numbers. On a narrow screen each row is a card, whose cells say what they are. */
function table(heads: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const columns = heads.map((head) => ({
    name: head.replace(/^#/, ''),
    attribute: head.startsWith('#') ? ' class="n"' : '',
  }))
  const row = (cells: readonly Cell[]) =>
    columns.map(
      ({ name, attribute }, index) =>
        `<td${attribute} data-name="${name}"><span>${htmlOf(cells[index] ?? '')}</span></td>`,
    )
  const head = columns.map(({ name, attribute }) => `<th${attribute}>${name}</th>`)
  return `<table><thead><tr>${head.join('')}</tr></thead><tbody>
${rows.map((cells) => `<tr>${row(cells).join('')}</tr>`).join('\n')}
</tbody></table>`
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`
}

const STYLE = `
:root{color-scheme:light dark;--good:#1a7f37;--bad:#cf222e;--warn:#9a6700;--late:#8250df;--line:#8884;--lie:#bf3989;--process:#57606a;--network:#0969da;--machine:#bc4c00}
@media (prefers-color-scheme:dark){:root{--good:#3fb950;--bad:#ff7b72;--warn:#d29922;--late:#bc8cff;--lie:#f778ba;--process:#9ea7b3;--network:#58a6ff;--machine:#f0883e}}
body{font:16px/1.5 system-ui,sans-serif;margin:0}main{max-width:1060px;margin:0 auto;padding:1rem}
h1{font-size:1.5rem;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:1rem 0 .2rem}
.valid{color:var(--good)}.invalid{color:var(--bad)}.inconclusive{color:var(--warn)}.note{opacity:.8;font-size:14px}
code{font-size:.85em;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:1rem 0}dt{opacity:.75}dd{margin:0;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%;font-size:15px}th,td{text-align:left;vertical-align:top;padding:.25rem .6rem;border-bottom:1px solid var(--line)}
th:first-child,td:first-child{padding-left:0}.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:.4rem 0;padding:0;font-size:14px}
.legend i{display:inline-block;width:.8em;height:.8em;margin-right:.35em;border-radius:2px;background:var(--c)}
.chart{padding-left:6rem;margin:.2rem 0 .8rem}.timeline{display:block;width:100%;overflow:visible;border-left:1px solid var(--line)}
.good{--c:var(--good)}.warn{--c:var(--warn)}.bad{--c:var(--bad)}.late{--c:var(--late)}
.lie{--c:var(--lie)}.process{--c:var(--process)}.network{--c:var(--network)}.machine{--c:var(--machine)}
.timeline rect{fill:var(--c,currentColor)}.timeline .fault{stroke:var(--c,currentColor)}.timeline .grid{stroke:var(--line)}
.timeline .axis{fill:currentColor;font-size:13px}.timeline .dots{stroke:var(--good);stroke-width:3;stroke-linecap:round}
@media (max-width:640px){
main{padding:.75rem}dl{grid-template-columns:1fr}dt{margin-top:.4rem}.chart{padding-left:5.2rem}
thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
table,tbody,tr,td{display:block}tr{padding:.5rem 0;border-bottom:1px solid var(--line)}
td,td.n{display:flex;gap:1rem;justify-content:space-between;text-align:left;white-space:normal;padding:.1rem 0;border:0}
td span{text-align:right;overflow-wrap:anywhere;min-width:0}td::before{content:attr(data-name);opacity:.75;flex:none}
td:first-child{font-weight:600}td:first-child span{text-align:left}td:first-child::before{content:none}}
`
