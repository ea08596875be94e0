import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { ARTICLE_BODY_BYTES } from '../document/format/limits.ts';
import type { DocumentIssue } from '../document/format/parse.ts';
import type { RenderedDocument } from '../document/tasks/stored.ts';
import type { CheckedDocument } from '../document/tasks/tasks.ts';
import { errorCode, errorMessage } from '../error-text.ts';
import { invalid, ServiceError } from '../errors.ts';
import { type AssetId, newId } from '../ids.ts';
import { doTask } from '../threads/pool.ts';
import { type LocalImage, type ReadImage, readLocalImage } from './import-images.ts';

const MARKDOWN_EXTENSIONS = new Set(['.md', '.markdown', '.mdown', '.mkd', '.txt', '']);

/** An image of the file that becomes an asset of the article. */
export interface ImportedAsset extends LocalImage {
  readonly id: AssetId;
  readonly altText: string;
}

/** A file's validated contents, not stored yet. */
export interface ImportedFile {
  readonly body: RenderedDocument;
  /** The first heading, or the front matter's title; null without either. */
  readonly title: string | null;
  readonly assets: readonly ImportedAsset[];
  /** What could not be imported, one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Reads an article from a Markdown (`.md`) or documentJson (`.json`) file.
 * @param keepTitleHeading keeps a Markdown file's level-1 title heading in the body
 * @throws {ServiceError} INVALID_REQUEST for a file that cannot be read, is not UTF-8 or JSON, or breaks a
 *   rule of the document format; each broken rule is named with its block
 */
export async function readImportFile(
  file: string,
  keepTitleHeading: boolean,
  readImage: ReadImage,
): Promise<ImportedFile> {
  const extension = path.extname(file).toLowerCase();
  if (extension !== '.json' && !MARKDOWN_EXTENSIONS.has(extension)) {
    throw invalid('/file', `${file} is neither a Markdown (.md) nor a documentJson (.json) file.`);
  }
  const text = await readText(file);
  return extension === '.json'
    ? readDocumentJson(file, text)
    : readMarkdown(file, text, keepTitleHeading, readImage);
}

async function readText(file: string): Promise<string> {
  const bytes = await readBytes(file);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid('/file', `${file} is not encoded as UTF-8.`);
  }
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    const found = await stat(file);
    if (!found.isFile()) throw invalid('/file', `${file} is not a file.`);
    if (found.size > ARTICLE_BODY_BYTES) {
      throw invalid('/file', `${file} has ${found.size} bytes; ${ARTICLE_BODY_BYTES} are allowed.`);
    }
    return await readFile(file);
  } catch (error) {
    const code = errorCode(error);
    if (error instanceof ServiceError || code === undefined) throw error;
    throw invalid(
      '/file',
      code === 'ENOENT' ? `${file} does not exist.` : `${file} cannot be read (${code}).`,
    );
  }
}

async function readDocumentJson(file: string, text: string): Promise<ImportedFile> {
  const body = accepted(file, await doTask('check', JSON.stringify(parseJson(file, text))));
  return { body, title: body.stored.firstHeading, assets: [], warnings: [] };
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid('/file', `${file} is not valid JSON: ${errorMessage(error)}`);
  }
}

async function readMarkdown(
  file: string,
  text: string,
  keepTitleHeading: boolean,
  readImage: ReadImage,
): Promise<ImportedFile> {
  const wanted = await doTask('findImages', text);
  const assets = new Map<string, ImportedAsset>();
  const warnings: string[] = [];
  for (const { path: imagePath, alt: altText } of wanted) {
    const result = await readLocalImage(path.dirname(file), imagePath, readImage);
    if (result.ok)
      assets.set(imagePath, {
        image: result.image,
        fileName: result.fileName,
        id: newId<AssetId>(),
        altText,
      });
    else warnings.push(`The image ${imagePath} ${result.problem}; only its alternative text was imported.`);
  }
  const ids = new Map([...assets].map(([imagePath, { id }]) => [imagePath, id]));
  const { title, unusable, checked } = await doTask('importFile', text, keepTitleHeading, ids);
  if (unusable > 0) {
    const which = unusable === 1 ? 'An image has' : `${unusable} images have`;
    warnings.push(
      `${which} an address that is neither a file nor a web address; only the alternative text was imported.`,
    );
  }
  return { body: accepted(file, checked), title, assets: [...assets.values()], warnings };
}

function accepted(file: string, checked: CheckedDocument): RenderedDocument {
  if (checked.ok) return checked;
  const { issues, omitted } = checked;
  const lines = issues.map(describeIssue);
  if (omitted > 0) lines.push(`and ${omitted} more`);
  throw new ServiceError('INVALID_REQUEST', `${file} is not a valid document:\n  ${lines.join('\n  ')}`, {
    issues: issues.map(({ pointer, message }) => ({ pointer, detail: message })),
    issuesOmitted: omitted,
  });
}

/** Such as: block "intro" at /blocks/2/level: must be … */
function describeIssue({ pointer, blockId, message }: DocumentIssue): string {
  const index = /^\/blocks\/(\d+)/.exec(pointer)?.[1];
  const place = pointer === '' ? '' : ` at ${pointer}`;
  if (index === undefined) return `the document${place}: ${message}`;
  const block = blockId === null ? `number ${Number(index) + 1}` : JSON.stringify(blockId.slice(0, 80));
  return `block ${block}${place}: ${message}`;
}
