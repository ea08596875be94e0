import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createProject } from '../../src/projects/create.ts';
import { median, quantile, table } from './report.ts';
import type { ScriptWorkspace } from './service.ts';

const EVERY_MS = 100;
/** Bytes of the response of the article that is read and saved. */
export const ARTICLE_BYTES = 271_000;

/** No connection is kept: an idle one may be closed for a new one at any time. */
export const agent = new Agent({ keepAlive: false });

export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly ms: number;
}

/** Milliseconds of each request. */
export interface Sample {
  readonly reads: number[];
  readonly saves: number[];
}

/** A document whose article's response has about so many bytes. */
const documentOf = (bytes: number) => ({
  version: 1,
  blocks: Array.from({ length: Math.ceil(bytes / 3 / 1_000) }, (_, index) => ({
    id: `p${index}`,
    type: 'paragraph',
    text: 'Water the young plants in the morning. '.repeat(25),
  })),
});

/**
 * Requests of tenants to the server on a port of loopback.
 * @param problems what is off is added to it
 */
export function createTenants(port: number, problems: string[]) {
  function call(key: string, method: string, path: string, body?: string): Promise<Reply> {
    const began = performance.now();
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${key}`,
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      };
      const outgoing = request({ port, host: '127.0.0.1', method, path, agent, headers });
      outgoing.on('error', reject);
      outgoing.on('response', async (response: IncomingMessage) => {
        const chunks: Buffer[] = [];
        try {
          for await (const chunk of response) chunks.push(chunk as Buffer);
        } catch (error) {
          reject(error);
          return;
        }
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, text, ms: performance.now() - began });
      });
      outgoing.end(body);
    });
  }

  return {
    call,
    /** A new article whose response has about so many bytes. @returns its id */
    async article(workspace: ScriptWorkspace, bytes: number): Promise<string> {
      const projectId = await createProject(workspace.context, {
        name: 'Soak',
        languages: ['en'],
        primaryLanguage: 'en',
      });
      const body = JSON.stringify({ title: 'Soak', documentJson: documentOf(bytes) });
      const { status, text } = await call(workspace.key, 'POST', `/api/projects/${projectId}/articles`, body);
      if (status !== 201) throw new Error(`an article could not be made: ${status} ${text.slice(0, 200)}`);
      return JSON.parse(text).article.id;
    },
    /** Reads and saves the article of ARTICLE_BYTES in turn for some seconds. */
    async sample(key: string, id: string, forSeconds: number): Promise<Sample> {
      const taken: Sample = { reads: [], saves: [] };
      const path = `/api/articles/${id}`;
      const until = performance.now() + forSeconds * 1_000;
      for (let turn = 0; performance.now() < until; turn += 1) {
        const body = JSON.stringify({ title: `Saved ${turn}`, documentJson: documentOf(ARTICLE_BYTES) });
        try {
          const read = await call(key, 'GET', path);
          const saved = await call(key, 'PATCH', path, body);
          taken.reads.push(read.ms);
          taken.saves.push(saved.ms);
          if (read.status !== 200) problems.push(`a read was ${read.status}`);
          if (saved.status !== 200) problems.push(`a save was ${saved.status}`);
        } catch (error) {
          problems.push(
            `a connection of the tenant ended: ${error instanceof Error ? error.message : error}`,
          );
        }
        await sleep(EVERY_MS);
      }
      return taken;
    },
  };
}

/** The times of samples, each below its name, as a table. */
export function timesOf(samples: Readonly<Record<string, Sample>>): string {
  const row = (name: string, values: number[]) => [
    name,
    values.length,
    ...[0.5, 0.95, 0.99, 1].map((share) =>
      (share === 0.5 ? median(values) : quantile(values, share)).toFixed(0),
    ),
  ];
  return table([
    ['ms', 'requests', 'p50', 'p95', 'p99', 'longest'],
    ...Object.entries(samples).flatMap(([name, { reads, saves }]) => [
      row(`reads ${name}`, reads),
      row(`saves ${name}`, saves),
    ]),
  ]);
}
