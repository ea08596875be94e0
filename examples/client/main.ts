/**
 * From a key to a translated article with the typed client:
 *
 *   API=http://127.0.0.1:3000 KEY=wcsk_… node examples/client/main.ts
 *
 * The service has to allow webhooks to this machine: WEBHOOK_ALLOWED_NETWORKS=127.0.0.0/8 npm start
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type VerifiedWebhook, verifyWebhook } from '../../src/webhooks/verify.ts';
import type { Article, Job } from './api.ts';
import { ApiError, type Call, createClient, isEvent } from './client.ts';

/** Receives one delivery: resolves with its content once its signature is verified. */
async function receiveOne(
  secret: Promise<string>,
): Promise<{ url: string; received: Promise<VerifiedWebhook> }> {
  const { promise: received, resolve, reject } = Promise.withResolvers<VerifiedWebhook>();
  const server = createServer(async (request, response) => {
    try {
      const webhook = verifyWebhook(await buffer(request), request.headers, await secret);
      response.writeHead(204).end();
      resolve(webhook);
    } catch (error) {
      response.writeHead(400).end();
      reject(error);
    }
    server.close();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received };
}

/** Reads a job until it is final; its states and steps are in the reference. */
async function untilFinal(call: Call, jobId: string): Promise<Job> {
  for (;;) {
    const { job } = (await call('readJob', { params: { jobId } })).body;
    if (['COMPLETED', 'FAILED', 'CANCELLED'].includes(job.status)) return job;
    await sleep(200);
  }
}

/** Lists keys, prices a translation, makes it, waits for it, and verifies its webhook. */
export async function walk(call: Call, print: (line: string) => void): Promise<Article> {
  const { workspace } = (await call('whoami', {})).body;
  const workspaceId = workspace.id;

  const { apiKeys } = (await call('listApiKeys', { params: { workspaceId } })).body;
  for (const { label, prefix, lastUsedAt } of apiKeys) {
    print(`key ${prefix}… ${label}, last used ${lastUsedAt ?? 'never'}`);
  }

  const { project } = (
    await call('createProject', {
      params: { workspaceId },
      body: { name: 'Typed client', languages: ['en', 'es'], primaryLanguage: 'en' },
    })
  ).body;
  const { article: source } = (
    await call('createArticle', {
      params: { projectId: project.id },
      body: {
        title: 'A garden in spring',
        primaryLanguage: 'en',
        documentJson: {
          version: 1,
          blocks: [
            { id: 'first', type: 'heading', level: 2, text: 'Before the first warm day' },
            {
              id: 'second',
              type: 'paragraph',
              text: 'Water the **young** plants early.',
              format: 'markdown',
            },
          ],
        },
      },
    })
  ).body;

  const secret = Promise.withResolvers<string>();
  const { url, received } = await receiveOne(secret.promise);
  const registered = await call('registerWebhook', {
    params: { workspaceId },
    body: { url, events: ['article.created'] },
  });
  secret.resolve(registered.body.secret);

  const { estimate, sufficient } = (
    await call('estimateTranslation', { params: { articleId: source.id }, query: { language: 'es' } })
  ).body;
  print(
    `${estimate.words} words cost ${estimate.total} credit(s), ${sufficient ? 'covered' : 'not covered'}`,
  );

  const translate = () =>
    call('createTranslation', {
      params: { articleId: source.id },
      headers: { 'Idempotency-Key': idempotencyKey },
      body: { language: 'es' },
    });
  const idempotencyKey = randomUUID();
  const first = await translate();
  // The same key again is the same job, not a second translation: safe after a lost response.
  const second = await translate();
  print(`job ${first.body.job.id}; requested again: ${second.body.reused ? 'the same job' : 'another job'}`);

  const job = await untilFinal(call, first.body.job.id);
  if (job.status !== 'COMPLETED') throw new Error(`${job.errorCode}: ${job.errorMessage}`);
  const { article } = (await call('readArticle', { params: { articleId: job.articleId } })).body;
  print(`${article.status} in ${article.primaryLanguage}: ${article.title}`);

  const webhook = await received;
  if (!isEvent(webhook, 'article.created')) throw new Error(`received ${webhook.event}`);
  print(`verified webhook ${webhook.event} of article ${webhook.data.articleId}`);

  try {
    await call('createTranslation', { params: { articleId: source.id }, body: { language: 'es' } });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    print(`a second Spanish version is refused: ${error.problem.code}, see ${error.problem.type}`);
  }
  await call('deleteWebhook', { params: { workspaceId, endpointId: registered.body.endpoint.id } });
  return article;
}

if (import.meta.main) {
  const { API = 'http://127.0.0.1:3000', KEY = '' } = process.env;
  try {
    await walk(createClient({ baseUrl: API, apiKey: KEY }), console.log);
  } catch (error) {
    console.error(error instanceof ApiError ? error.message : error);
    process.exit(1);
  }
}
