import { expect, it } from 'vitest';
import { runCli } from '../cli/run.ts';
import { useTestService } from '../support/service.ts';

const service = useTestService();

const ideas = () =>
  service.db.selectFrom('idea_clusters').select(['id', 'title', 'keywords']).orderBy('created_at').execute();

it('the operator adds ideas to a project, and changes the keywords of one by its title', async () => {
  const workspace = await service.workspace();
  const projectId = await service.project(workspace);
  const add = (...args: string[]) => runCli('admin', ['--json', 'ideas', 'add', ...args], service.env);
  const first = await add('--project', projectId, '--title', ' Balcony plants ', '--keywords', 'herbs, pots');
  expect([first.code, first.stderr]).toEqual([0, '']);
  const { ideaClusterId } = JSON.parse(first.stdout);
  expect(await ideas()).toEqual([
    { id: ideaClusterId, title: 'Balcony plants', keywords: ['herbs', 'pots'] },
  ]);
  const again = await add('--project', projectId, '--title', 'Balcony plants');
  expect(JSON.parse(again.stdout)).toEqual({ ideaClusterId });
  expect(await ideas()).toEqual([{ id: ideaClusterId, title: 'Balcony plants', keywords: [] }]);

  const unknown = await add('--project', workspace.id, '--title', 'x');
  expect([unknown.code === 0, unknown.stdout]).toEqual([false, '']);
  expect(unknown.stderr).toContain('project');
  const empty = await add('--project', projectId, '--title', ' ');
  expect(empty.stderr).toContain('--title');
  expect(await ideas()).toHaveLength(1);
});
