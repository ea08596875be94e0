import { expect, it } from 'vitest';
import { EVENT_TYPES } from '../../../src/events/catalog.ts';
import { eventSchema } from '../../../src/events/schemas.ts';
import { register } from '../../support/events.ts';
import { startReceiver } from '../../support/receiver.ts';
import { useTestService } from '../../support/service.ts';
import { verifyServiceSignature, verifyStandardSignature } from '../../support/verifiers.ts';

const service = useTestService();

// contract.md W72
it('sends an example of any event, signed like a delivery, of the shape that OpenAPI describes', async () => {
  const workspace = await service.workspace();
  const receiver = await startReceiver();
  const { id, secret } = await register(service, workspace, receiver.url);
  const test = (body?: object) =>
    service.call(workspace.key, 'POST', `/api/workspaces/${workspace.id}/webhooks/${id}/test`, body);
  for (const event of EVENT_TYPES) {
    expect((await test({ event })).body).toMatchObject({ delivered: true, responseStatus: 204 });
    const request = receiver.received.at(-1);
    if (request === undefined) throw new Error('nothing was received');
    expect(request.headers['x-service-event']).toBe(event);
    expect(eventSchema(event).parse(request.body)).toEqual(request.body);
    verifyServiceSignature(request, secret);
    verifyStandardSignature(request, secret);
  }
  expect((await test({})).status).toBe(200);
  expect(receiver.received.at(-1)?.body.event).toBe('ping');
  expect((await test({ event: 'article.moved' })).body.errors[0].pointer).toBe('/event');
  await receiver.close();

  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
    webhooks: Record<
      string,
      { post: { requestBody: { content: Record<string, { schema: object; example: object }> } } }
    >;
    components: { schemas: Record<string, { properties: { event: object; data: { required: string[] } } }> };
  };
  expect(Object.keys(document.webhooks)).toEqual([...EVENT_TYPES]);
  const published = document.webhooks['article.updated']?.post.requestBody.content['application/json'];
  expect(published?.schema).toEqual({ $ref: '#/components/schemas/ArticleUpdatedEvent' });
  const { ArticleUpdatedEvent } = document.components.schemas;
  expect(ArticleUpdatedEvent?.properties.event).toMatchObject({ const: 'article.updated' });
  expect(ArticleUpdatedEvent?.properties.data.required).toContain('changed');
  expect(ArticleUpdatedEvent?.properties.data.required).not.toContain('previousSlug');
});
