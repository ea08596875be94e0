import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sql } from 'kysely';
import { createTarPacker, type TarPackController } from 'modern-tar';
import { recordAudit } from '../audit/record.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { NAMED_BLOBS } from '../blobs/named.ts';
import { requireOperator, type VerbContext } from '../context.ts';
import type { Tx } from '../db/database.ts';
import { inLivingProject } from '../db/living-projects.ts';
import { inTransaction } from '../db/transaction.ts';
import type { WorkspaceId } from '../ids.ts';
import { type ExportedFile, readInParts, spoolRows } from './spool.ts';

/** Grows when a reader of an earlier one would misread it. */
const FORMAT = 1;
/** Hashes of images, read from the database at once. */
const HASHES = 1_000;

/** The last file of an export: what it has, to be checked against. */
export interface Manifest {
  readonly format: number;
  readonly workspaceId: WorkspaceId;
  readonly exportedAt: string;
  readonly files: readonly ExportedFile[];
  /** Each is `images/<SHA-256 of its bytes>`; assets.jsonl names them. */
  readonly images: { readonly count: number; readonly bytes: number; readonly missing: readonly string[] };
}

/**
 * Writes everything of the actor's workspace into a tar file (operator only; contract.md L12 to L14): JSON lines for each
 * kind, images, and the manifest last. Rows are of one moment and first go into a folder beside the file, so the
 * transaction is as short as their reading; images follow by their hash. The file has its name once it is complete.
 * @param onProgress called after each file of rows
 */
export async function exportWorkspace(
  context: VerbContext & { readonly blobs: BlobStore },
  out: string,
  onProgress: (file: ExportedFile) => void = () => undefined,
): Promise<Manifest> {
  const { db, actor, blobs } = context;
  requireOperator(actor);
  const { workspaceId } = actor;
  await inTransaction(db, (tx) =>
    recordAudit(tx, context, {
      action: 'workspaces.exported',
      targetType: 'workspace',
      targetId: workspaceId,
    }),
  );
  const draft = `${out}.${process.pid}.tmp`;
  const folder = `${draft}.rows`;
  await mkdir(folder, { mode: 0o700 });
  try {
    const exportedAt = new Date().toISOString();
    const files = await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(async (tx) => {
        const written = await spoolRows(tx, folder, workspaceId, onProgress);
        await spoolHashes(tx, path.join(folder, IMAGES), workspaceId);
        return written;
      });
    const about = { format: FORMAT, workspaceId, exportedAt, files };
    const manifest = await pack(draft, (tar) => addAll(tar, folder, blobs, about));
    await rename(draft, out);
    return manifest;
  } finally {
    await rm(folder, { recursive: true, force: true });
    await rm(draft, { force: true });
  }
}

/** The list of images in the folder of rows. */
const IMAGES = 'image-hashes';

async function spoolHashes(tx: Tx, file: string, workspaceId: WorkspaceId): Promise<void> {
  await writeFile(file, '');
  const hashes = sql`
    SELECT DISTINCT named.hash FROM ${NAMED_BLOBS} AS named JOIN articles ON articles.id = named.article_id
    WHERE articles.workspace_id = ${workspaceId} AND ${inLivingProject(workspaceId, 'articles.project_id')}`;
  for await (const part of readInParts(tx, hashes, HASHES)) {
    const lines = (part as readonly { hash: string }[]).map(({ hash }) => `${hash}\n`);
    await writeFile(file, lines.join(''), { flag: 'a' });
  }
}

/** Writes a tar file to its end and to the disk. */
async function pack<Result>(
  file: string,
  write: (tar: TarPackController) => Promise<Result>,
): Promise<Result> {
  const { readable, controller } = createTarPacker();
  const writing = pipeline(Readable.fromWeb(readable), createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  const written = write(controller).then(
    (result) => {
      controller.finalize();
      return result;
    },
    (error: unknown) => {
      controller.error(error);
      throw error;
    },
  );
  const [result] = await Promise.all([written, writing]);
  await using handle = await open(file);
  await handle.sync();
  return result;
}

async function addAll(
  tar: TarPackController,
  folder: string,
  blobs: BlobStore,
  about: Omit<Manifest, 'images'>,
): Promise<Manifest> {
  const mtime = new Date(about.exportedAt);
  const add = (name: string, size: number, body: ReadableStream<Uint8Array>) =>
    body.pipeTo(tar.add({ name, size, type: 'file', mode: 0o600, mtime }));
  for (const { name, bytes } of about.files) {
    await add(name, bytes, asWeb(path.join(folder, name)));
  }
  const images = { count: 0, bytes: 0, missing: [] as string[] };
  for await (const hash of createInterface({ input: createReadStream(path.join(folder, IMAGES)) })) {
    const blob = await blobs.open(hash);
    if (blob === null) {
      images.missing.push(hash);
      continue;
    }
    await add(`images/${hash}`, blob.size, blob.read());
    images.count += 1;
    images.bytes += blob.size;
  }
  const manifest: Manifest = { ...about, images };
  const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  await add('manifest.json', text.byteLength, new Blob([text]).stream());
  return manifest;
}

const asWeb = (file: string) =>
  Readable.toWeb(createReadStream(file)) as unknown as ReadableStream<Uint8Array>;
