import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { generate, type OpenApi } from '../../examples/client/generate.ts';
import { useTestService } from '../support/service.ts';
const service = useTestService();
test('write', async () => {
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApi;
  writeFileSync('/work/wt/checks/examples/client/api.ts', generate(document));
  expect(1).toBe(1);
});
