/** How to put the cluster to the test with a verdict. */
import { Panel } from '../app.tsx'

export function ChaosPanel({ n }: { readonly n: number }) {
  return (
    <Panel title="Chaos runs" note="with a verdict">
      <p>
        A seeded schedule of faults while clients register, renew, transfer and look up; an
        independent checker says whether a wrong answer was ever served.
      </p>
      <pre className="command">npx --no quorumscan chaos --nodes {n} --duration 60s</pre>
    </Panel>
  )
}
