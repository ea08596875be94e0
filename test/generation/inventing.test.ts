import fc from 'fast-check';
import { beforeEach, expect, it } from 'vitest';
import type { Outline } from '../../src/generation/outline.ts';
import type { ArticleId } from '../../src/ids.ts';
import { useGenerations } from '../support/generating.ts';
import { createStandInResearch, PAGES, resetResearch } from '../support/researching.ts';

/** Articles by models that invent; each a whole run. */
const RUNS = Number(process.env.INVENTING_RUNS ?? 3);
/** Figures that a report names. */
const MAX_FIGURES = 40;

const web = createStandInResearch();
const { service, workspace, calls, writers } = useGenerations({
  credits: 1_000,
  env: { WEB_RESEARCH: 'true', FACT_CHECKING: 'true' },
  research: web,
});
beforeEach(() => resetResearch(web));

const figure = fc.integer({ min: 1_000, max: 9_999 }).map(String);
/** A paragraph with figures from nowhere, and with citations in every form that a model makes up. */
const paragraph = fc
  .tuple(
    figure,
    fc.array(
      fc.oneof(
        fc.integer({ min: 0, max: 99 }).map((number) => `[${number}]`),
        fc.tuple(fc.nat(9), fc.webUrl()).map(([number, url]) => `[${number}](${url})`),
        fc.tuple(fc.nat(9), fc.nat(9)).map(([one, other]) => `[${one}, ${other}]`),
        fc.webUrl().map((url) => `[the source](${url})`),
        fc.webUrl().map((url) => `<a href="${url}">x</a>`),
        fc.constantFrom(...PAGES.map(([url]) => `[as they say](${url})`)),
      ),
      { minLength: 1, maxLength: 4 },
    ),
  )
  .map(([number, citations]) => ({
    number,
    text: `Gardens take ${number} litres of water in a dry year ${citations.join(' ')}.`,
  }));
const invented = fc.array(paragraph, { minLength: 1, maxLength: 4 });

// contract.md N24, N25 and N27
it('whatever a model invents, citations lead to pages that were read and hold the quote, and figures from nowhere reach the editor and the report', {
  timeout: 60_000 + RUNS * 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(invented, { minLength: 3, maxLength: 3 }), async (sections) => {
      resetResearch(web);
      writers.questions = [];
      // A figure that the model put into its own outline is no less invented.
      writers.responses.outline = async (question) => {
        const { object, ...written } = await writers.pseudo.ask(question);
        const outline = object as Outline;
        const planned = outline.sections.map((section, index) => {
          const number = sections[index % sections.length]?.[0]?.number ?? '';
          return { ...section, purpose: `${section.purpose} Gardens take ${number} litres.` };
        });
        return { ...written, object: { ...outline, sections: planned } };
      };
      writers.responses.section = async (question) => {
        const written = await writers.pseudo.ask(question);
        const own = sections[(question.number - 1) % sections.length] ?? [];
        return { ...written, text: [...own.map(({ text }) => text), written.text ?? ''].join('\n\n') };
      };
      const { article, job } = await calls.generateTo(workspace, {
        topic: 'Watering tomatoes',
        imageCount: 0,
        researchEnabled: true,
      });
      expect(job.status).toBe('COMPLETED');
      const path = `/api/articles/${article.id}/sources`;
      const { sources } = (await service.call(workspace.key, 'GET', path)).body as {
        sources: { id: string; url: string; notes: { quote: string }[] }[];
      };
      const stored = await service.db
        .selectFrom('article_sources')
        .select(['url', 'text'])
        .where('article_id', '=', article.id as ArticleId)
        .execute();
      const links = [...(article.contentMarkdown ?? '').matchAll(/\]\(<?([a-z]+:[^)>\s]*)/gi)];
      expect(links.length).toBeGreaterThan(0);
      for (const [, url = ''] of links) {
        expect(web.read).toContain(url);
        const text = stored.find((source) => source.url === url)?.text;
        expect(text).toBe(web.pages.get(url));
        const { notes = [] } = sources.find((source) => source.url === url) ?? {};
        expect(notes.length).toBeGreaterThan(0);
        for (const { quote } of notes) expect(text).toContain(quote);
      }
      // No number stands there without its link.
      const shown = (article.contentMarkdown ?? '').replace(/\[\\\[\d+\\\]\]\(/g, '(');
      expect(shown).not.toMatch(/\[\d+(?:[,;] ?\d+)*\\?\]/);

      const { report } = (await service.call(workspace.key, 'GET', `/api/jobs/${job.id}/report`)).body;
      const told = new Set(report.checks.figures.map((each: { figure: string }) => each.figure));
      const edits = writers.questions.flatMap((question) =>
        question.kind === 'edits' ? question.found.unsupportedFigures : [],
      );
      const seen = new Set(edits.map((each) => each.figure));
      const given = new Set(sections.flat().map(({ number }) => number));
      const there = [...given].filter((number) => (article.contentMarkdown ?? '').includes(` ${number} `));
      expect(there.length).toBeGreaterThan(0);
      expect(given.size).toBeLessThan(MAX_FIGURES);
      for (const number of there) expect(told, number).toContain(number);
      for (const number of there) expect(seen, number).toContain(number);
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
});
