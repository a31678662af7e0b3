/** The report of a run: one HTML file without other files, made from its numbers. */
import { readFileSync } from 'node:fs'
import { SOFTWARE_ROOT } from '@quorumscan/base'
import { escapeHtml } from '../../view/timeline.ts'
import { duration, milliseconds, seconds } from '../../view/words.ts'
import { timelineOf } from './report-charts.ts'
import type { Outcomes, Summary } from './summary.ts'

const STYLE = readFileSync(new URL('cluster/src/judge/chaos/report.css', SOFTWARE_ROOT), 'utf8')

/** Text, which is escaped, or HTML. */
type Cell = string | number | { readonly html: string }

/** All values are escaped: names and sentences come from a cluster that lies. */
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
${table(Object.entries(summary.writes), {
  operation: ([operation]) => operation,
  '#acknowledged': ([, { acknowledged = 0 }]) => acknowledged,
  '#refused': ([, { refused = 0 }]) => refused,
  '#unknown': ([, { unknown = 0 }]) => unknown,
})}
<h2>Evidence</h2>
${evidenceOf(summary.evidence)}
<h2>Replicas at the end</h2>
${table(summary.replicas, {
  node: ({ node }) => node,
  '#offset': ({ offset }) => offset ?? '-',
  'state root': ({ state }) => code(state?.stateRoot ?? 'none'),
})}
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
  const orderer = ordering === 'cometbft' ? 'all members (CometBFT)' : 'one synchronizer'
  const faulty = scenario.budget === 'f' ? 'at most f' : 'up to 2f'
  const facts: Readonly<Record<string, Cell>> = {
    run: { html: `${code(run.id).html}, seed ${code(scenario.seed).html}` },
    started: run.startedAt,
    software: `quorumscan ${run.version}`,
    machine: run.machine,
    network: `${scenario.nodes} nodes, ordered by ${orderer}`,
    faults: `for ${seconds(scenario.durationMs)}, ${faulty} nodes faulty at once; healed in ${duration(healingMs)}`,
    lookups: `${answered(lookups)}, p50 ${milliseconds(p50Ms)}, p99 ${milliseconds(p99Ms)}`,
    'within the budget': `${answered(within)}: at most f nodes faulty, validator and log up`,
  }
  const rows = Object.entries(facts).map(([name, cell]) => `<dt>${name}<dd>${htmlOf(cell)}`)
  return `<dl>${rows.join('')}</dl>`
}

function rulesOf(rules: Summary['verdict']['rules']): string {
  return table(rules, {
    rule: ({ rule }) => rule,
    '#tested': ({ samples }) =>
      samples > 0 ? samples : { html: '<em class="inconclusive">not exercised</em>' },
    found: ({ samples, findings: [first, ...more] }) => {
      if (first === undefined) return samples > 0 ? 'nothing wrong' : '-'
      return { html: `<span class="invalid">${more.length + 1}: ${escapeHtml(first)}</span>` }
    },
  })
}

function outagesOf(outages: Summary['outages']): string {
  if (outages.length === 0) return '<p>No outage.</p>'
  return `<p class="note">Attempts without an answer, less than a second apart, and how many attempts between them had one. The
faults in force meanwhile are not necessarily the cause.</p>
${table(outages, {
  '#from': ({ startMs }) => seconds(startMs),
  '#for': ({ startMs, endMs }) => duration(endMs - startMs),
  outcomes: endings,
  '#answered': ({ answered }) => answered,
  'faults in force': ({ inForce }) => ({ html: inForce.map(escapeHtml).join('<br>') || 'none' }),
})}`
}

type FaultSummary = Summary['faults'][number]

function faultsOf(faults: readonly FaultSummary[]): string {
  const ifDone = (textOf: (fault: FaultSummary) => string) => (fault: FaultSummary) =>
    fault.refused === null ? textOf(fault) : '-'
  return `${table(faults, {
    node: ({ node }) => node,
    fault: ({ fault }) => fault,
    '#from': ({ startMs }) => seconds(startMs),
    '#to': ifDone(({ endMs }) => seconds(endMs)),
    detected,
    '#recovered': ifDone(({ recoveryMs }) => duration(recoveryMs)),
    '#caught up': ifDone(({ catchUpMs }) => duration(catchUpMs)),
  })}
<p class="note">Detected: the time from the start of the fault until votes (the scan proxy received another answer than the
one on which enough nodes agreed), the prober (which asks each node) or the status (it was not up) showed it. Recovered: the
time from the end of the fault until the node was up. Caught up: the time from then until it no longer lagged.</p>`
}

function detected(fault: FaultSummary): string {
  if (fault.refused !== null) return `not injected: ${fault.refused}`
  if (fault.detections.length > 0)
    return fault.detections.map(({ by, afterMs }) => `${by} ${duration(afterMs)}`).join(', ')
  return fault.isVisible ? 'no' : 'no read can show it'
}

function evidenceOf(evidence: Summary['evidence']): string {
  if (evidence.length === 0) return '<p>No node equivocated.</p>'
  return `<p>Conflicting statements that a node signed, as the scan proxy stores them (at most 32 pairs of each node).
<code>quorumscan verify</code> checks them offline.</p>
${table(evidence, { node: ({ node }) => node, '#pairs': ({ pairs }) => pairs })}`
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

/**
 * A table with these columns, by their names. A name that begins with `#` is for numbers. On a narrow screen each row is a
 * card with labelled cells.
 */
function table<T>(rows: readonly T[], columns: Readonly<Record<string, (row: T) => Cell>>): string {
  const listed = Object.entries(columns).map(([head, cellOf]) => {
    return { name: head.replace(/^#/, ''), kind: head.startsWith('#') ? ' class="n"' : '', cellOf }
  })
  const heads = listed.map(({ name, kind }) => `<th${kind}>${name}</th>`)
  const cells = (row: T) =>
    listed.map(({ name, kind, cellOf }) => {
      return `<td${kind} data-name="${name}"><span>${htmlOf(cellOf(row))}</span></td>`
    })
  return `<table><thead><tr>${heads.join('')}</tr></thead><tbody>
${rows.map((row) => `<tr>${cells(row).join('')}</tr>`).join('\n')}
</tbody></table>`
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`
}
