/**
 * The snapshots of a node in a directory: of each its content, and beside it what is said of it. A file whose
 * description is missing was not finished; a piece that is not what was written is answered to nobody.
 */
import { mkdir, open, readdir, readFile, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256Hex } from '@quorumscan/base'
import { writeFileAtomic } from '@quorumscan/runtime'
import type { HistoryPoint } from '@quorumscan/verifier'
import {
  hashOfManifest,
  isVouchedFor,
  type Manifest,
  type Network,
  PIECE_BYTES,
  readOffers,
  type SnapshotOffer,
  toWireOffer,
} from './snapshot-offer.ts'

export type HeldSnapshot = SnapshotOffer & { readonly manifest: Manifest }

export type SnapshotFiles = Awaited<ReturnType<typeof openSnapshotFiles>>

/** One that nobody else has signed yet, and the one before. */
const NEWEST_KEPT = 2
/** What else the disk is for goes on: a snapshot is left out rather than written into the last of it. */
const FREE_BYTES_MIN = 1024 ** 3
const CONTENT = '.snapshot'
const DESCRIPTION = '.json'
/**
 * What this writes is called so; every other name in the directory belongs to the operator. `.draft` and `.json.….tmp` are
 * descriptions that an earlier release and this one did not finish.
 */
const OWN_NAME = /^(0|[1-9][0-9]{0,15})(\.snapshot|\.json|\.draft|\.json\.[0-9a-f]{12}\.tmp)$/

/**
 * Reads the snapshots in a directory, which is made if need be. Own files without a valid description are deleted:
 * they were not finished. Files with other names, and directories such as `lost+found`, are left alone.
 */
export async function openSnapshotFiles(directory: string, network: Network) {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const heldByOffset = new Map<number, HeldSnapshot>()
  const fileOf = (offset: number, end: string) => join(directory, `${offset}${end}`)
  const own = await ownFilesOf(directory)
  for (const { name, offset, end } of own) {
    if (end !== DESCRIPTION) continue
    const snapshot = readDescription(await readFile(join(directory, name)), network)
    if (snapshot?.offset === offset) heldByOffset.set(offset, snapshot)
  }
  for (const { name, offset, end } of own)
    if (![CONTENT, DESCRIPTION].includes(end) || !heldByOffset.has(offset))
      await rm(join(directory, name), { force: true })

  /** Newest first. */
  const held = (): readonly HeldSnapshot[] =>
    [...heldByOffset.values()].sort((a, b) => b.offset - a.offset)
  const drop = async (offset: number): Promise<void> => {
    heldByOffset.delete(offset)
    for (const end of [DESCRIPTION, CONTENT]) await rm(fileOf(offset, end), { force: true })
  }
  return {
    held,
    drop,
    /** Writes a snapshot as far as its content goes; one without signatures. Where that throws, nothing is left of it. */
    async write(point: HistoryPoint, content: AsyncIterable<Uint8Array>): Promise<HeldSnapshot> {
      const largest = Math.max(0, ...held().map(({ manifest }) => manifest.contentBytes))
      const { bavail, bsize } = await statfs(directory)
      if (bavail * bsize < FREE_BYTES_MIN + 2 * largest)
        throw new Error(`${directory} has too little room for a snapshot`)
      const file = fileOf(point.offset, CONTENT)
      try {
        const manifest = await writePieces(file, content)
        return { ...point, manifest, contentHash: hashOfManifest(manifest), signatures: new Map() }
      } catch (error) {
        await rm(file, { force: true })
        throw error
      }
    },
    /** Keeps what was written, or what more members have signed; drops what has become needless. */
    async keep(snapshot: HeldSnapshot): Promise<void> {
      const { manifest, offset } = snapshot
      heldByOffset.set(offset, snapshot)
      const description = { snapshots: [toWireOffer(snapshot)], manifest }
      writeFileAtomic(fileOf(offset, DESCRIPTION), JSON.stringify(description))
      const [newest, ...older] = held()
      const vouchedFor = held().find((one) => isVouchedFor(one, network))
      const kept = new Set([newest, ...older.slice(0, NEWEST_KEPT - 1), vouchedFor])
      for (const one of older) if (!kept.has(one)) await drop(one.offset)
    },
    /** null: there is none, or it was damaged. */
    async piece(offset: number, index: number): Promise<Uint8Array | null> {
      const { manifest } = heldByOffset.get(offset) ?? {}
      const hash = manifest?.pieceHashes[index]
      if (manifest === undefined || hash === undefined) return null
      const start = index * PIECE_BYTES
      const length = Math.min(PIECE_BYTES, manifest.contentBytes - start)
      const bytes = await readPart(fileOf(offset, CONTENT), start, length)
      if (bytes !== null && sha256Hex(bytes) === hash) return bytes
      await drop(offset)
      return null
    },
  }
}

async function ownFilesOf(directory: string) {
  const entries = await readdir(directory, { withFileTypes: true })
  return entries.flatMap((entry) => {
    const [name, offset, end = ''] = (entry.isFile() && OWN_NAME.exec(entry.name)) || []
    return name === undefined ? [] : [{ name, offset: Number(offset), end }]
  })
}

async function writePieces(path: string, content: AsyncIterable<Uint8Array>): Promise<Manifest> {
  const file = await open(path, 'w', 0o600)
  try {
    const pieceHashes: string[] = []
    let contentBytes = 0
    let held: Uint8Array[] = []
    let heldBytes = 0
    const put = async (piece: Uint8Array) => {
      pieceHashes.push(sha256Hex(piece))
      contentBytes += piece.byteLength
      await file.writeFile(piece)
    }
    for await (const bytes of content) {
      held.push(bytes)
      heldBytes += bytes.byteLength
      if (heldBytes < PIECE_BYTES) continue
      let rest: Uint8Array = Buffer.concat(held)
      for (; rest.byteLength >= PIECE_BYTES; rest = rest.subarray(PIECE_BYTES))
        await put(rest.subarray(0, PIECE_BYTES))
      held = [rest]
      heldBytes = rest.byteLength
    }
    if (heldBytes > 0) await put(Buffer.concat(held))
    await file.sync()
    return { contentBytes, pieceHashes }
  } finally {
    await file.close()
  }
}

async function readPart(path: string, start: number, length: number): Promise<Uint8Array | null> {
  const file = await open(path).catch(() => null) // As good as damaged.
  if (file === null) return null
  try {
    const bytes = Buffer.alloc(length)
    const { bytesRead } = await file.read(bytes, 0, length, start)
    return bytes.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** null unless it is one, whose manifest is the one that was signed. */
function readDescription(bytes: Uint8Array, network: Network): HeldSnapshot | null {
  try {
    const [offer] = readOffers(bytes, network)
    const { manifest } = JSON.parse(Buffer.from(bytes).toString('utf8'))
    return offer !== undefined && hashOfManifest(manifest) === offer.contentHash
      ? { ...offer, manifest }
      : null
  } catch {
    return null // It was not finished, or not by us.
  }
}
