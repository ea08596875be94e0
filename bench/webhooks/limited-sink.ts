/** A receiver in a process of its own that takes so many requests in each second of its clock, and refuses the others. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LimitedReport } from './receiving.ts';

const rate = Number(process.argv[2]);
const says = process.argv[3] === 'true';
const report: LimitedReport = { refused: 0, firstAt: 0, takenAt: [] };
let second = 0;
let inSecond = 0;

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    const now = Date.now();
    report.firstAt ||= now;
    if (Math.floor(now / 1_000) !== second) {
      second = Math.floor(now / 1_000);
      inSecond = 0;
    }
    if (inSecond >= rate) {
      report.refused += 1;
      response.writeHead(429, says ? { 'retry-after': '1' } : {}).end();
      return;
    }
    inSecond += 1;
    report.takenAt.push(now);
    response.writeHead(204).end();
  });
});

process.on('message', () => process.send?.(report));
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.([`http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`]);
