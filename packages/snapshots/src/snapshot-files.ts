/**
 * The snapshots of a node in a directory: for each snapshot a file with its content, and one with its description. A file
 * without a description was not finished. A piece that has been damaged since it was written is not served.
 */
import { mkdir, open, readdir, readFile, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { held, sha256Hex } from '@quorumscan/base'
import { writeFileAtomic } from '@quorumscan/runtime'
import type { HistoryPoint } from '@quorumscan/verifier'
import {
  hashOfManifest,
  isConfirmed,
  type Manifest,
  type Network,
  PIECE_BYTES,
  readOffers,
  type SnapshotOffer,
  toWireOffer,
} from './snapshot-offer.ts'

export type StoredSnapshot = SnapshotOffer & { readonly manifest: Manifest }

export type SnapshotFiles = Awaited<ReturnType<typeof openSnapshotFiles>>

/** A snapshot that no other member has signed yet, and the previous one. */
const NEWEST_STORED = 2
/** Reserved for other uses of the disk: a snapshot is skipped if less would be left. */
const FREE_BYTES_MIN = 1024 ** 3
const CONTENT = '.snapshot'
const DESCRIPTION = '.json'
/**
 * The names of files that this package writes. Files with other names belong to the operator. `.draft` and `.json.….tmp`
 * are unfinished descriptions of an earlier release and of this one.
 */
const OWN_NAME = /^(0|[1-9][0-9]{0,15})(\.snapshot|\.json|\.draft|\.json\.[0-9a-f]{12}\.tmp)$/

/**
 * Reads the snapshots in a directory, which is made if need be. Own files without a valid description are deleted:
 * they were not finished. Files with other names, and directories such as `lost+found`, are left alone.
 *
 * @param freeBytesOf - The free space of the disk of a directory. Default: asks the operating system.
 */
export async function openSnapshotFiles(
  directory: string,
  network: Network,
  freeBytesOf: (directory: string) => Promise<number> = askFreeBytes,
) {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const storedByOffset = held(
    {
      owner: 'snapshots',
      name: 'stored snapshots',
      kind: 'state',
      bound: 'three, and one that is written',
    },
    new Map<number, StoredSnapshot>(),
  )
  const fileOf = (offset: number, end: string) => join(directory, `${offset}${end}`)
  const own = await ownFilesOf(directory)
  for (const { name, offset, end } of own) {
    if (end !== DESCRIPTION) continue
    const snapshot = readDescription(await readFile(join(directory, name)), network)
    if (snapshot?.offset === offset) storedByOffset.set(offset, snapshot)
  }
  for (const { name, offset, end } of own)
    if (![CONTENT, DESCRIPTION].includes(end) || !storedByOffset.has(offset))
      await rm(join(directory, name), { force: true })

  /** Newest first. */
  const stored = (): readonly StoredSnapshot[] =>
    [...storedByOffset.values()].sort((a, b) => b.offset - a.offset)
  const drop = async (offset: number): Promise<void> => {
    storedByOffset.delete(offset)
    for (const end of [DESCRIPTION, CONTENT]) await rm(fileOf(offset, end), { force: true })
  }
  /** Null where the piece does not exist, or was damaged. */
  const piece = async (offset: number, index: number): Promise<Uint8Array | null> => {
    const { manifest } = storedByOffset.get(offset) ?? {}
    const hash = manifest?.pieceHashes[index]
    if (manifest === undefined || hash === undefined) return null
    const start = index * PIECE_BYTES
    const length = Math.min(PIECE_BYTES, manifest.contentBytes - start)
    // A file that cannot be read counts as damaged.
    const bytes = await readPart(fileOf(offset, CONTENT), start, length).catch(() => null)
    if (bytes !== null && sha256Hex(bytes) === hash) return bytes
    await drop(offset)
    return null
  }
  return {
    stored,
    drop,
    /** Writes the content of a snapshot, which has no signatures yet. If the content throws, the file is deleted. */
    async write(point: HistoryPoint, content: AsyncIterable<Uint8Array>): Promise<StoredSnapshot> {
      const largest = Math.max(0, ...stored().map(({ manifest }) => manifest.contentBytes))
      if ((await freeBytesOf(directory)) < FREE_BYTES_MIN + 2 * largest)
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
    /** Stores the description of a written snapshot, or its new signatures, and deletes snapshots that are not needed. */
    async store(snapshot: StoredSnapshot): Promise<void> {
      const { manifest, offset } = snapshot
      storedByOffset.set(offset, snapshot)
      const description = { snapshots: [toWireOffer(snapshot)], manifest }
      writeFileAtomic(fileOf(offset, DESCRIPTION), JSON.stringify(description))
      const [newest, ...older] = stored()
      const confirmed = stored().find((one) => isConfirmed(one, network))
      const kept = new Set([newest, ...older.slice(0, NEWEST_STORED - 1), confirmed])
      for (const one of older) if (!kept.has(one)) await drop(one.offset)
    },
    piece,
    /** The content of a snapshot. @throws {Error} If a piece is damaged. */
    async *content({ offset, manifest }: StoredSnapshot): AsyncGenerator<Uint8Array> {
      for (const index of manifest.pieceHashes.keys()) {
        const bytes = await piece(offset, index)
        if (bytes === null) throw new Error(`this node's snapshot of offset ${offset} is damaged`)
        yield bytes
      }
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
  await using file = await open(path, 'w', 0o600)
  const pieceHashes: string[] = []
  let contentBytes = 0
  const piece = Buffer.allocUnsafe(PIECE_BYTES)
  let pieceBytes = 0
  const put = async (bytes: Uint8Array): Promise<void> => {
    pieceHashes.push(sha256Hex(bytes))
    contentBytes += bytes.byteLength
    await file.writeFile(bytes)
    pieceBytes = 0
  }
  for await (const bytes of content)
    for (let at = 0; at < bytes.byteLength; ) {
      const part = bytes.subarray(at, at + PIECE_BYTES - pieceBytes)
      piece.set(part, pieceBytes)
      pieceBytes += part.byteLength
      at += part.byteLength
      if (pieceBytes === PIECE_BYTES) await put(piece)
    }
  if (pieceBytes > 0) await put(piece.subarray(0, pieceBytes))
  await file.sync()
  return { contentBytes, pieceHashes }
}

async function readPart(path: string, start: number, length: number): Promise<Uint8Array> {
  await using file = await open(path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start)
  return buffer.subarray(0, bytesRead)
}

/** Null unless it is a description whose manifest is the signed one. */
function readDescription(bytes: Uint8Array, network: Network): StoredSnapshot | null {
  try {
    const [offer] = readOffers(bytes, network) ?? []
    const { manifest } = JSON.parse(Buffer.from(bytes).toString('utf8'))
    if (hashOfManifest(manifest) === offer?.contentHash) return { ...offer, manifest }
  } catch {
    // It was not finished, or another program wrote it.
  }
  return null
}

async function askFreeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}
