import { expect, it } from 'vitest';
import type { ArticleId } from '../../src/ids.ts';
import { MAX_CLAIMS } from '../../src/research/limits.ts';
import { CLAIMS, type TableClaim } from '../research/claims.ts';
import { useGenerations } from '../support/generating.ts';

const { service, workspace, calls, writers } = useGenerations({
  credits: 40,
  env: { FACT_CHECKING: 'true' },
});

/** Sections of an article of 600 words. */
const SECTIONS = 3;
const RIGHT = { supported: 'supported', contradicted: 'contradicted', 'without evidence': 'not_found' };

/** The table in three articles of twenty claims, those with evidence first: of a site a run reads two pages. */
function articlesOfTable(): TableClaim[][] {
  const articles: TableClaim[][] = [[], [], []];
  const pages = [...new Set(CLAIMS.flatMap(({ evidence }) => evidence[0]?.page ?? []))];
  const bySite = Map.groupBy(pages, (page) => page.split('/')[0]);
  for (const [at, ofSite] of [...bySite.values()].entries()) {
    for (const [number, page] of ofSite.entries()) {
      const article = articles[(Math.floor(number / 2) + at) % articles.length];
      article?.push(...CLAIMS.filter(({ evidence }) => evidence[0]?.page === page));
    }
  }
  const without = CLAIMS.filter(({ evidence }) => evidence.length === 0);
  return articles.map((claims) => [...claims, ...without.splice(0, MAX_CLAIMS - claims.length)]);
}

// contract.md N12, N13, N30 and N34
it('the verdicts on sixty claims arrive in the rows, in the list and in the report of their articles', {
  timeout: 300_000,
}, async () => {
  /** What the model said of each claim, and whether it was shown what decides it. */
  const said = new Map<string, { verdict: string; passage: string | null; isDecidable: boolean }>();
  for (const claims of articlesOfTable()) {
    expect(claims).toHaveLength(MAX_CLAIMS);
    const share = Math.ceil(claims.length / SECTIONS);
    writers.responses.section = async (question) => {
      const written = await writers.pseudo.ask(question);
      const own = claims.slice((question.number - 1) * share, question.number * share);
      return { ...written, text: [...own.map(({ claim }) => claim), written.text ?? ''].join('\n\n') };
    };
    writers.responses.claims = async ({ blocks }) => ({
      object: {
        claims: claims.map(({ claim }) => ({
          block: 1 + blocks.findIndex(({ text }) => text === claim),
          sentence: claim,
        })),
      },
      truncated: false,
    });
    writers.responses.verdicts = async (question) => {
      const response = await writers.pseudo.ask(question);
      const given = response.object?.verdicts as { claim: number; verdict: string; passage: number | null }[];
      for (const { claim, verdict, passage } of given) {
        const { sentence = '', passages = [] } = question.claims[claim - 1] ?? {};
        const evidence = claims.find((each) => each.claim === sentence)?.evidence ?? [];
        said.set(sentence, {
          verdict,
          passage: passage === null ? null : (passages[passage - 1]?.text ?? null),
          isDecidable: evidence.some(({ words }) => passages.some(({ text }) => text.includes(words))),
        });
      }
      return response;
    };
    const settings = { topic: 'What the household asks', imageCount: 0, researchEnabled: true };
    const { article, job } = await calls.generateTo(workspace, settings);
    expect(job).toMatchObject({ status: 'COMPLETED', consumedCredits: 4 });
    const expected = claims.map(({ claim }) => ({
      sentence: claim,
      verdict: said.get(claim)?.verdict ?? 'not_found',
      passage: said.get(claim)?.passage ?? null,
    }));

    const rows = await service.db
      .selectFrom('article_claims')
      .leftJoin('article_sources as source', 'source.id', 'article_claims.source_id')
      .select(['sentence', 'verdict', 'passage', 'source.text', 'source.id as sourceId'])
      .where('article_claims.article_id', '=', article.id as ArticleId)
      .orderBy('article_claims.position')
      .execute();
    expect(rows.map(({ sentence, verdict, passage }) => ({ sentence, verdict, passage }))).toEqual(expected);
    for (const { passage, text } of rows) if (passage !== null) expect(text).toContain(passage);

    const { body } = await service.call(workspace.key, 'GET', `/api/articles/${article.id}/claims`);
    expect(body.claims).toMatchObject(
      expected.map((each, at) => ({ ...each, changed: false, sourceId: rows[at]?.sourceId ?? null })),
    );
    const { documentJson } = await calls.readArticle(workspace, article.id);
    for (const { blockId, sentence } of body.claims) {
      expect(documentJson.blocks.find(({ id }) => id === blockId)).toMatchObject({ text: sentence });
    }

    const { report } = (await service.call(workspace.key, 'GET', `/api/jobs/${job.id}/report`)).body;
    const counted = (verdict: string): number => expected.filter((each) => each.verdict === verdict).length;
    expect(report.facts.claims).toEqual({
      supported: counted('supported'),
      contradicted: counted('contradicted'),
      not_found: counted('not_found'),
    });
  }
  const right = (kind: TableClaim['kind']): number =>
    CLAIMS.filter(
      (each) => each.kind === kind && (said.get(each.claim)?.verdict ?? 'not_found') === RIGHT[kind],
    ).length;
  const decidable = [...said.values()].filter(({ isDecidable }) => isDecidable).length;
  expect(decidable).toBeGreaterThanOrEqual(36);
  expect(right('supported')).toBeGreaterThanOrEqual(12);
  expect(right('contradicted')).toBeGreaterThanOrEqual(12);
  expect(right('without evidence')).toBe(20);
});
