/** The page: header, strip, and one panel for each thing to watch or to do. */

import { ChaosPanel } from './panels/chaos.tsx'
import { ChartPanel } from './panels/charts.tsx'
import { EventPanel } from './panels/events.tsx'
import { LookupPanel } from './panels/lookup.tsx'
import { NodePanel } from './panels/nodes.tsx'
import { QueuePanel } from './panels/queues.tsx'
import { RegistrationPanel } from './panels/registration.tsx'
import { Panel } from './parts.tsx'
import { Strip } from './strip.tsx'
import { ThemeButton } from './theme.tsx'
import { type ClusterView, useCluster } from './use-cluster.ts'

export function App(props: { readonly token: string }) {
  return props.token === '' ? <NoToken /> : <Console token={props.token} />
}

function Console({ token }: { readonly token: string }) {
  const view = useCluster(token)
  const { api, status, events, samples } = view
  return (
    <>
      <Header view={view} />
      <main>
        {status === null ? (
          <p className="notice" role="status">
            {view.problem ?? 'Connecting to the control plane …'}
          </p>
        ) : (
          <>
            <Strip status={status} />
            <div className="columns">
              <div className="column">
                <LookupPanel api={api} />
                <RegistrationPanel api={api} nodes={status.nodes.map(({ name }) => name)} />
                <QueuePanel api={api} />
              </div>
              <div className="column">
                <NodePanel shown={{ api, status, samples }} />
                <ChartPanel samples={samples} events={events} faults={status.faults} />
                <EventPanel events={events} />
                <ChaosPanel api={api} f={status.cluster.f} />
              </div>
            </div>
          </>
        )}
      </main>
    </>
  )
}

function Header({ view }: { readonly view: ClusterView }) {
  const { connection, status } = view
  const text =
    connection === 'open' ? 'live' : connection === 'lost' ? 'connection lost' : 'connecting'
  return (
    <header className="top">
      <h1>
        <Mark /> quorumscan <span className="muted">console</span>
      </h1>
      <div className="top-right">
        {status === null ? null : (
          <span className="muted genesis" title={`genesis ${status.cluster.genesisHash}`}>
            genesis {status.cluster.genesisHash.slice(0, 8)}
          </span>
        )}
        <span className={`badge ${connection === 'open' ? 'good' : 'warn'}`} role="status">
          {text}
        </span>
        <ThemeButton />
      </div>
    </header>
  )
}

function NoToken() {
  return (
    <main>
      <Panel title="No token">
        <p>
          This page controls the cluster, so its address carries the token of the data directory.
          Open the address that <code>npx --no quorumscan status</code> prints as{' '}
          <strong>console</strong>.
        </p>
      </Panel>
    </main>
  )
}

function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="9" />
      <circle cx="10" cy="10" r="4" />
      <circle cx="22" cy="10" r="4" />
      <circle cx="10" cy="22" r="4" />
      <circle className="missing" cx="22" cy="22" r="3.2" />
    </svg>
  )
}
