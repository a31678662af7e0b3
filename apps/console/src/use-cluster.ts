/** The cluster as the control plane tells it, for as long as the page is open. */
import { useEffect, useMemo, useRef, useState } from 'react'
import { connect, type LiveEvent, reasonOf, type Sample, type Status } from './api.ts'
import { unknownOf } from './budgets.ts'
import { every } from './time.ts'

/** Ten minutes of samples; the control plane keeps no more. */
const SAMPLES_MAX = 600
const EVENTS_MAX = 200

type Connection = 'connecting' | 'open' | 'lost'
export type ClusterView = ReturnType<typeof useCluster>

/** What panels about nodes show. */
export type Shown = Pick<ClusterView, 'api' | 'samples'> & { readonly status: Status }

/** Events and samples are the oldest first; `problem`: why the first contact failed. */
export function useCluster(token: string) {
  const [connection, setConnection] = useState<Connection>('connecting')
  const [status, setStatus] = useState<Status | null>(null)
  const [events, setEvents] = useState<readonly LiveEvent[]>([])
  const [samples, setSamples] = useState<readonly Sample[]>([])
  const [problem, setProblem] = useState<string | null>(null)
  const { api, close } = useMemo(
    () => connect(token, (isOpen) => setConnection(isOpen ? 'open' : 'lost')),
    [token],
  )

  useEffect(() => {
    const load = async () => {
      const [first, past, measured] = await Promise.all([
        api.cluster.status.query(),
        api.cluster.events.query(),
        api.lookups.samples.query(),
      ])
      setStatus(first)
      setEvents((known) => joined(past, known).slice(-EVENTS_MAX))
      setSamples((known) => joined(measured, known).slice(-SAMPLES_MAX))
      setProblem(null)
    }
    // Also after the connection was lost: the control plane still knows what came meanwhile.
    if (connection !== 'lost') load().catch((error: unknown) => setProblem(reasonOf(error)))
  }, [api, connection])
  useEffect(() => {
    const onError = (error: unknown) => setProblem(reasonOf(error))
    const onStatus = (now: Status) => {
      setStatus(now)
      setProblem(null)
    }
    const onEvent = (event: LiveEvent) => setEvents((known) => [...known, event].slice(-EVENTS_MAX))
    const onSample = (sample: Sample) =>
      setSamples((known) => [...known, sample].slice(-SAMPLES_MAX))
    const subscriptions = [
      api.cluster.watch.subscribe(undefined, { onData: onStatus, onError }),
      api.cluster.watchEvents.subscribe(undefined, { onData: onEvent, onError }),
      api.lookups.watchSamples.subscribe(undefined, { onData: onSample, onError }),
    ]
    return () => {
      for (const subscription of subscriptions) subscription.unsubscribe()
    }
  }, [api])
  useEffect(() => close, [close])
  // Nothing is known of the processes while the connection is lost.
  const shown = useMemo(
    () => (status !== null && connection === 'lost' ? unknownOf(status) : status),
    [status, connection],
  )
  return { api, connection, status: shown, events, samples, problem }
}

/** What the control plane remembers, with what has come since it was asked. */
function joined<T extends { readonly at: string }>(past: readonly T[], known: readonly T[]): T[] {
  const newest = past.at(-1)?.at ?? ''
  return [...past, ...known.filter(({ at }) => at > newest)]
}

/** What a query answers, asked again and again; null before the first answer, and where there was none. */
export function usePolled<T>(ask: () => Promise<T>, ms: number): T | null {
  const [value, setValue] = useState<T | null>(null)
  const latest = useRef(ask)
  latest.current = ask
  useEffect(() => {
    let isMounted = true
    const show = (answer: T | null) => (isMounted ? setValue(answer) : undefined)
    // Without an answer the header says that the control plane is away.
    const poll = () => void latest.current().then(show, () => show(null))
    poll()
    const stop = every(ms, poll)
    return () => {
      isMounted = false
      stop()
    }
  }, [ms])
  return value
}
