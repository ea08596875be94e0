import { expect, test } from 'vitest';
import type { RouteDependencies } from '../../src/processes/routes.ts';
import { createRoutes } from '../../src/processes/routes.ts';

/** Routes say what they are without touching what they will work with. */
const definitions = createRoutes({ limits: { perKey: 0, perWorkspace: 0 } } as RouteDependencies).map(
  ({ definition }) => definition,
);

// contract.md A13
test('every operation has an id of its own, a summary, and an example of each success response that fits its schema', () => {
  expect(new Set(definitions.map(({ operationId }) => operationId)).size).toBe(definitions.length);
  for (const { operationId, summary, responses } of definitions) {
    expect(summary, operationId).toMatch(/^[A-Z].*[^.]$/);
    expect(Object.keys(responses).length, operationId).toBeGreaterThan(0);
    for (const [status, { schema, example, description }] of Object.entries(responses)) {
      const name = `${operationId} ${status}`;
      expect(description, name).toMatch(/\.$/);
      if (schema === undefined) continue;
      expect(example, name).toBeDefined();
      expect(schema.safeParse(example).error?.issues ?? [], name).toEqual([]);
    }
  }
});

test('every example of a body is one that its schema takes', async () => {
  for (const { operationId, body, bodyExample } of definitions) {
    if (body === undefined) continue;
    const { error } = await body.safeParseAsync(bodyExample);
    expect(error?.issues ?? [], operationId).toEqual([]);
  }
});
