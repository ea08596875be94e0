import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const ruleSchema = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({ summary: z.string(), runbook_url: z.string() }),
});
export type AlertRule = z.infer<typeof ruleSchema>;

export const ALERTS_FILE = new URL('../../../docs/alerts.yml', import.meta.url);

/** The rules of docs/alerts.yml. @throws at one without severity, summary or runbook */
export function readAlerts(): AlertRule[] {
  const file = z.object({ groups: z.array(z.object({ rules: z.array(ruleSchema) })) });
  return file.parse(parse(readFileSync(ALERTS_FILE, 'utf8'))).groups.flatMap(({ rules }) => rules);
}
