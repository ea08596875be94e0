import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import type { WorkspaceId } from '../ids.ts';
import { writeJson } from '../json-text.ts';
import { KINDS, type Kind } from './kinds.ts';

/** Rows read at once: a document has up to 512 KiB, three times in an article's row. */
const ROWS = { large: 4, small: 200 } as const;

/** A file of an export. */
export interface ExportedFile {
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
  /** SHA-256, 64 hex digits. */
  readonly sha256: string;
}

/** The rows of a statement, a few at a time, by a cursor of the transaction. */
export async function* readInParts(
  tx: Tx,
  rows: RawBuilder<unknown>,
  atOnce: number,
): AsyncGenerator<readonly unknown[]> {
  await sql`DECLARE exported NO SCROLL CURSOR FOR ${rows}`.execute(tx);
  for (let isMore = true; isMore; ) {
    const part = await sql`FETCH ${sql.lit(atOnce)} FROM exported`.execute(tx);
    if (part.rows.length > 0) yield part.rows;
    isMore = part.rows.length === atOnce;
  }
  await sql`CLOSE exported`.execute(tx);
}

/** Writes one kind as JSON lines. */
async function spoolKind(
  tx: Tx,
  folder: string,
  kind: Kind,
  workspaceId: WorkspaceId,
): Promise<ExportedFile> {
  const name = `${kind.name}.jsonl`;
  const hash = createHash('sha256');
  let rows = 0;
  let bytes = 0;
  await using file = await open(path.join(folder, name), 'wx', 0o600);
  for await (const part of readInParts(tx, kind.rows(workspaceId), kind.large ? ROWS.large : ROWS.small)) {
    let text = '';
    for (const row of part) text += `${writeJson(await kind.shape(row as never, tx))}\n`;
    const data = Buffer.from(text);
    await file.appendFile(data);
    hash.update(data);
    rows += part.length;
    bytes += data.byteLength;
  }
  return { name, rows, bytes, sha256: hash.digest('hex') };
}

/**
 * Writes all rows of a workspace into a folder, a file for each kind, in the transaction's snapshot.
 * @param onProgress called after each file
 */
export async function spoolRows(
  tx: Tx,
  folder: string,
  workspaceId: WorkspaceId,
  onProgress: (file: ExportedFile) => void,
): Promise<ExportedFile[]> {
  const files: ExportedFile[] = [];
  for (const kind of KINDS) {
    const file = await spoolKind(tx, folder, kind, workspaceId);
    onProgress(file);
    files.push(file);
  }
  return files;
}
