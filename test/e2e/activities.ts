/** The activity history of a cluster, read through the scan proxy without a token. */
import { createValidatorClient, type ValidatorClient } from '@quorumscan/sdk/raw'
import type { RunningCluster } from 'quorumscan/testing'
import { unwrap } from '../support/client.ts'

/** A row as the client returns it. Its type omits members that are always null. */
export type Activity = Awaited<ReturnType<typeof readPage>>[number]
export type ActivityOf<Type extends Activity['activity_type']> = Extract<
  Activity,
  { activity_type: Type }
>

/** Reads all rows in pages, oldest first. @throws {Error} If ids do not strictly increase. */
export async function readActivities(cluster: RunningCluster): Promise<readonly Activity[]> {
  const client = createValidatorClient({ baseUrl: cluster.urls.validator })
  const rows: Activity[] = []
  for (;;) {
    const page = await readPage(client, rows.at(-1)?.event_id ?? null)
    for (const row of page) {
      const previous = rows.at(-1)?.event_id ?? ''
      if (row.event_id <= previous) throw new Error(`${row.event_id} comes after ${previous}`)
      rows.push(row)
    }
    if (page.length === 0) return rows
  }
}

export function isOfType<Type extends Activity['activity_type']>(type: Type) {
  return (row: Activity): row is ActivityOf<Type> => row.activity_type === type
}

async function readPage(client: ValidatorClient, after: string | null) {
  const body = { page_size: 100, begin_after_id: after }
  return unwrap(await client.POST('/v0/scan-proxy/activities', { body })).activities
}
