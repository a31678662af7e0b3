/**
 * The faults in force: begins and ends them, ends them by themselves after their time, and keeps the list
 * on disk, so that the next control plane knows what it finds. What a fault does is done by others.
 */
import type { Clock } from '@quorumscan/base'
import { parseTime } from '@quorumscan/model'
import { CommandError, readOwnJson, writeOwnJson } from '@quorumscan/runtime'
import { formatInstant as formatTime } from '@quorumscan/verifier'
import { describeFault, type Fault, type FaultSpec, nodesOf, slotOf } from './fault-spec.ts'

const MICROS_PER_MS = 1000
/** More than every fault on every node of the largest cluster. */
const FAULTS_MAX = 256

/** What a fault does to the cluster. */
export type FaultEffects = {
  /** Called when the fault is in the list. @throws {CommandError} If it makes no sense; it is forgotten then. */
  begin(spec: FaultSpec): Promise<void>
  /** Called when the fault has left the list. */
  end(spec: FaultSpec): Promise<void>
  /** Whether it is in force: a killed process may have been started by other means. */
  isInForce(spec: FaultSpec): boolean
}

/** Which faults to heal: one, those that are about a node, or all. */
export type FaultSelection = { readonly id?: string; readonly node?: string }

export class FaultControl {
  readonly #clock: Clock
  readonly #file: string
  readonly #effects: FaultEffects
  readonly #faults = new Map<string, Fault>()
  readonly #timers = new Map<string, AbortController>()
  #count = 0

  constructor(options: {
    readonly clock: Clock
    /** Where the list is kept. */
    readonly file: string
    readonly effects: FaultEffects
  }) {
    this.#clock = options.clock
    this.#file = options.file
    this.#effects = options.effects
  }

  /** In the order in which they began. */
  list(): readonly Fault[] {
    return [...this.#faults.values()]
  }

  /** Those that are about a node, on either side of a split. */
  of(node: string): readonly FaultSpec[] {
    return this.list()
      .map((fault) => fault.spec)
      .filter((spec) => nodesOf(spec).includes(node))
  }

  /** Begins a fault; one of the same kind at the same place ends for it. */
  async inject(spec: FaultSpec, durationMs: number | null): Promise<Fault> {
    if (this.#faults.size >= FAULTS_MAX) throw new CommandError('too many faults; heal some')
    const replaced = this.list().find((fault) => slotOf(fault.spec) === slotOf(spec))
    const nowMicros = this.#clock.nowMicros()
    this.#count += 1
    const fault: Fault = {
      id: `fault-${this.#count}`,
      spec,
      words: describeFault(spec),
      startedAt: formatTime(nowMicros),
      endsAt: durationMs === null ? null : formatTime(nowMicros + durationMs * MICROS_PER_MS),
    }
    if (replaced !== undefined) this.#forget(replaced.id)
    this.#faults.set(fault.id, fault)
    try {
      await this.#effects.begin(spec)
    } catch (error) {
      const wasHealed = !this.#faults.has(fault.id)
      this.#forget(fault.id)
      if (replaced !== undefined && !wasHealed) this.#keep(replaced)
      throw error
    }
    if (durationMs !== null) this.#endAfter(fault.id, durationMs)
    this.#changed()
    return fault
  }

  /**
   * Ends faults and returns those that were in force. One that could not be ended stays in the list.
   *
   * @throws {CommandError} If there is no such fault, or one could not be ended.
   */
  async heal(selection: FaultSelection): Promise<readonly Fault[]> {
    const healed = this.list().filter(
      ({ id, spec }) =>
        (selection.id === undefined || selection.id === id) &&
        (selection.node === undefined || nodesOf(spec).includes(selection.node)),
    )
    if (selection.id !== undefined && healed.length === 0)
      throw new CommandError(`no fault ${selection.id} is in force`)
    for (const { id } of healed) this.#forget(id)
    const outcomes = await Promise.allSettled(healed.map(({ spec }) => this.#effects.end(spec)))
    for (const [index, fault] of healed.entries())
      if (outcomes[index]?.status === 'rejected' && this.#effects.isInForce(fault.spec))
        this.#faults.set(fault.id, { ...fault, endsAt: null })
    this.#changed()
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return healed
  }

  /** Forgets what is not in force any more because somebody ended it by other means. */
  refresh(): void {
    const untrue = this.list().filter(({ spec }) => !this.#effects.isInForce(spec))
    for (const { id } of untrue) this.#forget(id)
    if (untrue.length > 0) this.#changed()
  }

  /** Takes up what an earlier control plane wrote down and what is still in force. */
  restore(): void {
    const kept = (readOwnJson(this.#file) ?? []) as readonly Fault[]
    for (const fault of kept) {
      this.#keep({ ...fault, words: describeFault(fault.spec) })
      this.#count = Math.max(this.#count, Number(fault.id.split('-')[1] ?? 0))
    }
    this.refresh()
  }

  /** Heals nothing and lets nothing end any more. */
  close(): void {
    for (const timer of this.#timers.values()) timer.abort()
    this.#timers.clear()
  }

  /** Lists a fault that began before; it ends when its time is over. */
  #keep(fault: Fault): void {
    this.#faults.set(fault.id, fault)
    if (fault.endsAt !== null) this.#endAfter(fault.id, this.#msUntil(fault.endsAt))
  }

  #msUntil(time: string): number {
    const micros = (parseTime(time) ?? 0) - this.#clock.nowMicros()
    return Math.max(0, micros / MICROS_PER_MS)
  }

  #endAfter(id: string, durationMs: number): void {
    const timer = new AbortController()
    this.#timers.set(id, timer)
    this.#clock
      .delay(durationMs, timer.signal)
      .then(() => this.heal({ id }))
      .catch(() => {}) // Healed before, or the cluster stops; a process that is gone shows in `status`.
  }

  #forget(id: string): void {
    this.#faults.delete(id)
    this.#timers.get(id)?.abort()
    this.#timers.delete(id)
  }

  #changed(): void {
    try {
      writeOwnJson(this.#file, this.list())
    } catch {
      // On a full disk only the next control plane would miss it.
    }
  }
}
