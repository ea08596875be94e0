import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseDocument } from '../../src/document/format/parse.ts';
import { generating } from '../support/generating.ts';
import { type CarelessModel, startCarelessModel } from '../support/model/careless-model.ts';
import { WRITING_HABITS } from '../support/model/writing-habits.ts';
import { useTestService } from '../support/service.ts';
import { writerAt } from './support.ts';

const ARTICLES = 12;
const service = useTestService();
const calls = generating(service);
let model: CarelessModel;

beforeAll(async () => {
  const writing = Object.fromEntries(WRITING_HABITS.map((habit) => [habit, 0.06]));
  model = await startCarelessModel({ writing, repairs: 0.5 });
  const writer = await writerAt(model.url);
  await service.startWorker({ writers: { premium: writer, standard: writer } });
});
afterAll(() => model.close());

// contract.md G37
it('what a model with bad habits writes is saved valid, or not at all, and charged only then', async () => {
  const workspace = await service.workspace(ARTICLES * 2);
  const ended = await Promise.all(
    Array.from({ length: ARTICLES }, (_, number) =>
      calls.generateTo(workspace, { topic: `Garden number ${number}`, faq: number % 2 === 0 }),
    ),
  );
  for (const { article, job } of ended) {
    const text = JSON.stringify([article.documentJson, article.contentHtml, article.outline]);
    expect(text).not.toMatch(/\/offer|https?:|mailto|\/admin|<div|<h1|```|Sure!/);
    expect(text).not.toMatch(/[\p{Script=Cyrillic}\p{Script=Han}\p{Script=Arabic}]/u);
    expect(parseDocument(article.documentJson)).toMatchObject({ ok: true });
    const levels = article.documentJson.blocks.flatMap((block) =>
      block.type === 'heading' ? [block.level] : [],
    );
    if (job.status === 'COMPLETED') {
      expect(article.status).toBe('NEEDS_REVIEW');
      expect(Math.min(...levels)).toBe(2);
      expect(job.consumedCredits).toBe(1);
    } else {
      expect(job).toMatchObject({ status: 'FAILED', errorCode: 'GENERATION_FAILED', consumedCredits: 0 });
      expect(job.errorMessage).toMatch(/^No usable text was written for /);
      expect(article).toMatchObject({ status: 'DRAFT', documentJson: { blocks: [] } });
    }
  }
  const completed = ended.filter(({ job }) => job.status === 'COMPLETED').length;
  expect(completed).toBeGreaterThan(ARTICLES * 0.75);
  expect(await calls.readWallet(workspace)).toMatchObject({ balance: ARTICLES * 2 - completed, reserved: 0 });
});
