import { setTimeout as sleep } from 'node:timers/promises';
import { createProject } from '../../src/projects/create.ts';
import { createArticle } from '../../test/support/articles.ts';
import type { ScriptService, ScriptWorkspace } from './service.ts';

/** A steady stream of events; what is in `stored` and `accepted` was acknowledged, and may not be lost any more. */
export interface Load {
  /** Articles whose article.created event was committed by the script itself. */
  readonly stored: Set<string>;
  /** Articles that the service created for accepted translations. */
  readonly accepted: Set<string>;
  /** Attempts to store or to call that failed, as they do while something is down. */
  readonly refused: { stored: number; accepted: number };
  /** Ends the stream. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  readonly service: ScriptService;
  readonly workspace: ScriptWorkspace;
  readonly serverUrl: string;
  /** Events of one transaction. */
  readonly storeAtOnce: number;
  /** Milliseconds between two transactions, and between two translations. */
  readonly storeEveryMs: number;
  /** Larger transactions beside these. */
  readonly crowds?: { readonly atOnce: number; readonly everyMs: number };
  readonly translateEveryMs: number;
}

/** Stores events directly, and through real translations over HTTP, without waiting for the ones before. */
export async function startLoad(options: LoadOptions): Promise<Load> {
  const { service, workspace, serverUrl } = options;
  const projectId = await createProject(workspace.context, {
    name: 'Load',
    languages: ['en', 'es'],
    primaryLanguage: 'en',
  });
  const stored = new Set<string>();
  const accepted = new Set<string>();
  const refused = { stored: 0, accepted: 0 };

  const { crowds } = options;
  const store = (atOnce: number) => async () => {
    const { articleIds } = await service.emit(workspace, atOnce);
    for (const id of articleIds) stored.add(id);
  };
  const translate = async () => {
    // Written as an editor's work would be: no event, and nothing to wait for.
    const source = await createArticle(service.db, workspace, projectId);
    const response = await fetch(new URL(`/api/articles/${source.id}/translations`, serverUrl), {
      method: 'POST',
      headers: { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ language: 'es' }),
      signal: AbortSignal.timeout(5_000),
    });
    if (response.status !== 202) throw new Error(`status ${response.status}`);
    const { article } = (await response.json()) as { article: { id: string } };
    accepted.add(article.id);
  };

  let stopped = false;
  const open = new Set<Promise<void>>();
  const every = async (ms: number, work: () => Promise<void>, kind: keyof typeof refused) => {
    while (!stopped) {
      const one = work().catch(() => {
        refused[kind] += 1;
      });
      open.add(one);
      one.finally(() => open.delete(one));
      await sleep(ms);
    }
  };
  const streams = [
    every(options.storeEveryMs, store(options.storeAtOnce), 'stored'),
    ...(crowds === undefined ? [] : [every(crowds.everyMs, store(crowds.atOnce), 'stored')]),
    every(options.translateEveryMs, translate, 'accepted'),
  ];
  return {
    stored,
    accepted,
    refused,
    async stop() {
      stopped = true;
      await Promise.all(streams);
      await Promise.all(open);
    },
  };
}
