import { beforeEach, expect } from 'vitest';
import type { ArticleId, ProjectId } from '../../../src/ids.ts';
import { documentOf, type Editing, editing } from '../../articles/support.ts';
import { listenToAll } from '../../support/events.ts';
import { config, generating } from '../../support/generating.ts';
import { type Answer, madeLater, type TestWorkspace, useTestService } from '../../support/service.ts';

export const settings = (more: Record<string, unknown>) => ({ generationConfig: { ...config, ...more } });
export const refusal = ({ status, body }: Answer) => [status, body.code, body.details?.reason];
export const pointers = ({ body }: Answer) => body.errors?.map(({ pointer }: { pointer: string }) => pointer);

/** A service without a worker, so that what is admitted stays queued, and for each test a workspace with a project. */
export function useAdmission() {
  const service = useTestService({ UNBILLED_LIMIT_WORDS: '500' });
  const calls = generating(service);
  const workspace = madeLater<TestWorkspace>('workspace');
  const project = madeLater<{ id: ProjectId }>('project');
  const editor = madeLater<Editing>('editor');
  /** Goes on in a workspace with so many credits. */
  const moveIn = async (credits: number) => {
    const made = await service.workspace(credits);
    workspace.set(made);
    project.set({ id: await service.project(made) });
    editor.set(editing(service, made));
    await listenToAll(service.db, made.id);
  };
  beforeEach(() => moveIn(10));
  const request = (body?: Record<string, unknown>) => calls.request(workspace.it, project.it.id, body);
  return {
    ...{ service, calls, workspace: workspace.it, project: project.it, editor: editor.it, moveIn, request },
    /** What the workspace has: a refused request leaves it as it was. */
    async everything() {
      const tables = ['articles', 'jobs', 'holds', 'generations', 'events', 'audit_entries'] as const;
      const counts = [];
      for (const table of tables) {
        const { count } = await service.db
          .selectFrom(table)
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .where('workspace_id', '=', workspace.it.id)
          .executeTakeFirstOrThrow();
        counts.push([table, count]);
      }
      const usage = await service.db
        .selectFrom('ai_operation_usage')
        .select('used')
        .where('workspace_id', '=', workspace.it.id)
        .executeTakeFirst();
      return { counts, used: usage?.used ?? 0, wallet: await calls.readWallet(workspace.it) };
    },
    /** An empty draft that a person has made. */
    emptyDraft: (body: Record<string, unknown> = {}) =>
      editor.it.create(project.it.id, { documentJson: documentOf(), ...body }),
    /** An article whose outline run has ended, as its workflow leaves it. */
    async outlined(more: Record<string, unknown> = {}) {
      const { article, job } = (await request(settings({ reviewOutline: true, ...more }))).body;
      const outline = {
        title: 'Sowing',
        slug: 'sowing',
        metaTitle: 'Sowing',
        metaDescription: 'When to sow.',
        sections: [
          { id: 'a', heading: 'Soil', level: 2, purpose: 'Warm soil.', keywords: [], estimatedWords: 600 },
        ],
      };
      const path = `/api/jobs/${job.id}/cancel`;
      expect((await service.call(workspace.it.key, 'POST', path)).status).toBe(202);
      await service.db
        .updateTable('articles')
        .set({ outline: JSON.stringify(outline) })
        .where('id', '=', article.id as ArticleId)
        .execute();
      return { article, ...(await calls.outline(workspace.it, article.id)) };
    },
  };
}
