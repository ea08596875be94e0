import type { Block, BlockType } from '../../src/document/format/schema.ts';
import { collectTexts } from '../../src/document/format/walk.ts';
import type { JobId } from '../../src/ids.ts';
import { print } from '../../src/local/run-locally.ts';
import type { LocalService } from '../../src/local/service.ts';
import { translationWorkflowId } from '../../src/temporal/ids.ts';
import type { Generation } from './generation.ts';
import type { Findings } from './steps.ts';

/** Characters of a text that a line shows. */
const WIDTH = 84;
/** Sources, and claims, that are shown. */
const SHOWN = 3;

/** Shows what the steps found: some of the texts side by side, the money, the webhooks, and where to look further. */
export function report(
  { url, temporalUiUrl, config }: LocalService,
  found: Findings,
  { exit = false } = {},
): void {
  const { source, target, before, after, job, workspaceId, key } = found;
  print('');
  print('Source and translation (pseudo-localisation: no model was called)');
  print('');
  pair('title', source.title, target.title);
  for (const [index, block] of source.documentJson.blocks.entries()) {
    const translated = target.documentJson.blocks[index];
    if (translated !== undefined && isShown(source.documentJson.blocks, index)) {
      pair(block.type, textOf(block), textOf(translated));
    }
  }
  print('');
  print('Wallet');
  print('');
  print(`  before     balance ${before.balance}, reserved ${before.reserved}, available ${before.available}`);
  print(`  after      balance ${after.balance}, reserved ${after.reserved}, available ${after.available}`);
  print(
    `  job        estimated ${job.estimatedCredits}, reserved ${job.reservedCredits}, consumed ${job.consumedCredits}`,
  );
  const { changedBlocks, blocks, total, balance } = found.refresh;
  print('');
  print('Refresh after an edit of the source');
  print('');
  print(`  ${changedBlocks} of ${blocks} blocks changed, ${total} credit: the balance is ${balance} now`);
  reportGeneration(found.generation);
  print('');
  print('Webhooks');
  for (const { raw, signature } of found.webhooks) {
    print('');
    print(`  ${raw}`);
    print(`  x-service-signature: ${signature} (genuine)`);
  }
  print('');
  for (const { raw } of found.generation.webhooks) print(`  ${raw} (genuine)`);
  print('');
  print(exit ? 'Look further, after `npm start`, which has the same data' : 'Look further');
  print('');
  print(`  Reference      ${url}/docs`);
  if (temporalUiUrl !== null) {
    const path = `namespaces/${config.TEMPORAL_NAMESPACE}/workflows/${translationWorkflowId(job.id as JobId)}`;
    print(`  Temporal UI    ${temporalUiUrl}`);
    print(`  This run       ${temporalUiUrl}/${path}`);
  }
  print(`  The article    curl -H 'Authorization: Bearer ${key}' ${url}/api/articles/${target.id}`);
  print(
    `  Its webhooks   curl -H 'Authorization: Bearer ${key}' ${url}/api/workspaces/${workspaceId}/webhooks`,
  );
}

/** The outline that was approved, the beginning of what was written from it, and what it cost. */
function reportGeneration({ outline, article, sources, claims, job, balance, page }: Generation): void {
  print('');
  print('An article from a topic (pseudo writer: no model was called)');
  print('');
  print(`  outline    ${cut(outline.title)}`);
  for (const { heading, level, estimatedWords } of outline.sections) {
    print(`  ${' '.repeat(10)} ${'  '.repeat(level - 2)}${cut(heading)} (${estimatedWords} words)`);
  }
  const text = article.documentJson.blocks.find(({ type }) => type === 'paragraph');
  if (text !== undefined) print(`  text       ${cut(textOf(text))}`);
  for (const { url, title } of sources.slice(0, SHOWN)) print(`  source     ${cut(title)}: ${url}`);
  for (const { verdict, sentence, passage } of claims.slice(0, SHOWN)) {
    print(`  claim      ${cut(sentence)}`);
    print(`  ${verdict.padEnd(10)} ${cut(passage ?? 'nothing that was read decides it')}`);
  }
  print(`  page       ${page}`);
  print(
    `  receipt    ${article.wordCount} words: estimated ${job.estimatedCredits}, reserved ${job.reservedCredits}, consumed ${job.consumedCredits}; the balance is ${balance} now`,
  );
}

/** The first block of each type, and those in another script than Latin. */
function isShown(blocks: readonly Block[], index: number): boolean {
  const block = blocks[index];
  if (block === undefined || block.type === 'divider') return false;
  const isFirst = blocks.findIndex(({ type }) => type === block.type) === index;
  return isFirst || /[\p{Script=Hiragana}\p{Script=Arabic}]/u.test(textOf(block));
}

function pair(type: BlockType | 'title', before: string, after: string): void {
  print(`  ${type.padEnd(10)} ${cut(before)}`);
  print(
    `  ${''.padEnd(10)} ${type === 'code' && before === after ? '(byte for byte the same)' : cut(after)}`,
  );
}

function textOf(block: Block): string {
  if (block.type === 'code') return block.text;
  const texts = collectTexts({ version: 1, blocks: [block] }).map(({ text }) => text);
  return texts.join(' | ');
}

function cut(text: string): string {
  const characters = [...text.replace(/\s+/g, ' ')];
  return characters.length <= WIDTH ? characters.join('') : `${characters.slice(0, WIDTH - 1).join('')}…`;
}
