import { beforeEach, describe, expect, it } from 'vitest';
import { useGenerations } from '../support/generating.ts';
import { createStandInResearch, PAGES, resetResearch } from '../support/researching.ts';

const SETTINGS = { topic: 'Watering tomatoes', imageCount: 0, researchEnabled: true };
const CLAIM = 'Tomatoes in open ground need about 20 litres of water a week in high summer.';

// contract.md N20, N31 and N32
describe.each([
  { feature: 'WEB_RESEARCH', price: 2, sources: PAGES.length, research: true },
  { feature: 'FACT_CHECKING', price: 4, sources: PAGES.length, research: false },
] as const)('a deployment with $feature alone', ({ feature, price, sources, research }) => {
  const web = createStandInResearch();
  const { service, workspace, calls, writers } = useGenerations({
    credits: 40,
    env: { [feature]: 'true' },
    research: web,
  });
  beforeEach(() => resetResearch(web));
  const get = async (path: string) => (await service.call(workspace.key, 'GET', path)).body;

  it('does, prices and charges that, and nothing of the other', async () => {
    writers.responses.section = async (question) => {
      const written = await writers.pseudo.ask(question);
      return question.number === 1 ? { ...written, text: `${written.text ?? ''}\n\n${CLAIM}` } : written;
    };
    const { article, job } = await calls.generateTo(workspace, SETTINGS);
    expect(job).toMatchObject({ status: 'COMPLETED', estimatedCredits: price, consumedCredits: price });
    expect(writers.asked.includes('notes')).toBe(research);
    expect(writers.asked.includes('verdicts')).toBe(!research);
    expect((await get(`/api/articles/${article.id}/sources`)).sources).toHaveLength(sources);
    const { claims } = await get(`/api/articles/${article.id}/claims`);
    expect(claims.map(({ verdict }: { verdict: string }) => verdict)).toEqual(research ? [] : ['supported']);
    const { report } = await get(`/api/jobs/${job.id}/report`);
    expect([report.research !== null, report.facts !== null]).toEqual([research, !research]);
  });
});
