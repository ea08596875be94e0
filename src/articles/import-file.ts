import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { toPlainText } from '../document/inline.ts';
import { dropDeadLinks } from '../document/links.ts';
import { importMarkdown } from '../document/markdown-import.ts';
import { type DocumentIssue, type DocumentJson, parseDocument } from '../document/schema.ts';
import { invalid, ServiceError } from '../errors.ts';
import { type AssetId, newId } from '../ids.ts';
import { errorCode } from '../local/files.ts';
import { type LocalImage, readLocalImage } from './import-images.ts';

/** Bytes a file may have: some millions of words. */
const MAX_FILE_BYTES = 20 * 1024 * 1024;
/** Broken rules that one message lists. */
const MAX_LISTED_ISSUES = 50;
const MARKDOWN_EXTENSIONS = new Set(['.md', '.markdown', '.mdown', '.mkd', '.txt', '']);

/** An image of the file that becomes an asset of the article. */
export interface ImportedAsset extends LocalImage {
  readonly id: AssetId;
  readonly altText: string;
}

/** What a file holds, checked, before anything of it is stored. */
export interface ImportedFile {
  readonly document: DocumentJson;
  /** The first heading, or the front matter's title; null when there is neither. */
  readonly title: string | null;
  readonly assets: readonly ImportedAsset[];
  /** What of the file could not be taken over, one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Reads an article from a Markdown (`.md`) or documentJson (`.json`) file.
 * @param keepTitleHeading keeps a Markdown file's level-1 title heading in the body
 * @throws {ServiceError} INVALID_REQUEST for a file that cannot be read, is no UTF-8 or JSON, or breaks a
 *   rule of the document format; each broken rule is named with its block
 */
export async function readImportFile(file: string, keepTitleHeading: boolean): Promise<ImportedFile> {
  const extension = path.extname(file).toLowerCase();
  if (extension !== '.json' && !MARKDOWN_EXTENSIONS.has(extension)) {
    throw invalid('/file', `${file} is neither a Markdown (.md) nor a documentJson (.json) file.`);
  }
  const text = await readText(file);
  return extension === '.json' ? readDocumentJson(file, text) : readMarkdown(file, text, keepTitleHeading);
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
    if (!found.isFile()) throw invalid('/file', `${file} is no file.`);
    if (found.size > MAX_FILE_BYTES) {
      throw invalid('/file', `${file} has ${found.size} bytes; ${MAX_FILE_BYTES} are allowed.`);
    }
    return await readFile(file);
  } catch (error) {
    const code = errorCode(error);
    if (error instanceof ServiceError || code === undefined) throw error;
    throw invalid(
      '/file',
      code === 'ENOENT' ? `There is no file ${file}.` : `${file} cannot be read (${code}).`,
    );
  }
}

function readDocumentJson(file: string, text: string): ImportedFile {
  const document = checked(file, parseJson(file, text));
  const heading = document.blocks.find((block) => block.type === 'heading');
  const title = heading?.format === 'markdown' ? toPlainText(heading.text) : heading?.text;
  return { document, title: title ?? null, assets: [], warnings: [] };
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(
      '/file',
      `${file} is no valid JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function readMarkdown(file: string, text: string, keepTitleHeading: boolean): Promise<ImportedFile> {
  const wanted = new Map<string, string>();
  importMarkdown(text, {
    keepTitleHeading,
    resolveImage: ({ path: imagePath, alt }) => {
      if (!wanted.has(imagePath)) wanted.set(imagePath, alt);
      return null;
    },
  });
  const assets = new Map<string, ImportedAsset>();
  const warnings: string[] = [];
  for (const [imagePath, altText] of wanted) {
    const result = await readLocalImage(path.dirname(file), imagePath);
    if (result.ok) assets.set(imagePath, { ...result.image, id: newId<AssetId>(), altText });
    else warnings.push(`The image ${imagePath} ${result.problem}; only its alternative text was imported.`);
  }
  const { document, title } = importMarkdown(text, {
    keepTitleHeading,
    resolveImage: (image) => assets.get(image.path)?.id ?? null,
  });
  return { document: checked(file, document), title, assets: [...assets.values()], warnings };
}

/** The document as it is stored: valid, its dead links dropped. */
function checked(file: string, value: unknown): DocumentJson {
  const parsed = parseDocument(value);
  if (parsed.ok) return dropDeadLinks(parsed.document);
  const { issues } = parsed;
  const lines = issues.slice(0, MAX_LISTED_ISSUES).map(describeIssue);
  if (issues.length > lines.length) lines.push(`and ${issues.length - lines.length} more`);
  throw new ServiceError('INVALID_REQUEST', `${file} is no valid document:\n  ${lines.join('\n  ')}`, {
    issues: issues.map(({ pointer, message }) => ({ pointer, detail: message })),
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
