/** The report of a run: one HTML file that needs nothing else, made of its numbers alone. Pure. */
import { timelineOf } from './report-charts.ts'
import { escapeHtml, milliseconds, seconds } from './report-text.ts'
import type { Outcomes, Summary } from './summary.ts'

export function renderReport(summary: Summary): string {
  const { run, verdict, scenario, lookups } = summary
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Chaos run ${escapeHtml(scenario.seed)}: ${verdict.verdict}</title>
<style>${STYLE}</style>
<main>
<h1>Chaos run ${escapeHtml(scenario.seed)}: <span class="${verdict.verdict}">${verdict.verdict}</span></h1>
<p>${escapeHtml(verdict.sentence)}</p>
<p><strong>wrong answers served: ${summary.wrongAnswers}</strong></p>
${facts([
  ['run', `<code>${escapeHtml(run.id)}</code>, seed <code>${escapeHtml(scenario.seed)}</code>`],
  ['begun', escapeHtml(run.startedAt)],
  ['software', `quorumscan ${escapeHtml(run.version)}`],
  ['machine', escapeHtml(run.machine)],
  [
    'network',
    `${scenario.nodes} nodes, ordered by ${summary.ordering === 'cometbft' ? 'all together (CometBFT)' : 'one synchronizer'}`,
  ],
  [
    'chaos',
    `${seconds(scenario.durationMs)}, ${scenario.budget === 'f' ? 'at most f nodes faulty at once' : 'up to 2f nodes faulty at once'}; healed in ${took(summary.healingMs)}`,
  ],
  [
    'lookups',
    `${lookups.answered} of ${lookups.attempted} answered (${percent(lookups.answered, lookups.attempted)}), p50 ${milliseconds(lookups.p50Ms)}, p99 ${milliseconds(lookups.p99Ms)}`,
  ],
  [
    'within the budget',
    `${lookups.withinBudget.answered} of ${lookups.withinBudget.attempted} answered (${percent(lookups.withinBudget.answered, lookups.withinBudget.attempted)}): at most f nodes faulty, validator and log whole`,
  ],
])}
<h2>Availability, faults and latency over time</h2>
${timelineOf(summary)}
<h2>Rules</h2>
${table(
  ['rule', '#put to the test', 'found'],
  verdict.rules.map(({ rule, samples, findings }) => [
    escapeHtml(rule),
    samples === 0 ? '<em class="inconclusive">not exercised</em>' : String(samples),
    findings.length === 0
      ? samples === 0
        ? '-'
        : 'nothing wrong'
      : `<span class="invalid">${findings.length}: ${escapeHtml(findings[0] ?? '')}</span>`,
  ]),
)}
<h2>Lookups without an answer</h2>
${
  summary.outages.length === 0
    ? '<p>There was none.</p>'
    : `<p class="note">Attempts that went without an answer, less than a second after each other, and how many between
them had one. What was broken meanwhile stands beside them; that it was the cause is not said.</p>
${table(
  ['#from', '#for', 'how they ended', '#answered', 'broken meanwhile'],
  summary.outages.map((outage) => [
    seconds(outage.startMs),
    took(outage.endMs - outage.startMs),
    escapeHtml(endings(outage)),
    String(outage.answered),
    outage.inForce.map(escapeHtml).join('<br>') || 'nothing',
  ]),
)}`
}
<h2>Faults</h2>
${table(
  ['node', 'fault', '#from', '#whole again', 'noticed', '#recovered', '#caught up'],
  summary.faults.map((fault) => [
    escapeHtml(fault.node),
    escapeHtml(fault.fault),
    seconds(fault.startMs),
    fault.refused === null ? seconds(fault.endMs) : '-',
    noticed(fault),
    fault.refused === null ? took(fault.recoveryMs) : '-',
    fault.refused === null ? took(fault.catchUpMs) : '-',
  ]),
)}
<p class="note">Noticed: so long after it began, by votes (the scan proxy heard something else than the quorum), by the
prober (which asks each node for itself) or by status (it was not up). Recovered: up, so long after the fault ended.
Caught up: where the others are, so long after that.</p>
<h2>Writes</h2>
${table(
  ['operation', '#acknowledged', '#refused', '#unknown'],
  Object.entries(summary.writes).map(([operation, counts]) => [
    escapeHtml(operation),
    ...['acknowledged', 'refused', 'unknown'].map((outcome) => String(counts[outcome] ?? 0)),
  ]),
)}
<h2>Evidence</h2>
${
  summary.evidence.length === 0
    ? '<p>No node was caught signing two answers to one question.</p>'
    : `<p>Signed statements by which a node contradicts itself, as the scan proxy keeps them (at most 32 pairs of
each node); <code>quorumscan verify</code> checks them offline.</p>
${table(
  ['node', '#pairs'],
  summary.evidence.map(({ node, pairs }) => [escapeHtml(node), String(pairs)]),
)}`
}
<h2>Replicas in the end</h2>
${table(
  ['node', '#offset', 'state root'],
  summary.replicas.map(({ node, offset, state }) => [
    escapeHtml(node),
    String(offset ?? '-'),
    `<code>${escapeHtml(state?.stateRoot ?? 'none')}</code>`,
  ]),
)}
<p class="note">The same as data: <code>report.json</code>, described by <code>report.schema.json</code>; every event:
<code>history.jsonl</code>.</p>
</main>
</html>
`
}

function noticed(fault: Summary['faults'][number]): string {
  if (fault.refused !== null) return `not done: ${escapeHtml(fault.refused)}`
  if (fault.detections.length > 0)
    return fault.detections.map(({ by, afterMs }) => `${by} ${took(afterMs)}`).join(', ')
  return fault.isVisible ? 'by nobody' : 'no read can show it'
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

function facts(rows: readonly (readonly [string, string])[]): string {
  return `<dl>${rows.map(([name, html]) => `<dt>${name}<dd>${html}`).join('')}</dl>`
}

/** A head that begins with `#` is of numbers. On a narrow screen each row is a card, whose cells say what they are. */
function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const names = heads.map((head) => head.replace(/^#/, ''))
  const isNumber = (index: number) => heads[index]?.startsWith('#') === true
  const attribute = (index: number) => (isNumber(index) ? ' class="n"' : '')
  return `<table><thead><tr>${names
    .map((name, index) => `<th${attribute(index)}>${name}</th>`)
    .join('')}</tr></thead><tbody>
${rows
  .map(
    (cells) =>
      `<tr>${cells.map((cell, index) => `<td${attribute(index)} data-name="${names[index]}"><span>${cell}</span></td>`).join('')}</tr>`,
  )
  .join('\n')}
</tbody></table>`
}

function took(valueMs: number | null): string {
  if (valueMs === null) return '-'
  return valueMs < 1000 ? milliseconds(valueMs) : seconds(valueMs)
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
.chart{display:grid;grid-template-columns:6rem 1fr;margin:.2rem 0 .8rem}.chart>*{min-width:0}
.names{position:relative;font-size:13px}.names span{position:absolute;right:.5rem;line-height:1;transform:translateY(-50%);white-space:nowrap}
.plot{border-left:1px solid var(--line);border-bottom:1px solid var(--line)}.plot svg{display:block;width:100%;height:100%;overflow:visible}
.ticks{grid-column:2;position:relative;height:1.3rem;font-size:13px}.ticks span{position:absolute;transform:translateX(-50%);white-space:nowrap}
.ticks .first{transform:none}.ticks .last{transform:translateX(-100%)}
@media (max-width:640px){
main{padding:.75rem}dl{grid-template-columns:1fr}dt{margin-top:.4rem}.chart{grid-template-columns:5.2rem 1fr}
thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
table,tbody,tr,td{display:block}tr{padding:.5rem 0;border-bottom:1px solid var(--line)}
td,td.n{display:flex;gap:1rem;justify-content:space-between;text-align:left;white-space:normal;padding:.1rem 0;border:0}
td span{text-align:right;overflow-wrap:anywhere;min-width:0}td::before{content:attr(data-name);opacity:.75;flex:none}
td:first-child{font-weight:600}td:first-child span{text-align:left}td:first-child::before{content:none}}
`
