import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import type { InVersion } from '../../src/document/translation/context.ts';
import type { JobId } from '../../src/ids.ts';
import { createArticle } from '../support/articles.ts';
import { askedTexts, chatRequest, completion } from '../support/chat-completions.ts';
import { type EngineRequest, type EngineServer, startEngineServer } from '../support/engine-server.ts';
import { startTestService, type TestService, type TestWorkspace } from '../support/service.ts';
import { translating } from '../support/translating.ts';

/** What a request has besides its texts. */
interface Question {
  readonly about: { readonly versionTitle?: string };
  readonly texts: Readonly<Record<string, string>>;
  readonly version?: Readonly<Record<string, InVersion>>;
}

/** How the stand-in puts things when it is given nothing to go by. */
interface Mood {
  readonly address: 'tú' | 'usted';
  readonly term: string;
}
const FIRST: Mood = { address: 'tú', term: 'bancales elevados' };
const LATER: Mood = { address: 'usted', term: 'camas altas' };
let mood = FIRST;
/** Whether it sees what the requests have of the version. */
let isBlind = false;

const SENTENCES: Readonly<Record<string, (mood: Mood) => string>> = {
  'The raised beds of the school': ({ term }) => `Los ${term} de la escuela`,
  'You water your raised beds in the morning.': ({ address, term }) =>
    address === 'tú' ? `Tú riegas tus ${term} por la mañana.` : `Usted riega sus ${term} por la mañana.`,
  'You water your raised beds in the evening.': ({ address, term }) =>
    address === 'tú' ? `Tú riegas tus ${term} por la tarde.` : `Usted riega sus ${term} por la tarde.`,
  'The soil keeps the water for a long time.': () => 'La tierra guarda el agua durante mucho tiempo.',
  'Then the plants of the garden grow well.': () => 'Entonces las plantas del jardín crecen bien.',
  'Then the plants of the garden grow slowly.': () => 'Entonces las plantas del jardín crecen despacio.',
  'You cover your raised beds in the winter.': ({ address, term }) =>
    address === 'tú' ? `Tú cubres tus ${term} en el invierno.` : `Usted cubre sus ${term} en el invierno.`,
};
const sentencesIn = (text: string): string[] => text.split(/(?<=\.) /);

/** Translates a text in the words of what it sees, sentence by sentence, and else in its own. */
function translate(
  text: string,
  { oldSource = '', current = '', before = '', after = '' }: InVersion,
): string {
  const seen = [current, before, after].join(' ');
  const words: Mood = {
    address: /\b(?:tus|riegas)\b/.test(seen) ? 'tú' : /\b(?:sus|riega)\b/.test(seen) ? 'usted' : mood.address,
    term: seen.includes(FIRST.term) ? FIRST.term : seen.includes(LATER.term) ? LATER.term : mood.term,
  };
  const [old, there] = [sentencesIn(oldSource), sentencesIn(current)];
  return sentencesIn(text)
    .map((sentence) => {
      const kept = there[old.indexOf(sentence)];
      return kept ?? SENTENCES[sentence]?.(words) ?? `¡${sentence}!`;
    })
    .join(' ');
}

const questionOf = (request: EngineRequest): Question =>
  JSON.parse(chatRequest(request).messages[1]?.content ?? '');

let model: EngineServer;
let service: TestService;
let workspace: TestWorkspace;
let calls: ReturnType<typeof translating>;

beforeAll(async () => {
  model = await startEngineServer((request) => {
    const { version = {} } = questionOf(request);
    const made = Object.entries(askedTexts(request)).map(([id, text]) => [
      id,
      translate(text, isBlind ? {} : (version[id] ?? {})),
    ]);
    return completion(JSON.stringify(Object.fromEntries(made)));
  });
  service = await startTestService({
    TRANSLATION_PROVIDER: 'openai-compatible',
    AI_BASE_URL: `${model.url}/v1`,
    AI_MODEL: 'stand-in',
  });
  calls = translating(service);
  await service.startWorker();
});
afterAll(async () => {
  await model.close();
  await service.stop();
});
beforeEach(async () => {
  workspace = await service.workspace(100);
  model.requests.length = 0;
  mood = FIRST;
  isBlind = false;
});

const paragraph = (id: string, text: string) => ({ id, type: 'paragraph' as const, text });
const BEFORE: DocumentJson = {
  version: 1,
  blocks: [
    paragraph(
      'edited',
      'You water your raised beds in the morning. The soil keeps the water for a long time. Then the plants of the garden grow well.',
    ),
    paragraph(
      'untouched',
      'You water your raised beds in the morning. Then the plants of the garden grow well.',
    ),
  ],
};
const AFTER: DocumentJson = {
  version: 1,
  blocks: [
    paragraph(
      'edited',
      'You water your raised beds in the evening. The soil keeps the water for a long time. Then the plants of the garden grow well.',
    ),
    paragraph(
      'untouched',
      'You water your raised beds in the morning. Then the plants of the garden grow slowly.',
    ),
    paragraph('added', 'You cover your raised beds in the winter.'),
  ],
};

/** Translates, edits a sentence of the version, changes the source, and refreshes in another mood. */
async function refreshed() {
  const project = await service.project(workspace);
  const title = 'The raised beds of the school';
  const source = await createArticle(service.db, workspace, project, { document: BEFORE, title });
  const { article: version } = await calls.translateTo(workspace, source.id);
  const [first, ...others] = version.documentJson.blocks;
  const edited =
    'Tú riegas tus bancales elevados por la mañana. El suelo conserva el agua. Entonces las plantas del jardín crecen bien.';
  const saved = { version: 1 as const, blocks: [{ ...first, text: edited }, ...others] } as DocumentJson;
  expect((await calls.save(workspace, version.id, saved)).status).toBe(200);
  expect((await calls.save(workspace, source.id, AFTER)).status).toBe(200);
  model.requests.length = 0;
  mood = LATER;
  const job = await calls.refresh(workspace, version.id);
  expect(await calls.untilFinal(workspace, job.id)).toMatchObject({ status: 'COMPLETED' });
  const after = await calls.readArticle(workspace, version.id);
  const path = `/api/articles/${version.id}/proposals`;
  const { proposals } = (await service.call(workspace.key, 'GET', path)).body;
  expect(proposals.map(({ unit }: { unit: string }) => unit)).toEqual(['block:edited']);
  const textOf = (id: string) => {
    const block = after.documentJson.blocks.find((each) => each.id === id);
    return block !== undefined && 'text' in block ? block.text : undefined;
  };
  return {
    job,
    texts: [proposals[0].value.block.text, textOf('untouched'), textOf('added')],
    requests: model.requests.map(questionOf),
  };
}

describe('an engine that goes by the version', () => {
  // contract.md V57
  it('keeps terms, form of address and the wording of a person in a refresh that changes a sentence', async () => {
    const { texts, requests } = await refreshed();
    expect(texts).toEqual([
      'Tú riegas tus bancales elevados por la tarde. El suelo conserva el agua. Entonces las plantas del jardín crecen bien.',
      'Tú riegas tus bancales elevados por la mañana. Entonces las plantas del jardín crecen despacio.',
      'Tú cubres tus bancales elevados en el invierno.',
    ]);
    expect(requests[0]?.about.versionTitle).toBe('Los bancales elevados de la escuela');
    expect(requests[0]?.version?.['paragraph.1']).toEqual({
      oldSource:
        'You water your raised beds in the morning. The soil keeps the water for a long time. Then the plants of the garden grow well.',
      current:
        'Tú riegas tus bancales elevados por la mañana. El suelo conserva el agua. Entonces las plantas del jardín crecen bien.',
    });
  });

  // contract.md V57: without the version's texts the same refresh goes wrong in each of the three.
  it('uses other words where it does not see the version', async () => {
    isBlind = true;
    const { texts } = await refreshed();
    expect(texts).toEqual([
      'Usted riega sus camas altas por la tarde. La tierra guarda el agua durante mucho tiempo. Entonces las plantas del jardín crecen bien.',
      'Usted riega sus camas altas por la mañana. Entonces las plantas del jardín crecen despacio.',
      'Usted cubre sus camas altas en el invierno.',
    ]);
  });

  // contract.md V58
  it('is sent at most four times what is translated of the version', async () => {
    const { requests } = await refreshed();
    const lengths = (texts: readonly string[]) => texts.reduce((sum, text) => sum + text.length, 0);
    for (const { about, texts, version = {} } of requests) {
      const context = [
        about.versionTitle ?? '',
        ...Object.values(version).flatMap((each) => Object.values(each)),
      ];
      expect(lengths(context)).toBeLessThanOrEqual(4 * lengths(Object.values(texts)));
    }
  });

  // contract.md V59
  it('is asked again for the same text elsewhere: what it made from an old translation is not remembered', async () => {
    const { job } = await refreshed();
    const remembered = await service.db
      .selectFrom('translation_memory as memory')
      .innerJoin('jobs', 'jobs.article_id', 'memory.article_id')
      .select('source_text')
      .where('jobs.id', '=', job.id as JobId)
      .where('layer', '=', 'machine')
      .execute();
    const sources = remembered.map(({ source_text }) => source_text);
    expect(sources).toContain('You cover your raised beds in the winter.');
    expect(sources.filter((text) => /evening|slowly/.test(text))).toEqual([]);
  });
});
