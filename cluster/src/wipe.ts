/** Deleting a replica out of a Redis that it shares with what must stay. */
import { createConnection, type RedisAddress } from '@quorumscan/redis'
import { deleteReplica } from '@quorumscan/replica'

/** It may have been started just now. */
const RECONNECT = { stepMs: 50, msMax: 500 }

/** Deletes the replica that is there. Returns how many keys went. */
export async function deleteReplicaAt(address: RedisAddress): Promise<number> {
  const redis = createConnection(address, { reconnect: RECONNECT })
  try {
    return await deleteReplica(redis)
  } finally {
    redis.disconnect()
  }
}
