/**
 * What a process reports to Prometheus. One registry per process; each package declares what it measures.
 *
 * Values that the process has anyway are read at each scrape (`sampled`), so that they cost nothing until then. What is
 * observed per request goes through observers, which are made once per set of labels.
 */
import { type Clock, createSystemClock, held, heldSizes, withTimeout } from '@quorumscan/base'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** 1 ms to 10 s: shorter times are noise of the clock, and every wait ends before 10 s (D-38). */
const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** A source that hangs, such as a paused Redis, must not delay the other metrics. */
const SAMPLE_MS_MAX = 500
/** Sets of labels of one histogram; labels are routes, nodes and outcomes, never what a client sends. */
const OBSERVERS_MAX = 1000

/** The interval of the timer whose lag is measured. It wakes a process that has nothing to do. */
const EVENT_LOOP_MS = 20

type Labels = readonly string[]

type Definition<Names extends Labels> = {
  /** Without the prefix `quorumscan_`, with the unit last. */
  readonly name: string
  readonly help: string
  readonly labels?: Names
}

/** A value for each label, in the order of their names. */
type ValuesOf<Names extends Labels> = { readonly [Index in keyof Names]: string }

/** A metric that counts events as they happen, instead of being read. */
type TalliedDefinition<Names extends Labels> = Definition<Names> & {
  /**
   * Sets of label values that exist from the start, at zero. An alert on an increase misses the first event of a series
   * that did not exist before. Default: the set without labels.
   */
  readonly known?: Iterable<ValuesOf<NoInfer<Names>>>
}

/** Values of the labels in the order of their names, and the number. */
export type Sample<Names extends Labels = Labels> = readonly [ValuesOf<Names>, number]

/** A label without a value, or a value without a label, does not compile. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
    const defaults = { eventLoopMonitoringPrecision: EVENT_LOOP_MS }
    collectDefaultMetrics({ register: this.#registry, ...defaults })
    this.sampled('gauge', {
      name: 'held',
      help: 'What the process holds, by its part. With kind="work" it returns to its number of before once clients have left.',
      labels: ['owner', 'name', 'kind'],
      read: () => heldSizes().map(({ owner, name, kind, size }) => [[owner, name, kind], size]),
    })
    this.sampled('gauge', {
      name: 'held_max',
      help: 'The bound of quorumscan_held, where it is a number.',
      labels: ['owner', 'name', 'kind'],
      read: () =>
        heldSizes().flatMap(({ owner, name, kind, bound }) =>
          typeof bound === 'number' ? [[[owner, name, kind], bound] as const] : [],
        ),
    })
  }

  /** A gauge (or a counter) whose values are read at every scrape; a source that fails has none. */
  sampled<const Names extends Labels = readonly []>(
    kind: 'gauge' | 'counter',
    definition: Definition<Names> & {
      readonly read: () =>
        | Iterable<Sample<NoInfer<Names>>>
        | Promise<Iterable<Sample<NoInfer<Names>>>>
    },
  ): void {
    const labels: Labels = definition.labels ?? []
    const collect = async (): Promise<void> => {
      const samples = await atMost(this.#clock, async () => definition.read())
      // Without labels, `reset` would report 0 for a value that could not be read.
      if (labels.length === 0) metric.remove()
      else metric.reset()
      for (const [values, value] of samples ?? [])
        if (Number.isFinite(value)) metric.inc(named(labels, values), value)
    }
    const Kind = kind === 'counter' ? Counter : Gauge
    const metric: Counter | Gauge = new Kind({ ...this.#settingsOf(definition), collect })
  }

  /** Durations in seconds. The returned function finds the observer of a set of label values. */
  durations<const Names extends Labels = readonly []>(
    definition: TalliedDefinition<Names>,
  ): (...labels: ValuesOf<Names>) => { observe(seconds: number): void } {
    const labels: Labels = definition.labels ?? []
    const settings = this.#settingsOf(definition)
    const histogram = new Histogram({ ...settings, buckets: SECONDS_BUCKETS })
    const observers = held(
      { owner: 'runtime', name: 'series of histograms', kind: 'state', bound: OBSERVERS_MAX },
      new Map<string, { observe(seconds: number): void }>(),
    )
    const observerOf = (...values: Labels) => {
      const key = values.join('\n')
      const known = observers.get(key)
      if (known !== undefined) return known
      if (observers.size >= OBSERVERS_MAX) return { observe: () => {} }
      histogram.zero(named(labels, values))
      const observer = histogram.labels(named(labels, values))
      observers.set(key, observer)
      return observer
    }
    for (const values of knownOf(definition)) observerOf(...values)
    return observerOf
  }

  /** Counts events by label values. */
  counted<const Names extends Labels = readonly []>(
    definition: TalliedDefinition<Names>,
  ): (...labels: ValuesOf<Names>) => void {
    const labels: Labels = definition.labels ?? []
    const counter = new Counter(this.#settingsOf(definition))
    for (const values of knownOf(definition)) counter.inc(named(labels, values), 0)
    return (...values) => counter.inc(named(labels, values))
  }

  /** The whole exposition. */
  async expose() {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() }
  }

  #settingsOf({ name, help, labels = [] }: Definition<Labels>) {
    return { name: `quorumscan_${name}`, help, labelNames: labels, registers: [this.#registry] }
  }
}

export function createMetrics(options: { readonly clock?: Clock } = {}): Metrics {
  return new Metrics(options.clock ?? createSystemClock())
}

function knownOf({ labels = [], known }: TalliedDefinition<Labels>): Iterable<Labels> {
  return known ?? (labels.length === 0 ? [[]] : [])
}

function named(labels: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(labels.map((label, index) => [label, values[index] ?? '']))
}

/** The value of the source; null if it fails or is late. */
function atMost<T>(clock: Clock, read: () => Promise<T>): Promise<T | null> {
  const none = () => null
  // A value that cannot be read is left out. The source logs the reason.
  return withTimeout({ clock, timeoutMs: SAMPLE_MS_MAX }, () => read().catch(none), none)
}
