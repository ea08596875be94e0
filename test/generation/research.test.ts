import { expect, it } from 'vitest';
import { useGenerations } from '../support/generating.ts';

const { service, workspace, calls, writers } = useGenerations({
  credits: 40,
  env: { WEB_RESEARCH: 'true', FACT_CHECKING: 'true' },
});
const get = async (path: string) => (await service.call(workspace.key, 'GET', path)).body;
const settings = { topic: 'Watering tomatoes in raised beds', imageCount: 0, researchEnabled: true };

it('researches, cites, checks and charges', async () => {
  const { article, job } = await calls.generateTo(workspace, settings);
  const { report } = await get(`/api/jobs/${job.id}/report`);
  console.log(JSON.stringify(report, null, 1).slice(0, 6000));
  console.log(JSON.stringify(await get(`/api/articles/${article.id}/sources`), null, 1).slice(0, 3000));
  console.log(JSON.stringify(await get(`/api/articles/${article.id}/claims`), null, 1).slice(0, 6000));
  console.log(article.contentMarkdown, writers.asked);
  expect(job).toMatchObject({ status: 'COMPLETED', consumedCredits: 5 });
});
