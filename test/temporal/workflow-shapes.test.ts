import { expectTypeOf, it } from 'vitest';
import type { StartedWorkflows } from '../../src/temporal/shapes.ts';
import type * as workflows from '../../workflows/index.ts';

it('what areas start by name is what the workflows are', () => {
  expectTypeOf<typeof workflows>().toExtend<StartedWorkflows>();
});
