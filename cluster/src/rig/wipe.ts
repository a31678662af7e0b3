/** Deleting a replica, or a log, out of a Redis that it shares with what must stay. */
import { LOG_KEYS } from '@quorumscan/log'
import { openRedis, type RedisAddress } from '@quorumscan/redis'
import { deleteReplica } from '@quorumscan/replica'
import type { Redis } from 'ioredis'

/** Deletes the replica that is there. Returns how many keys went. */
export function deleteReplicaAt(address: RedisAddress): Promise<number> {
  return useRedis(address, deleteReplica)
}

/** Deletes the log that is there. */
export async function deleteLogAt(address: RedisAddress): Promise<void> {
  await useRedis(address, (redis) => redis.unlink(...LOG_KEYS))
}

async function useRedis<T>(address: RedisAddress, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = openRedis(address, 'wipe')
  try {
    return await work(redis)
  } finally {
    redis.disconnect()
  }
}
