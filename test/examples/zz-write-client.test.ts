import { writeFileSync } from 'node:fs';
import { test } from 'vitest';
import { generate, type OpenApi } from '../../examples/client/generate.ts';
import { useTestService } from '../support/service.ts';

const service = useTestService();
test('write', async () => {
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApi;
  writeFileSync(new URL('../../examples/client/api.ts', import.meta.url), generate(document));
});
