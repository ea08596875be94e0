/**
 * A tenant that sends one request again and again on all its connections, whatever the responses, in a process of its own.
 * Environment: ORIGIN, KEY, TARGET (a path), BODY (a file), CONTENT_TYPE,
 * CONNECTIONS. Sends each second how many responses had which
 * status.
 */
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';
import { setting } from '../../soak/support/report.ts';

const { ORIGIN = '', KEY = '', TARGET = '/', BODY = '', CONTENT_TYPE = '' } = process.env;
const CONNECTIONS = setting('CONNECTIONS', 200);
const body = readFileSync(BODY);
const pool = new Pool(ORIGIN, { connections: CONNECTIONS, pipelining: 1, headersTimeout: 60_000 });
let statuses: Record<string, number> = {};

async function send(): Promise<void> {
  for (;;) {
    let status: string;
    try {
      const response = await pool.request({
        path: TARGET,
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': CONTENT_TYPE },
        body,
      });
      await response.body.dump();
      status = String(response.statusCode);
    } catch {
      status = 'none';
    }
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
}

for (let connection = 0; connection < CONNECTIONS; connection += 1) void send();
process.on('message', () => {
  process.send?.(statuses);
  statuses = {};
});
process.send?.('sending');
