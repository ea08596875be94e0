/** Writes the dashboards of docs/dashboards: `npm run dashboards`. */
import { writeFileSync } from 'node:fs';
import { dashboards } from './dashboards.ts';

for (const { file, dashboard } of dashboards) {
  const target = new URL(`../../docs/dashboards/${file}`, import.meta.url);
  writeFileSync(target, `${JSON.stringify(dashboard, null, 2)}\n`);
}
