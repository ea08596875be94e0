import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { blobFolder, contentHashOf, createLocalBlobStore } from '../../src/blobs/blob-store.ts';
import { bareEnvironment } from '../support/processes.ts';
import { useTestService } from '../support/service.ts';

/** `npm run soak:export` sets more. */
const ARTICLES = Number(process.env.EXPORT_ARTICLES ?? 300);
const IMAGES = Number(process.env.EXPORT_IMAGES ?? 30);
const LIMIT_MIB = 256;
const IMAGE_BYTES = 300_000;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The file and Node's options, as `npm run admin` has them: `node <options> <file>`. */
const ADMIN: string[] = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'))
  .scripts.admin.split(' ')
  .slice(1);
/** Each hundredth article has the largest document that a request can bring. */
const PARAGRAPH = 2_000;

const folder = mkdtempSync(path.join(tmpdir(), 'wcs-export-memory-'));
const service = useTestService({ DATA_DIR: folder });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the command and measures its memory. @returns the largest resident set, in MiB */
async function measure(...args: string[]): Promise<{ code: number | null; mib: number; stdout: string }> {
  const child = spawn(process.execPath, [...ADMIN, ...args], {
    cwd: ROOT,
    env: { ...bareEnvironment(), ...service.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let mib = 0;
  let stdout = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  const status = `/proc/${child.pid}/status`;
  const timer = setInterval(() => {
    const [, kib] = existsSync(status) ? (/VmHWM:\s+(\d+)/.exec(readFileSync(status, 'utf8')) ?? []) : [];
    if (kib !== undefined) mib = Number(kib) / 1_024;
  }, 20);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearInterval(timer);
  return { code, mib, stdout };
}

// contract.md L12
it(`an export of ${ARTICLES} articles and ${IMAGES} images needs no more memory than ${LIMIT_MIB} MiB`, async () => {
  const workspace = await service.workspace();
  const projectId = await service.project(workspace);
  const blobs = createLocalBlobStore(blobFolder(folder));
  const hashes: string[] = [];
  for (let n = 0; n < IMAGES; n += 1) {
    const bytes = randomBytes(IMAGE_BYTES);
    const hash = await contentHashOf(bytes);
    await blobs.put(hash, bytes);
    hashes.push(hash);
  }
  await sql`
    INSERT INTO articles (id, workspace_id, project_id, title, slug, status, document, content_html, content_markdown,
      rendered_by, primary_language, translation_group_id)
    SELECT gen_random_uuid(), ${workspace.id}, ${projectId}, 'Article ' || n, 'article-' || n, 'DRAFT',
      jsonb_build_object('version', 1, 'blocks', jsonb_build_array(
        jsonb_build_object('id', 'p', 'type', 'paragraph', 'text', body))),
      '<p>' || body || '</p>', body, 1, 'en', gen_random_uuid()
    FROM generate_series(1, ${ARTICLES}::integer) AS n
    CROSS JOIN LATERAL (SELECT repeat('word ', CASE WHEN n % 100 = 0 THEN 50000 ELSE ${PARAGRAPH}::integer END) AS body) AS made`.execute(
    service.db,
  );
  await sql`
    INSERT INTO article_revisions (workspace_id, article_id, title, document, target_keywords, secondary_keywords,
      created_at)
    SELECT workspace_id, id, title, document, '{}', '{}', now() FROM articles`.execute(service.db);
  await sql`
    INSERT INTO assets (id, workspace_id, article_id, role, content_hash, media_type, byte_size, file_name)
    SELECT gen_random_uuid(), ${workspace.id}, (SELECT id FROM articles LIMIT 1), 'inline', hash, 'image/png',
      ${IMAGE_BYTES}, 'x.png' FROM unnest(${hashes}::text[]) AS hash`.execute(service.db);
  const out = path.join(folder, 'out.tar');
  const { code, mib, stdout } = await measure(
    ...['workspace', 'export', '--workspace', workspace.id, '--out', out, '--json'],
  );
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ images: IMAGES, missingImages: 0 });
  process.stderr.write(`export: ${Math.round(mib)} MiB\n`);
  expect(mib).toBeGreaterThan(0);
  expect(mib).toBeLessThan(LIMIT_MIB);
}, 600_000);
